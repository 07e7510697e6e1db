/* SPDX-License-Identifier: MIT */
#include "drain/range_sums.h"

#include "counts/range.h"
#include "counts/range_tree.h"
#include "drain/tracing.h"
#include "state/thread.h"
#include "system/clock.h"
#include "system/mem.h"

static CT_PROCESS struct {
    uint32_t count;
    uint32_t index[2 * CT_RANGE_CELLS]; /* index of a cell plus one; 0: free */
    struct ct_range_cell cell[CT_RANGE_CELLS];
} * cells;
static CT_PROCESS uint32_t hists;

static void add_sample(struct ct_range_sums *s, uint64_t ns)
{
    s->sampled++;
    s->square_ns2 += (double)ns * (double)ns;
    if (!s->buckets && hists == CT_RANGE_HISTS)
        return;
    hists += !s->buckets;
    ct_buckets_add(&s->buckets, ns, 1);
}

static void trace(struct ct_thread *t, const struct ct_range_record *e, bool is_mark)
{
    enum ct_trace_phase phase = is_mark        ? CT_TRACE_RANGE_MARKS
                                : e->end_ticks ? CT_TRACE_RANGE_ENDS
                                               : CT_TRACE_RANGE_BEGINS;
    ct_tracing_add_range(t, e->node, phase, e->number,
                         e->end_ticks ? e->end_ticks : e->start_ticks);
}

static void trace_dropped(struct ct_ranges *r)
{
    uint64_t dropped = atomic_load_explicit(&r->dropped, memory_order_relaxed);
    if (ct_tracing_is_on() && dropped != r->dropped_taken)
        ct_tracing_drop_ranges(dropped - r->dropped_taken);
    r->dropped_taken = dropped;
}

bool ct_ranges_collect(struct ct_thread *t)
{
    struct ct_ranges *r = atomic_load_explicit(&t->ranges, memory_order_acquire);
    uint32_t first, n = r ? ct_ring_waiting(&r->ring, CT_RANGE_RECORDS, &first) : 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_range_record *e = &r->records[(first + i) % CT_RANGE_RECORDS];
        bool is_mark = r->node[e->node].style == CT_RANGE_MARK;
        if (!is_mark && e->end_ticks)
            add_sample(&r->sums[e->node],
                       ct_ticks_to_ns(ct_ticks_between(e->start_ticks, e->end_ticks)));
        if (ct_tracing_is_on())
            trace(t, e, is_mark);
    }
    if (n)
        ct_ring_consume(&r->ring, n);
    if (r)
        trace_dropped(r);
    return n != 0;
}

static struct ct_range_cell *add_cell(uint32_t *slot, uint32_t range, uint32_t row)
{
    struct ct_thread *t = ct_threads_first();
    while (t && t->number != ct_range_thread_of(range))
        t = t->next;
    if (!t || cells->count == CT_RANGE_CELLS)
        return NULL;
    struct ct_range_cell *c = &cells->cell[cells->count];
    c->ranges = atomic_load_explicit(&t->ranges, memory_order_acquire);
    c->range = range;
    c->row = row;
    *slot = ++cells->count;
    return c;
}

static struct ct_range_cell *cell_of(uint32_t range, uint32_t row)
{
    uint64_t key = (uint64_t)range << 32 | row, home = key * 0x9e3779b97f4a7c15u >> 32;
    if (!cells && !(cells = ct_map(sizeof(*cells))))
        return NULL;
    for (uint64_t i = home;; i++) {
        uint32_t *slot = &cells->index[i % ct_countof(cells->index)];
        if (!*slot)
            return add_cell(slot, range, row);
        struct ct_range_cell *c = &cells->cell[*slot - 1];
        if (c->range == range && c->row == row)
            return c;
    }
}

CT_COLD void ct_range_add(uint32_t range, uint32_t row, uint64_t count, uint64_t time_ns)
{
    struct ct_range_cell *c = cell_of(range, row);
    if (!c) {
        ct_range_lose(CT_RANGE_LOST_CELLS, count);
        return;
    }
    c->min_ns = c->count ? ct_min(c->min_ns, time_ns) : time_ns;
    c->max_ns = ct_max(c->max_ns, time_ns);
    c->count += count;
    c->total_ns += time_ns * count;
    c->square_ns2 += (double)time_ns * (double)time_ns * (double)count;
}

uint32_t ct_range_cells(void)
{
    return cells ? cells->count : 0;
}

const struct ct_range_cell *ct_range_cell(uint32_t i)
{
    return &cells->cell[i];
}
