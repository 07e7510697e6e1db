/* SPDX-License-Identifier: MIT */
#include "drain/settle.h"

#include "base/sort.h"
#include "counts/range.h"
#include "counts/row.h"
#include "drain/activity.h"
#include "drain/journal.h"
#include "drain/range_sums.h"
#include "drain/row_sums.h"
#include "drain/tracing.h"
#include "drain/witness_error.h"
#include "launch/witness.h"
#include "stacks/stacks.h"
#include "state/context.h"
#include "state/stream.h"
#include "system/clock.h"
#include "system/mem.h"
#include "time/full_device.h"
#include "time/lead.h"
#include "work/collective.h"

#define ROOM CT_FULL_DEVICE_ROOM

/* By then a bracket of another stream has ended and been read, but for one of a long kernel. */
#define BESIDE_NS 250000

static CT_PROCESS struct ct_measured *measured;
static CT_PROCESS struct ct_measured
    *waiting;                      /* brackets set aside, while the others are moved together */
static CT_PROCESS uint16_t *order; /* of `measured`, by stop stamp */
static CT_PROCESS unsigned count;
static uint64_t begun_ticks; /* when the round began in which all streams are asked */

bool ct_settle_init(void)
{
    measured = ct_map(sizeof(*measured) * ROOM);
    waiting = ct_map(sizeof(*waiting) * ROOM);
    order = ct_map(sizeof(*order) * ROOM);
    return measured && waiting && order && ct_full_device_init();
}

struct ct_measured *ct_settle_next(void)
{
    if (count == ROOM)
        ct_settle(true);
    return &measured[count];
}

void ct_settle_keep(void)
{
    struct ct_measured *m = &measured[count++];
    m->read_ticks = ct_ticks();
    ct_lead_guess(&ct_context(m->op.context)->clock, m);
}

static bool is_later(unsigned a, unsigned b)
{
    return measured[order[a]].stop_ns > measured[order[b]].stop_ns;
}

static void swap(unsigned a, unsigned b)
{
    uint16_t was = order[a];
    order[a] = order[b];
    order[b] = was;
}

/* Brackets of one stream come in order: then there is nothing to do. */
static bool is_sorted(unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if (is_later(i - 1, i))
            return false;
    return true;
}

static void sort(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        order[i] = (uint16_t)i;
    if (!is_sorted(n))
        ct_sort(n, is_later, swap);
}

static struct ct_witness *witness_of(const struct ct_measured *m)
{
    return ct_witness_of(ct_context(m->op.context));
}

static bool is_witness(const struct ct_measured *m)
{
    return ct_unlikely(m->op.row == CT_ROW_WITNESS);
}

static void write_down(const struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    const struct ct_estimate *e = &m->estimate;
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
        .long_queue = m->times.long_queue,
        .time_ns = e->time_ns,
        .doubt_ns = e->doubt_ns,
        .block_registers = m->times.block_registers,
        .parameter_bytes = m->times.parameter_bytes,
        .witness_ns = is_witness(m) ? ct_witness_inside_ns(witness_of(m)) : m->times.witness_ns,
    });
}

static struct ct_gpu_clock *clock_of(const struct ct_measured *m)
{
    return &ct_context(m->op.context)->clock;
}

static struct ct_prior *prior_of(const struct ct_measured *m)
{
    return &ct_row(m->op.row)->prior;
}

/* Clean brackets help with all of the round, also with those ahead of them. */
static void estimate(struct ct_measured *m)
{
    struct ct_gpu_clock *clock = clock_of(m);
    ct_lead_find(clock, m);
    m->times.witness_ns =
        is_witness(m) ? 0 : ct_witness_excess_ns(witness_of(m), clock->host_record_ns);
    m->estimate = ct_estimate(ct_device(m->device)->calibration, &m->times);
    if (m->estimate.is_clean)
        ct_estimate_settle(&m->estimate, prior_of(m));
}

/* An operation counts for all it stands for: those were in ranges as often as the drawn ones. */
static CT_COLD void add_to_range(const struct ct_op *op, uint64_t time_ns)
{
    uint64_t operations = op->operations * ct_op_stands_for(op);
    ct_range_add(op->range, op->row, operations, time_ns / op->operations);
}

void ct_settle_as(struct ct_measured *m, uint64_t time_ns, uint64_t doubt_ns)
{
    struct ct_row *r = ct_row(m->op.row);
    ct_row_add(r, &m->op, m->is_placed ? m->bracket_ns : m->times.raw_ns, time_ns, doubt_ns);
    ct_activity_add(m, r->kind, time_ns);
    if (ct_unlikely(m->op.range))
        add_to_range(&m->op, time_ns);
    if (ct_unlikely(m->op.stack))
        ct_stack_timed(&m->op, time_ns);
    if (ct_unlikely(m->op.batch))
        ct_collective_timed(m->op.batch, time_ns);
    if (ct_unlikely(ct_tracing_is_on()))
        ct_tracing_add(m, time_ns);
}

static void settle_one(struct ct_measured *m)
{
    struct ct_estimate *e = &m->estimate;
    if (is_witness(m)) {
        ct_witness_add(witness_of(m), m, e);
    } else {
        ct_witness_see(witness_of(m), m, e);
        if (!e->is_clean)
            ct_estimate_settle(e, prior_of(m));
        if (e->is_bound)
            m->op.flags |= m->is_placed ? CT_OP_OVERLAPPED : CT_OP_BOUND;
        ct_settle_as(m, e->time_ns, e->doubt_ns);
    }
    if (ct_unlikely(ct_journal_is_open()))
        write_down(m);
}

void ct_settle_begin(void)
{
    begun_ticks = ct_ticks();
}

/*
 * A bracket that was read before the round began had ended by then: so had all of its context with
 * earlier stamps, and the round has read them. Finds the latest such stop of each context.
 */
static void find_known(uint64_t known_ns[CT_CONTEXTS])
{
    uint64_t before = begun_ticks - ct_ns_to_ticks(BESIDE_NS);
    for (unsigned i = 0; i < count && measured[i].read_ticks < before; i++) {
        uint64_t *ns = &known_ns[measured[i].op.context];
        *ns = ct_max(*ns, measured[i].stop_ns);
    }
}

/*
 * Moves brackets beside which none can be missing to the front, and returns their number. By the
 * time of reading alone this would not do: a round that reads a thousand takes longer than others
 * wait, and the first of them would be settled without the last, and the other way round.
 */
static unsigned part(void)
{
    uint64_t known_ns[CT_CONTEXTS] = {0};
    unsigned n = 0, kept = 0;
    find_known(known_ns);
    for (unsigned i = 0; i < count; i++)
        if (measured[i].stop_ns > known_ns[measured[i].op.context])
            waiting[kept++] = measured[i];
        else
            measured[n++] = measured[i];
    __builtin_memcpy(measured + n, waiting, kept * sizeof(*waiting));
    return n;
}

unsigned ct_settle(bool all)
{
    unsigned n = all || !ct_full_device_is_open(measured, count) ? count : part();
    sort(n);
    ct_full_device_find(measured, count, n);
    for (unsigned i = 0; i < n; i++)
        estimate(&measured[order[i]]);
    for (unsigned i = 0; i < n; i++)
        settle_one(&measured[order[i]]);
    count -= n;
    __builtin_memmove(measured, measured + n, count * sizeof(*measured));
    return n;
}
