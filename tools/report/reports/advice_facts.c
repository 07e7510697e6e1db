/* SPDX-License-Identifier: MIT */
#include "report/reports/advice_facts.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/spread.h"

/* The unknown twentieth cannot make up the tenth of the time that advice is about. */
#define COVERAGE_LEAST 0.95

/* Shorter than that a run says nothing: a single pause of the host would be most of it. */
#define TIME_NS_LEAST 100000.0

/*
 * Gaps from 131 us on are no launch any more, but something that the host does: a launch takes it
 * some microseconds, a framework's some ten.
 */
#define ELSEWHERE_OCTAVE 17

/* Copies below 64 KiB cost more than they move: see advice.c. */
#define SMALL_OCTAVE 16

static void gather_activity(struct ct_advice_facts *f, const struct ct_merged *m)
{
    for (uint32_t i = 0; i < m->activity.device_keys.count; i++)
        ct_activity_sum(&f->sum, &m->activity.devices[i]);
    f->time_ns = (double)ct_activity_time_ns(&f->sum);
    f->is_known =
        f->time_ns >= TIME_NS_LEAST && ct_activity_coverage(m, CT_ACTIVITY_ALL) >= COVERAGE_LEAST;
}

static void add_idle(struct ct_advice_idle *to, const struct ct_file_gap *g, enum ct_idle reason)
{
    if (!g->idle_ns[reason])
        return;
    to->ns += (double)g->idle_ns[reason];
    to->count += (double)g->count;
}

static void gather_gaps(struct ct_advice_facts *f, const struct ct_merged *m)
{
    for (uint32_t i = 0; i < m->activity.gap_keys.count; i++) {
        const struct ct_file_gap *g = &m->activity.gaps[i];
        add_idle(g->octave < ELSEWHERE_OCTAVE ? &f->launching : &f->elsewhere, g, CT_IDLE_HOST);
        add_idle(&f->after_wait, g, CT_IDLE_SYNC);
    }
}

static void add_copies(struct ct_advice_copies *to, const struct ct_file_transfer *t)
{
    to->count += (double)t->timed;
    to->bytes += (double)t->bytes;
    to->ns += (double)t->total_ns;
}

static bool is_between(const struct ct_file_transfer *t, uint32_t memory)
{
    return t->from == memory || t->to == memory;
}

/* Copies that run beside each other take the device no longer than the longest of them. */
static void scale(struct ct_advice_copies *c, double factor)
{
    c->busy_ns = c->ns * factor;
}

static void scale_copies(struct ct_advice_facts *f)
{
    double all_ns = f->all.ns, copy_ns = (double)f->sum.copy_ns;
    double factor = all_ns > copy_ns ? copy_ns / all_ns : 1;
    scale(&f->pageable, factor);
    scale(&f->pinned, factor);
    scale(&f->small, factor);
}

static void gather_copies(struct ct_advice_facts *f, const struct ct_merged *m)
{
    for (uint32_t i = 0; i < m->activity.transfer_keys.count; i++) {
        const struct ct_file_transfer *t = &m->activity.transfers[i];
        uint32_t direction = m->rows[t->row].sum.detail;
        add_copies(&f->all, t);
        if (is_between(t, CT_MEMORY_PAGEABLE))
            add_copies(&f->pageable, t);
        else if (is_between(t, CT_MEMORY_PINNED))
            add_copies(&f->pinned, t);
        if (t->octave < SMALL_OCTAVE)
            add_copies(&f->small, t);
        if (direction == CT_HTOD || direction == CT_HTOA)
            add_copies(&f->to_device, t);
    }
    scale_copies(f);
}

static bool has_any(const char *name, const char *const parts[])
{
    for (size_t i = 0; parts[i]; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static void add_calls(struct ct_advice_calls *to, const struct ct_file_api *api, const char *name)
{
    double ns = (double)api->total_ns;
    to->calls += (double)api->calls;
    to->ns += ns;
    if (to->name && to->name_ns >= ns)
        return;
    to->name = name;
    to->name_calls = (double)api->calls;
    to->name_ns = ns;
}

/* Functions are told by parts of their names, which are alike in driver and runtime. */
static void gather_calls(struct ct_advice_facts *f, const struct ct_merged *m)
{
    static const char *const launches[] = {"LaunchKernel", "LaunchCooperativeKernel", NULL};
    static const char *const waits[] = {"Synchronize", "Memcpy", NULL};
    static const char *const asynchronous[] = {"Async", "Batch", NULL};
    static const char *const pins[] = {"HostAlloc", "MallocHost", "AllocHost", "HostRegister",
                                       NULL};
    static const char *const maps[] = {"HostGetDevicePointer", NULL};
    struct ct_advice_calls launching = {0}, mapping = {0};
    for (uint32_t i = 0; i < m->api_keys.count; i++) {
        const struct ct_file_api *api = &m->apis[i].sum;
        const char *name = ct_merge_name(m, api->name);
        bool is_async = has_any(name, asynchronous);
        if (has_any(name, launches))
            add_calls(&launching, api, name);
        if (has_any(name, waits) && !is_async &&
            !strstr(name, "Graph")) /* a node's copy is later */
            add_calls(&f->waiting, api, name);
        if (has_any(name, pins))
            add_calls(&f->pinning, api, name);
        if (has_any(name, maps))
            add_calls(&mapping, api, name);
        f->has_async_copies |= is_async && strstr(name, "Memcpy") && api->calls;
    }
    f->launch_ns = launching.calls > 0 ? launching.ns / launching.calls : 0;
    f->mapped_calls = mapping.calls;
}

static void gather_kernels(struct ct_advice_facts *f, const struct ct_merged *m)
{
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        const struct ct_file_row *row = &m->rows[i].sum;
        double timed = (double)row->timed, ns = (double)row->total_ns;
        if (row->kind != CT_ROW_KERNEL)
            continue;
        f->launches += timed;
        if (ns >= f->launch_ns * timed)
            continue;
        f->small_launches += timed;
        f->small_ns += ns;
    }
}

static bool is_one_command(const struct ct_merged *m)
{
    for (size_t i = 1; i < m->process_count; i++)
        if (m->processes[i].command != m->processes[0].command)
            return false;
    return true;
}

/* Ranks of one run do the same; those that do not touch the GPU are no part of it. */
static void gather_ranks(struct ct_advice_facts *f, const struct ct_merged *m)
{
    struct ct_advice_ranks *r = &f->ranks;
    size_t count;
    if (!is_one_command(m))
        return;
    struct ct_rank_total *ranks = ct_spread_ranks(m, &count);
    for (size_t i = 0; i < count; i++) {
        const struct ct_file_process *p = &m->processes[ranks[i].process];
        double ns = (double)ranks[i].total.gpu_ns;
        if (ns <= 0)
            continue;
        r->count++;
        r->mean_ns += (ns - r->mean_ns) / r->count;
        if (ns <= r->most_ns)
            continue;
        r->most_ns = ns;
        r->has_rank = p->rank;
        r->most = p->rank ? p->rank - 1 : p->pid;
    }
    free(ranks);
}

void ct_advice_gather(struct ct_advice_facts *f, const struct ct_merged *m)
{
    *f = (struct ct_advice_facts){0};
    gather_activity(f, m);
    gather_gaps(f, m);
    gather_copies(f, m);
    gather_calls(f, m);
    gather_kernels(f, m);
    gather_ranks(f, m);
}
