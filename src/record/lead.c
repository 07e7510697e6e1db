/* SPDX-License-Identifier: MIT */
#include "record/lead.h"

#include "base/clock.h"

/* A start record that shows where the clocks are: on an idle stream, and not interrupted. */
#define PIN_GAP_NS 5000
#define PIN_RECORD_NS 4000
#define PIN_EARLY_NS 1000
#define PIN_FLAGS (CT_OP_SHARED_START | CT_OP_TOLD_START | CT_OP_MARKS)

/* Where what is queued has no brackets: so long ahead, the host will have queued as much behind. */
#define LONG_LEAD_NS (-60000)

/* After so long without a pin the clocks may be a microsecond apart: an answer is better. */
#define STALE_NS 50000000

struct ct_bracket_times ct_lead_host_times(const struct ct_op *op)
{
    return (struct ct_bracket_times){
        .shared_start = op->flags & CT_OP_SHARED_START,
        .gap_ns = CT_GAP_UNKNOWN,
        .record_ns = ct_ticks_to_ns(ct_ticks_between(op->open_ticks, op->call_ticks)),
        .launch_ns = ct_ticks_to_ns(ct_ticks_between(op->call_ticks, op->done_ticks)),
        .stop_record_ns = ct_ticks_to_ns(ct_ticks_between(op->done_ticks, op->closed_ticks)),
        .lead_ns = CT_LEAD_UNKNOWN,
        .slack_ns = CT_LEAD_UNKNOWN,
    };
}

unsigned ct_lead_entries(const struct ct_op *op)
{
    return op->flags & (CT_OP_SHARED_START | CT_OP_TOLD_START) ? 2 : 3;
}

/* Whether so much was behind a bracket when it was stamped. */
static bool is_queue_long(const struct ct_gpu_clock *clock, const struct ct_measured *m,
                          const struct ct_op *long_from)
{
    uint64_t submitted_ns;
    if (m->op.flags & CT_OP_AFTER_BREAK)
        return m->times.lead_ns < LONG_LEAD_NS;
    return long_from && ct_gpu_clock_at(clock, long_from->closed_ticks, &submitted_ns) &&
           submitted_ns <= m->stop_ns;
}

static bool is_stale(const struct ct_gpu_clock *clock, uint64_t ticks)
{
    const struct ct_pin *newest = &clock->pins[(clock->pinned - 1) % CT_CLOCK_PINS];
    return !clock->pinned || ticks > newest->ticks + ct_ns_to_ticks(STALE_NS);
}

static void compare_clocks(const struct ct_gpu_clock *clock, struct ct_measured *m,
                           const struct ct_op *long_from)
{
    const struct ct_op *op = &m->op;
    uint64_t submitted_ns, closed_ns;
    bool was_asked = op->flags & CT_OP_AFTER_BREAK;
    if ((was_asked && is_stale(clock, op->done_ticks)) ||
        !ct_gpu_clock_at(clock, op->done_ticks, &submitted_ns) ||
        !ct_gpu_clock_at(clock, ct_told_ticks(op->done_ticks, op->closed_ticks), &closed_ns))
        return;
    m->times.lead_ns = (int64_t)(submitted_ns - m->start_ns);
    m->times.slack_ns = (int64_t)(m->stop_ns - closed_ns);
    m->times.long_queue = is_queue_long(clock, m, long_from);
}

/* Whether the stream was idle when the start record was made, as far as can be seen from here. */
static bool is_pin(const struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    uint64_t at_ns;
    if (op->flags & PIN_FLAGS || m->times.record_ns > PIN_RECORD_NS)
        return false;
    if (m->times.gap_ns > PIN_GAP_NS) /* or unknown */
        return true;
    /* Nothing is stamped before it was asked for: then it is the clock that is wrong. */
    return ct_gpu_clock_at(clock, ct_told_ticks(op->open_ticks, op->call_ticks), &at_ns) &&
           m->start_ns + PIN_EARLY_NS < at_ns;
}

bool ct_lead_find(struct ct_gpu_clock *clock, struct ct_measured *m, const struct ct_op *long_from)
{
    const struct ct_op *op = &m->op;
    /* Behind something without a bracket the gap says nothing, but the stream was asked. */
    if (op->flags & CT_OP_AFTER_BREAK)
        m->times.gap_ns = op->flags & CT_OP_FOUND_IDLE ? CT_GAP_UNKNOWN : 0;
    compare_clocks(clock, m, long_from);
    if (!is_pin(clock, m))
        return false;
    ct_gpu_clock_pin(clock, ct_told_ticks(op->open_ticks, op->call_ticks), m->start_ns);
    return true;
}
