/* SPDX-License-Identifier: MIT */
#include "time/lead.h"

#include "system/clock.h"

/* Flags of brackets that show nothing of the clocks. */
#define PIN_FLAGS (CT_OP_SHARED_START | CT_OP_TOLD_START | CT_OP_MARKS)

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

static uint64_t held_up_ns(uint64_t ns, uint64_t usual_ns)
{
    return ns > usual_ns ? ct_min(ns - usual_ns, CT_HELD_UP_MOST_NS) : 0;
}

uint64_t ct_lead_told_ns(uint64_t host_record_ns, const struct ct_bracket_times *t)
{
    return ct_after_told(host_record_ns) +
           held_up_ns(t->record_ns, host_record_ns) / CT_RECORD_PART +
           held_up_ns(t->launch_ns, CT_CALL_RECORDS * host_record_ns) / CT_CALL_PART;
}

unsigned ct_lead_entries(const struct ct_op *op)
{
    return ct_op_has_start_record(op) ? 3 : 2;
}

uint64_t ct_lead_long_ticks(const struct ct_pending *behind)
{
    unsigned entries = 0;
    for (const struct ct_pending *p = behind; p; p = p->next) {
        entries += ct_lead_entries(&p->op);
        if (entries >= CT_LONG_QUEUE)
            return p->op.closed_ticks;
    }
    return 0;
}

/* Whether so much was behind a bracket when it was stamped. */
static bool is_queue_long(const struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    uint64_t submitted_ns;
    bool unseen = m->op.flags & CT_OP_AFTER_BREAK || m->op.cell != CT_CELL_NONE;
    if (unseen && m->times.lead_ns < CT_LONG_LEAD_NS)
        return true;
    return m->long_ticks && ct_gpu_clock_at(clock, m->long_ticks, &submitted_ns) &&
           submitted_ns <= m->stop_ns;
}

/* Then the stream's own answer, idle or not, is a better one. */
static bool is_stale(const struct ct_gpu_clock *clock, uint64_t ticks)
{
    return !clock->pinned ||
           ticks > ct_gpu_clock_newest(clock)->ticks + ct_ns_to_ticks(CT_CLOCK_STALE_NS);
}

static void compare_clocks(const struct ct_gpu_clock *clock, struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    uint64_t submitted_ns, closed_ns;
    bool was_asked = op->flags & CT_OP_AFTER_BREAK;
    if ((was_asked && is_stale(clock, op->done_ticks)) ||
        !ct_gpu_clock_at(clock, op->done_ticks, &submitted_ns) ||
        !ct_gpu_clock_at(clock, ct_told_ticks(op->done_ticks, op->closed_ticks), &closed_ns))
        return;
    m->times.lead_ns = (int64_t)(submitted_ns - m->times.told_ns - m->start_ns);
    m->times.slack_ns = (int64_t)(m->stop_ns - closed_ns);
    m->times.long_queue = is_queue_long(clock, m);
}

/* Nothing is stamped before it was asked for. */
static bool shows_wrong_clock(const struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    uint64_t at_ns;
    return ct_gpu_clock_at(clock, ct_told_ticks(m->op.open_ticks, m->op.call_ticks), &at_ns) &&
           m->start_ns + CT_PIN_EARLY_NS < at_ns;
}

/* Whether the stream was idle when the start record was made, as far as can be seen from here. */
static bool is_pin(const struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    unsigned records = is_stale(clock, op->call_ticks) ? CT_PIN_RECORDS_STALE : CT_PIN_RECORDS;
    uint64_t most_ns = ct_max(CT_PIN_RECORD_NS, records * clock->host_record_ns);
    if (op->flags & PIN_FLAGS || m->times.record_ns > most_ns)
        return false;
    return m->times.gap_ns > CT_PIN_GAP_NS /* or unknown */ || shows_wrong_clock(clock, m);
}

/* Behind something without a bracket the gap says nothing, but the stream was asked. */
static uint64_t gap_before(const struct ct_measured *m)
{
    if (!(m->op.flags & CT_OP_AFTER_BREAK))
        return m->times.gap_ns;
    return m->op.flags & CT_OP_FOUND_IDLE ? CT_GAP_UNKNOWN : 0;
}

/* How long after a stop an idle stream would have stamped a record of which the GPU is told then.
 */
static int64_t after_ns(const struct ct_gpu_clock *clock, uint64_t stop_ns, uint64_t told_ticks)
{
    uint64_t ns;
    return ct_gpu_clock_at(clock, told_ticks, &ns) ? (int64_t)(ns - stop_ns) : INT64_MAX;
}

static bool is_taken_in(int64_t told_ns, int64_t from_ns)
{
    return from_ns <= told_ns && told_ns <= CT_INTAKE_UNTIL_NS;
}

/* *end_ns: how long after the stop the last of its records would have been stamped. */
static bool takes_in(const struct ct_gpu_clock *clock, uint64_t stop_ns, const struct ct_op *op,
                     int64_t *end_ns)
{
    struct ct_bracket_times times = ct_lead_host_times(op);
    uint64_t told_ns = ct_lead_told_ns(clock->host_record_ns, &times);
    int64_t start_ns = after_ns(clock, stop_ns, ct_told_ticks(op->open_ticks, op->call_ticks));
    int64_t call_ns = after_ns(clock, stop_ns, op->done_ticks - ct_ns_to_ticks(told_ns));
    *end_ns = after_ns(clock, stop_ns, ct_told_ticks(op->done_ticks, op->closed_ticks));
    return (ct_op_has_start_record(op) && is_taken_in(start_ns, CT_RECORD_FROM_NS)) ||
           is_taken_in(call_ns, CT_OPERATION_FROM_NS) || is_taken_in(*end_ns, CT_RECORD_FROM_NS);
}

bool ct_lead_takes_in(const struct ct_gpu_clock *clock, uint64_t stop_ns, const struct ct_op *op)
{
    int64_t end_ns;
    return takes_in(clock, stop_ns, op, &end_ns);
}

bool ct_lead_met_intake(const struct ct_gpu_clock *clock, uint64_t stop_ns,
                        const struct ct_pending *behind)
{
    unsigned entries = 0;
    for (const struct ct_pending *p = behind; p && entries < CT_LONG_QUEUE; p = p->next) {
        int64_t end_ns;
        if (takes_in(clock, stop_ns, &p->op, &end_ns))
            return true;
        /* So is all behind it, but for another thread's work at the same time. */
        if (end_ns > CT_INTAKE_UNTIL_NS && !(p->op.flags & CT_OP_OVERLAPPED))
            return false;
        entries += ct_lead_entries(&p->op);
    }
    return false;
}

/*
 * In a place among other threads' operations, between which two moments an operation was submitted
 * is known, and by when the record behind it, which may be another thread's.
 */
static void compare_placed(const struct ct_gpu_clock *clock, struct ct_measured *m)
{
    const struct ct_place *p = &m->place;
    uint64_t early_ns, late_ns, end_ns, after_ns = ct_after_told(clock->host_record_ns);
    if (!ct_gpu_clock_about(clock, p->early_ticks, &early_ns) ||
        !ct_gpu_clock_about(clock, p->late_ticks, &late_ns) ||
        !ct_gpu_clock_about(clock, p->end_ticks, &end_ns))
        return;
    m->times.least_lead_ns = (int64_t)(early_ns - m->start_ns);
    m->times.lead_ns =
        (int64_t)(ct_max(early_ns, late_ns - ct_min(late_ns, m->times.told_ns)) - m->start_ns);
    m->times.slack_ns = p->is_last ? (int64_t)(m->stop_ns - (end_ns - after_ns)) : INT32_MAX;
    m->times.long_queue = is_queue_long(clock, m);
    m->times.met_intake &= !m->times.long_queue;
}

void ct_lead_find(struct ct_gpu_clock *clock, struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    m->times.gap_ns = gap_before(m);
    uint64_t host_record_ns = ct_gpu_clock_host_record(clock, m->times.stop_record_ns);
    m->times.told_ns = ct_lead_told_ns(host_record_ns, &m->times);
    if (ct_unlikely(m->is_placed))
        compare_placed(clock, m);
    else
        compare_clocks(clock, m);
    if (is_pin(clock, m))
        ct_gpu_clock_pin(clock, ct_told_ticks(op->open_ticks, op->call_ticks), m->start_ns);
}

static bool has_quick_record(const struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    uint64_t most_ns = ct_max(CT_PIN_RECORD_NS, CT_PIN_RECORDS * clock->host_record_ns);
    return ct_op_has_start_record(&m->op) && m->times.record_ns <= most_ns;
}

static void correct(struct ct_gpu_clock *clock, uint64_t asked_ticks, uint64_t stamp_ns)
{
    uint64_t at_ns;
    if (ct_gpu_clock_at(clock, asked_ticks, &at_ns) && stamp_ns + CT_PIN_EARLY_NS < at_ns)
        ct_gpu_clock_pin(clock, asked_ticks, stamp_ns);
}

/*
 * No later than when the GPU was told of the start record: a thread that lost its processor within
 * the record did so before that or behind it.
 */
static uint64_t told_at_the_earliest(const struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    return has_quick_record(clock, m) ? ct_told_ticks(op->open_ticks, op->call_ticks)
                                      : op->open_ticks;
}

void ct_lead_correct(struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    ct_lead_guess(clock, m);
    if (ct_op_has_start_record(op))
        correct(clock, told_at_the_earliest(clock, m), m->start_ns);
    correct(clock, op->done_ticks, m->stop_ns);
}

void ct_lead_pin_idle(struct ct_gpu_clock *clock, const struct ct_measured *m, uint64_t idle_ns)
{
    uint64_t at_ns, ticks = ct_told_ticks(m->op.open_ticks, m->op.call_ticks);
    if (has_quick_record(clock, m) && idle_ns > CT_PIN_GAP_NS &&
        ct_gpu_clock_at(clock, ticks, &at_ns) && m->start_ns < at_ns + CT_PIN_EARLY_NS)
        ct_gpu_clock_pin(clock, ticks, m->start_ns);
}

void ct_lead_guess(struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    if (ct_op_has_start_record(op))
        ct_gpu_clock_guess(clock, told_at_the_earliest(clock, m), m->start_ns,
                           op->flags & CT_OP_FOUND_IDLE);
}

void ct_lead_follow(struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    ct_gpu_clock_follow(clock, told_at_the_earliest(clock, m), m->start_ns);
}

/* A call that waits comes back only after its copy: that time is before the stop record. */
static uint64_t behind_ns(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    bool waits = t->work == CT_CLASS_WAIT && c->bias_wait_ns > c->bias_copy_ns;
    return ct_record_ns(c) + (waits ? c->bias_wait_ns - c->bias_copy_ns : 0);
}

/*
 * Where the host was late with the stop record, the operation was over before that was stamped:
 * then it began as soon as it had been submitted.
 */
uint64_t ct_lead_end_ns(const struct ct_calibration *c, const struct ct_measured *m,
                        uint64_t time_ns)
{
    const struct ct_bracket_times *t = &m->times;
    uint64_t more_ns = t->raw_ns > time_ns ? t->raw_ns - time_ns : 0;
    uint64_t end_ns = m->stop_ns - ct_min(more_ns, behind_ns(c, t));
    if (t->slack_ns >= CT_LATE_NS || t->lead_ns == CT_LEAD_UNKNOWN || !ct_tells_host(c) ||
        t->work == CT_CLASS_WAIT)
        return end_ns;
    uint64_t lead_ns = t->lead_ns > (int64_t)c->submit_ns ? (uint64_t)t->lead_ns - c->submit_ns : 0;
    uint64_t front_ns = c->bias_busy_ns > ct_record_ns(c) ? c->bias_busy_ns - ct_record_ns(c) : 0;
    return ct_min(end_ns, m->start_ns + lead_ns + front_ns + time_ns);
}
