/* SPDX-License-Identifier: MIT */
#include "report/watch/arrivals.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/host_memory.h"
#include "report/reports/nccl_report.h"

static bool is_in(const struct ct_arrival *x, const struct ct_arrival *y)
{
    return x->communicator == y->communicator && x->ranks == y->ranks;
}

static uint64_t waits_in(const struct ct_summary *s, const struct ct_file_stuck *of)
{
    for (size_t i = 0; i < s->stuck_count; i++) {
        const struct ct_file_stuck *f = &s->stuck[i];
        bool is_now = !(f->flags & CT_STUCK_PAST);
        if (f->kind == CT_STUCK_OPERATION && is_now && f->collective &&
            f->communicator == of->communicator && f->ranks == of->ranks)
            return f->sequence;
    }
    return 0;
}

void ct_arrivals_add(struct ct_arrivals *a, const struct ct_summary *s)
{
    for (size_t i = 0; i < s->stuck_count; i++) {
        const struct ct_file_stuck *f = &s->stuck[i];
        if (f->kind != CT_STUCK_COMMUNICATOR || !f->communicator || !f->ranks)
            continue;
        a->all = ct_memory_grow(a->all, &a->size, a->count + 1, sizeof(*a->all));
        a->all[a->count++] = (struct ct_arrival){
            .communicator = f->communicator,
            .ranks = f->ranks,
            .rank = f->rank,
            .process_rank = s->process->rank,
            .pid = s->process->pid,
            .collective = f->collective,
            .called = f->sequence,
            .waits_in = waits_in(s, f),
        };
    }
}

static bool is_first(const struct ct_arrivals *a, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_in(&a->all[k], &a->all[i]))
            return false;
    return true;
}

static bool is_ambiguous(const struct ct_arrivals *a, const struct ct_arrival *of)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < i; k++)
            if (is_in(&a->all[i], of) && is_in(&a->all[k], of) && a->all[i].rank == a->all[k].rank)
                return true;
    return false;
}

static void put_rank(struct ct_string *out, const struct ct_arrival *r)
{
    if (r->rank)
        ct_string_printf(out, "rank %u", r->rank - 1);
    else
        ct_string_put(out, "a rank");
    ct_string_printf(out, " (pid %u) is at number %" PRIu64, r->pid, r->called);
}

/* The operation that somebody waits in and not all have called; NULL: there is none. */
static const struct ct_arrival *waiting(const struct ct_arrivals *a, const struct ct_arrival *of)
{
    const struct ct_arrival *found = NULL;
    for (size_t i = 0; i < a->count; i++)
        if (is_in(&a->all[i], of) && a->all[i].waits_in &&
            (!found || a->all[i].waits_in > found->waits_in))
            found = &a->all[i];
    return found;
}

static void note(const struct ct_arrivals *a, const struct ct_arrival *of, struct ct_sink *sink)
{
    const struct ct_arrival *w = waiting(a, of);
    struct ct_string text = {0};
    uint32_t known = 0, late = 0;
    if (!w || is_ambiguous(a, of))
        return;
    ct_string_printf(&text, "NCCL %s, number %" PRIu64 " of communicator %u of %u ranks: ",
                     w->collective ? ct_nccl_operation(w->collective - 1) : "", w->waits_in,
                     of->communicator, of->ranks);
    for (size_t i = 0; i < a->count; i++) {
        const struct ct_arrival *r = &a->all[i];
        if (!is_in(r, of))
            continue;
        known++;
        if (r->called >= w->waits_in)
            continue;
        ct_string_put(&text, late++ ? "; " : "has not come: ");
        put_rank(&text, r);
    }
    if (known < of->ranks)
        ct_string_printf(&text, "%s%u of %u ranks were not asked, or have not used it yet",
                         late ? "; " : "", of->ranks - known, of->ranks);
    if (late || known < of->ranks)
        ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

void ct_arrivals_note(const struct ct_arrivals *a, struct ct_sink *sink)
{
    for (size_t i = 0; i < a->count; i++)
        if (is_first(a, i))
            note(a, &a->all[i], sink);
}

void ct_arrivals_free(struct ct_arrivals *a)
{
    free(a->all);
    *a = (struct ct_arrivals){0};
}
