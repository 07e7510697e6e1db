/* SPDX-License-Identifier: MIT */
#include "record/settle.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/context.h"
#include "record/journal.h"
#include "record/row.h"
#include "record/stream.h"

#define ROOM 4096
#define RUNNING 64

static struct ct_measured *measured;
static uint16_t *order; /* by stop stamp */
static unsigned count;

struct span {
    uint32_t stream;
    uint32_t context;
    uint64_t start_ns;
};
static struct span running[RUNNING];
static unsigned running_count;

bool ct_settle_init(void)
{
    measured = ct_map(sizeof(*measured) * ROOM);
    order = ct_map(sizeof(*order) * ROOM);
    return measured && order;
}

void ct_settle_forget(void)
{
    measured = NULL;
    order = NULL;
    count = running_count = 0;
}

struct ct_measured *ct_settle_next(void)
{
    if (count == ROOM)
        ct_settle();
    return &measured[count++];
}

void ct_settle_cancel(void)
{
    count--;
}

static bool is_later(uint16_t a, uint16_t b)
{
    return measured[a].stop_ns > measured[b].stop_ns;
}

static void sift_down(unsigned root, unsigned n)
{
    for (unsigned child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && is_later(order[child + 1], order[child]))
            child++;
        if (!is_later(order[child], order[root]))
            return;
        uint16_t down = order[root];
        order[root] = order[child];
        order[child] = down;
    }
}

/* Brackets of one stream come in order: then there is nothing to do. */
static bool is_sorted(void)
{
    for (unsigned i = 1; i < count; i++)
        if (is_later(order[i - 1], order[i]))
            return false;
    return true;
}

static void sort(void)
{
    for (unsigned i = 0; i < count; i++)
        order[i] = (uint16_t)i;
    if (is_sorted())
        return;
    for (unsigned i = count / 2; i--;)
        sift_down(i, count);
    for (unsigned n = count; n-- > 1;) {
        uint16_t last = order[0];
        order[0] = order[n];
        order[n] = last;
        sift_down(0, n);
    }
}

void ct_settle_running(uint32_t stream, uint32_t context, uint64_t start_ns)
{
    if (running_count < RUNNING)
        running[running_count++] = (struct span){stream, context, start_ns};
}

/*
 * Other streams of the context that were in a bracket when this one stopped. The latest to stop is
 * asked first: of each stream `running` has the next bracket, the only one that can span the stop.
 * What began after it has nothing to do with those that stopped before, either.
 */
static uint32_t beside(const struct ct_measured *m)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < running_count;) {
        const struct span *r = &running[i];
        bool is_over = r->stream == m->op.stream || r->start_ns >= m->stop_ns;
        if (r->context == m->op.context && is_over) {
            running[i] = running[--running_count];
            continue;
        }
        n += r->context == m->op.context;
        i++;
    }
    ct_settle_running(m->op.stream, m->op.context, m->start_ns);
    return n;
}

static void write_down(const struct ct_measured *m, const struct ct_estimate *e)
{
    const struct ct_op *op = &m->op;
    ct_journal_add(&(struct ct_journal_entry){
        .row = op->row,
        .stream = op->stream,
        .context = op->context,
        .flags = op->flags,
        .sequence = op->sequence,
        .start_ns = m->start_ns,
        .raw_ns = m->times.raw_ns,
        .gap_ns = m->times.gap_ns,
        .open_ticks = op->open_ticks,
        .call_ticks = op->call_ticks,
        .done_ticks = op->done_ticks,
        .closed_ticks = op->closed_ticks,
        .ns_per_tick = (double)ct_ticks_to_ns((uint64_t)1 << 32) * 0x1p-32,
        .lead_ns = m->times.lead_ns,
        .beside = m->times.beside,
        .long_queue = m->times.long_queue,
        .time_ns = e->time_ns,
        .doubt_ns = e->doubt_ns,
    });
}

static void settle_one(struct ct_measured *m)
{
    struct ct_row *r = ct_row(m->op.row);
    struct ct_estimate e = ct_estimate(ct_device(m->device)->calibration, &m->times);
    ct_estimate_settle(&e, &r->prior);
    if (!e.is_clean)
        m->op.flags |= CT_OP_BOUND;
    ct_row_add(r, &m->op, m->times.raw_ns, e.time_ns, e.doubt_ns);
    if (ct_unlikely(ct_journal_is_open()))
        write_down(m, &e);
}

void ct_settle(void)
{
    sort();
    for (unsigned i = count; i--;)
        measured[order[i]].times.beside = beside(&measured[order[i]]);
    for (unsigned i = 0; i < count; i++)
        settle_one(&measured[order[i]]);
    count = running_count = 0;
}
