/* SPDX-License-Identifier: MIT */
#include "report/stacks/calls.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/profile/view.h"

/* Mean time of one operation of a row; 0: none was timed. */
static double mean_ns(const struct ct_merged_row *row)
{
    struct ct_durations d = ct_view_durations(row, false);
    return d.estimated > 0 ? d.estimated_ns / d.estimated : 0;
}

/*
 * By row, a part of what its stacks count: those that a sample drew may stand for more than there
 * were, whose number is known. Freed by the caller.
 */
static double *parts(const struct ct_merged *m)
{
    size_t size = 0;
    double *part = ct_memory_grow(NULL, &size, m->row_keys.count + (size_t)1, sizeof(*part));
    for (uint32_t i = 0; i < m->stacks.keys.count; i++)
        part[m->stacks.stacks[i].row] += (double)m->stacks.stacks[i].count;
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        double calls = (double)ct_view_calls(&m->rows[i].sum);
        part[i] = part[i] > calls ? calls / part[i] : 1;
    }
    return part;
}

static struct ct_launched launched(const struct ct_merged *m, const struct ct_file_stack *s,
                                   double part)
{
    double each_ns = s->timed ? (double)s->total_ns / (double)s->timed : mean_ns(&m->rows[s->row]);
    double count = part * (double)s->count;
    return (struct ct_launched){.count = ct_view_whole_ns(count), .ns = each_ns * count};
}

/* Frames in their order, then each row's operations, which are in their frames. */
static void list_calls(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    const struct ct_merged_stacks *k = &m->stacks;
    size_t size = 0, frames = k->frame_keys.count, stacks = k->keys.count;
    double *part = parts(m);
    c->call = ct_memory_grow(NULL, &size, 1 + frames + stacks, sizeof(*c->call));
    c->call[c->count++] = (struct ct_call){.row = CT_CALL_FRAME};
    for (size_t i = 0; i < frames; i++)
        c->call[c->count++] = (struct ct_call){
            .parent = k->frames[i].parent, .line = k->frames[i].line, .row = CT_CALL_FRAME};
    for (size_t i = 0; i < stacks; i++) {
        const struct ct_file_stack *s = &k->stacks[i];
        if (!ct_view_is_of(m->rows[s->row].sum.device, device))
            continue;
        struct ct_call *frame = &c->call[s->frame + 1];
        struct ct_launched own = launched(m, s, part[s->row]);
        c->graphs += m->rows[s->row].sum.kind == CT_ROW_GRAPH ? s->count : 0;
        ct_launched_add(&frame->own, &own);
        c->call[c->count++] = (struct ct_call){
            .parent = s->frame + 1, .line = frame->line, .row = s->row, .own = own, .all = own};
    }
    free(part);
}

/* From the last to the first, so that what a frame called is complete before it. */
static void add_up(struct ct_calls *c)
{
    for (size_t i = c->count; i-- > 1;)
        ct_launched_add(&c->call[c->call[i].parent].all, &c->call[i].all);
}

static const struct ct_calls *sorted; /* qsort() knows of nothing else */

static int by_time(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct ct_call *x = &sorted->call[i], *y = &sorted->call[j];
    if (x->all.ns != y->all.ns)
        return x->all.ns > y->all.ns ? -1 : 1;
    if (x->all.count != y->all.count)
        return x->all.count > y->all.count ? -1 : 1;
    return i < j ? -1 : 1;
}

/* The shortest first, each before those that are there. */
static void link_children(struct ct_calls *c)
{
    size_t size = 0, n = 0;
    uint32_t *order = ct_memory_grow(NULL, &size, c->count, sizeof(*order));
    for (size_t i = 1; i < c->count; i++)
        if (c->call[i].all.count)
            order[n++] = (uint32_t)i;
    sorted = c;
    if (n)
        qsort(order, n, sizeof(*order), by_time);
    while (n) {
        struct ct_call *call = &c->call[order[--n]], *parent = &c->call[call->parent];
        call->next = parent->first;
        parent->first = order[n];
    }
    free(order);
}

void ct_calls_of(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    *c = (struct ct_calls){.call = NULL};
    list_calls(c, m, device);
    add_up(c);
    link_children(c);
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        const struct ct_file_row *row = &m->rows[i].sum;
        if (!ct_view_is_of(row->device, device))
            continue;
        c->with_rest_ns += mean_ns(&m->rows[i]) * (double)ct_view_calls(row);
        c->is_sampled |= row->lost[CT_LOSS_SAMPLED] || row->lost[CT_LOSS_PROGRAMMATIC];
    }
    if (c->with_rest_ns < c->call[CT_CALL_ROOT].all.ns)
        c->with_rest_ns = c->call[CT_CALL_ROOT].all.ns;
}

void ct_calls_free(struct ct_calls *c)
{
    free(c->call);
}

uint32_t ct_calls_next(const struct ct_calls *c, uint32_t at)
{
    if (c->call[at].first)
        return c->call[at].first;
    while (at && !c->call[at].next)
        at = c->call[at].parent;
    return at ? c->call[at].next : 0;
}

size_t ct_calls_stack(const struct ct_calls *c, const struct ct_call *call,
                      uint32_t lines[CT_FILE_STACK_DEPTH])
{
    size_t depth = 0;
    for (uint32_t i = call->parent; i && depth < CT_FILE_STACK_DEPTH; i = c->call[i].parent)
        lines[depth++] = c->call[i].line;
    return depth;
}

/* ---- in words ---- */

static void put_operation(struct ct_string *out, const struct ct_merged *m,
                          const struct ct_file_row *row, const struct ct_options *o)
{
    struct ct_string name = {0};
    ct_name_row(&name, m, row, !o->mangled);
    if (o->base && row->kind == CT_ROW_KERNEL)
        ct_name_base(&name);
    ct_string_add(out, name.data, name.len);
    ct_string_free(&name);
}

void ct_calls_name(struct ct_string *out, const struct ct_merged *m, const struct ct_call *call,
                   const struct ct_options *o)
{
    if (call->row != CT_CALL_FRAME)
        put_operation(out, m, &m->rows[call->row].sum, o);
    else
        ct_name_safe(out, ct_merge_name(m, m->stacks.lines[call->line].function));
}

void ct_calls_notes(struct ct_string *out, const struct ct_calls *c)
{
    if (c->count < 2) {
        ct_string_put(out, "No stacks are in the profile: cutrace --stacks python records them\n");
        return;
    }
    double rest_ns = c->with_rest_ns - c->call[CT_CALL_ROOT].all.ns;
    double rest = ct_calls_percent(rest_ns, c->with_rest_ns);
    if (rest >= 0.05)
        ct_string_printf(out, "%.1f%% of the GPU time was launched by no known line of Python%s\n",
                         rest, c->is_sampled ? ", or is what the sample missed" : "");
    if (c->graphs)
        ct_string_put(out, "A CUDA graph counts for the line that launched it\n");
}
