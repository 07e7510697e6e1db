/* SPDX-License-Identifier: MIT */
#include "time/estimate.h"

#include "time/gpu_clock.h"
#include "time/percentile.h"

#define REGISTERS 65536 /* of a multiprocessor */

/* Where the ends of more were asked for than are clean: with more than so many for each it tells
 * nothing. */
#define HELD_MOST 16

struct range {
    int64_t low_ns;
    int64_t high_ns;
};

static struct range exactly(int64_t ns)
{
    return (struct range){ns, ns};
}

static bool was_idle(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    return !t->shared_start &&
           (t->gap_ns == CT_GAP_UNKNOWN || t->gap_ns > (uint64_t)c->gap_busy_ns * CT_IDLE_GAPS);
}

/*
 * Without a common clock the gap before the start stamp is all there is. A stream that was idle was
 * stamped when the GPU was told of the record, which is not known well where that was interrupted;
 * in another, the stamp may have waited for earlier work, or not.
 */
static struct range lead_by_gap(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    bool is_interrupted = t->record_ns > CT_INTERRUPTED_NS;
    int64_t call_ns = (int64_t)(t->launch_ns - t->told_ns);
    int64_t idle_ns = call_ns + (int64_t)ct_after_told(ct_min(t->record_ns, CT_INTERRUPTED_NS));
    int64_t most_ns = is_interrupted ? call_ns + (int64_t)t->record_ns : idle_ns;
    if (t->shared_start)
        return exactly(CT_LEAD_READY_NS);
    return (struct range){was_idle(c, t) ? idle_ns : CT_LEAD_READY_NS, most_ns};
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * Costs of a kernel beside those of one with few parameters and registers. Parameters go through
 * the front end, of a late kernel partly while it waits for the host anyway; that a block gets its
 * registers is in the way of a late one only.
 */
static int64_t ready_ns(const struct ct_calibration *c, const struct ct_bracket_times *t,
                        bool is_long)
{
    return (int64_t)(is_long ? c->busy_kib_ns : c->ready_kib_ns) * t->parameter_bytes / 1024;
}

static int64_t late_ns(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    return (int64_t)c->late_kib_ns * t->parameter_bytes / 1024 +
           (int64_t)c->registers_ns * (int64_t)ct_min(t->block_registers, REGISTERS) / REGISTERS;
}

/*
 * The part of a bracket that is neither the operation nor bias_busy_ns. The operation begins when
 * the front end is ready for it and it is there, whichever is later. How fast the front end comes
 * to it depends on the length of the queue: a host far ahead of the GPU hides the gaps.
 */
static int64_t excess_at(const struct ct_calibration *c, const struct ct_bracket_times *t,
                         int64_t lead_ns)
{
    bool is_long = t->long_queue || (t->lead_ns == CT_LEAD_UNKNOWN && !was_idle(c, t));
    int64_t less_ns = is_long ? 0 : (int64_t)c->bias_busy_ns - c->bias_ready_ns;
    int64_t late = lead_ns - (int64_t)c->submit_ns + late_ns(c, t) + t->witness_ns;
    return larger(ready_ns(c, t, is_long) - less_ns, late);
}

/*
 * A GPU that has had nothing to do for a while, or another process's work, may come to the start
 * record when the operation is there already: then less is in the bracket than its call took.
 */
static struct range possible_lead(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    struct range lead = lead_by_gap(c, t);
    if ((int64_t)t->raw_ns < c->bias_busy_ns + excess_at(c, t, lead.low_ns))
        lead.low_ns = CT_LEAD_READY_NS;
    return lead;
}

/* A start stamp may be late, but not before the host began to ask for it. */
static int64_t most_lead_ns(const struct ct_bracket_times *t)
{
    return t->shared_start ? INT64_MAX : (int64_t)(t->record_ns + t->launch_ns - t->told_ns);
}

/* Where the clocks are off by far a longer lead would leave no time for the operation. */
static struct range lead_of(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    if (t->lead_ns == CT_LEAD_UNKNOWN)
        return possible_lead(c, t);
    if (t->is_placed)
        return (struct range){t->least_lead_ns, t->lead_ns};
    int64_t most_ns = most_lead_ns(t);
    return exactly(t->lead_ns - CT_PIN_EARLY_NS > most_ns ? most_ns : t->lead_ns);
}

/*
 * The part of its place that was before an operation. None where that leaves no time for it, or
 * where only the place that it shares is known: then the bounds are apart.
 */
static struct range within_place(const struct ct_calibration *c, const struct ct_bracket_times *t,
                                 struct range r)
{
    if (t->with || (int64_t)t->raw_ns <= c->bias_busy_ns + r.low_ns)
        r.low_ns = smaller(r.low_ns, 0);
    return r;
}

/* A launch that comes so long after its start record is of a thread that lost its processor. */
#define HELD_UP_NS 100000

/*
 * Where it is not known how the host's time enters a bracket of the device, only certain time
 * counts: an operation may have been submitted long after the stamp before it.
 */
static struct range idle(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    if (t->lead_ns == CT_LEAD_UNKNOWN)
        return exactly(0);
    int64_t most_ns = smaller(t->lead_ns, most_lead_ns(t));
    bool is_certain = most_ns >= HELD_UP_NS && most_ns < (int64_t)t->raw_ns; /* or clocks are off */
    if (!t->is_placed && !is_certain)
        return exactly(0);
    int64_t least_ns = t->is_placed ? t->least_lead_ns : most_ns;
    struct range r = {larger(0, least_ns - (int64_t)ct_record_ns(c)),
                      larger(0, most_ns - (int64_t)ct_record_ns(c))};
    return within_place(c, t, r);
}

static struct range excess(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    if (c->submit_ns == UINT32_MAX)
        return idle(c, t);
    struct range lead = lead_of(c, t);
    struct range r = {excess_at(c, t, lead.low_ns), excess_at(c, t, lead.high_ns)};
    return t->is_placed ? within_place(c, t, r) : r;
}

/* It was not there yet when the front end was done with the start record. */
static bool was_late(const struct ct_bracket_times *t)
{
    return t->lead_ns != CT_LEAD_UNKNOWN && t->lead_ns > CT_LEAD_READY_NS;
}

/*
 * The way from another engine is over by the time a late submission arrives. In thirds: a kernel
 * needs two of a copy's way, a small set one.
 */
static int64_t hop_ns(const struct ct_calibration *c, const struct ct_bracket_times *t, int thirds)
{
    return t->hopped && !was_late(t) ? (int64_t)c->hop_ns * thirds / 3 : 0;
}

static int64_t bias_copy(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    /* Half of the way is gone in vain: a copy engine is told over it of late copies, too. */
    int64_t late_ns = t->hopped && was_late(t) ? c->hop_ns / 2 : 0;
    return c->bias_copy_ns + late_ns + hop_ns(c, t, 3);
}

/*
 * The excess of a late small set over bias_set_ns, negative where that is long: a late kernel's,
 * but for the shorter way through the front end.
 */
static int64_t excess_of_late_set(const struct ct_calibration *c, int64_t lead_ns)
{
    return (int64_t)c->bias_busy_ns - CT_SET_NEEDS_LESS_NS - (int64_t)c->bias_set_ns + lead_ns -
           (int64_t)c->submit_ns;
}

static int64_t excess_of_set(const struct ct_calibration *c, int64_t lead_ns)
{
    int64_t late_ns = excess_of_late_set(c, lead_ns);
    return lead_ns <= CT_LEAD_SET_READY_NS ? larger(0, late_ns) : late_ns;
}

static int64_t bias_set(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    if (c->submit_ns == UINT32_MAX)
        return c->bias_set_ns;
    int64_t excess_ns = was_late(t) ? excess_of_set(c, t->lead_ns) : hop_ns(c, t, 1);
    return larger(0, c->bias_set_ns + excess_ns);
}

static struct range bias(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    switch (t->work) {
    case CT_CLASS_WAIT:
        return exactly(c->bias_wait_ns);
    case CT_CLASS_COPY:
        return exactly(bias_copy(c, t));
    case CT_CLASS_SET:
        return exactly(bias_set(c, t));
    default:
        break;
    }
    struct range r = excess(c, t);
    int64_t way_ns = hop_ns(c, t, 2);
    if (way_ns)
        r = (struct range){larger(r.low_ns, way_ns), larger(r.high_ns, way_ns)};
    return (struct range){c->bias_busy_ns + r.low_ns, c->bias_busy_ns + r.high_ns};
}

static uint64_t not_negative(int64_t ns)
{
    return ns > 0 ? (uint64_t)ns : 0;
}

/* The doubt that stays, however well the rest is known. */
static uint64_t doubt_ns(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    if (c->source == CT_CALIBRATION_NONE)
        return CT_UNKNOWN_BIAS_NS;
    bool was_ready = t->lead_ns != CT_LEAD_UNKNOWN && t->lead_ns <= CT_LEAD_READY_NS;
    uint64_t ns = was_ready ? c->uncertainty_ns : c->idle_uncertainty_ns;
    if (t->work != CT_CLASS_KERNEL)
        ns *= 3;
    return ns + (uint64_t)hop_ns(c, t, 2);
}

/* Memory that is not page-locked goes through the host's hands while the call lasts. */
static bool is_host_inside(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    return c->submit_ns != UINT32_MAX &&
           (t->work == CT_CLASS_WAIT || (t->work == CT_CLASS_COPY && t->launch_ns > CT_STAGING_NS));
}

/* Behind another engine's work a stop waits for more than that. */
static bool is_of_front_end(const struct ct_bracket_times *t)
{
    return t->work == CT_CLASS_KERNEL || t->work == CT_CLASS_SET;
}

/* After a slow stop record, for all that is known the GPU heard of it only at its end. */
static bool may_be_late(const struct ct_bracket_times *t)
{
    if (t->is_placed || t->stop_record_ns <= CT_SLOW_STOP_NS)
        return false;
    return t->slack_ns == CT_LEAD_UNKNOWN ||
           t->slack_ns < CT_LATE_NS + (int64_t)ct_after_told(t->stop_record_ns);
}

/*
 * Behind kernels that fill the device an operation begins with the last blocks of the last of them.
 * One that is over before that has found a place, at a time that nothing tells.
 */
static int64_t least_behind(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    if (!c->last_blocks_ns || t->work != CT_CLASS_KERNEL || !(t->filled_ns || t->filled_past))
        return INT64_MAX;
    return t->filled_past ? 0 : (int64_t)(t->raw_ns - t->filled_ns) + c->last_blocks_ns;
}

/* The figures of single brackets differ by so much: so do bounds. */
static int64_t softness_ns(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    return was_late(t) ? c->idle_uncertainty_ns : c->uncertainty_ns;
}

/*
 * Between two operations without a record less passes than a record and a launch take. How much of
 * their time is whose, and where in it the stream had nothing to do, nobody knows: it may be longer
 * by a quarter, and shorter by all of it.
 */
static int64_t split_by_ns(const struct ct_calibration *c, const struct ct_bracket_times *t,
                           int64_t ns)
{
    int64_t front_ns =
        (int64_t)c->bias_busy_ns - (int64_t)ct_record_ns(c) - (int64_t)c->node.gap_ns;
    return larger(0, front_ns) * t->with / (t->with + 1) + larger(0, ns) / 4;
}

/* No longer than its place: so those of a stream never take more than the time it was busy. */
static void stay_within(const struct ct_calibration *c, const struct ct_bracket_times *t,
                        struct ct_estimate *e)
{
    uint64_t most_ns = t->raw_ns - ct_min(t->raw_ns, ct_record_ns(c));
    e->time_ns = ct_min(e->time_ns, most_ns);
    e->high_ns = ct_min(e->high_ns, most_ns);
    e->low_ns = ct_min(e->low_ns, most_ns);
}

struct ct_estimate ct_estimate(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    struct ct_estimate e = {.is_clean = true,
                            .time_ns = t->raw_ns,
                            .low_ns = t->raw_ns,
                            .high_ns = t->raw_ns,
                            .doubt_ns = doubt_ns(c, t),
                            .was_late = t->work == CT_CLASS_KERNEL && was_late(t),
                            .witness_ns = t->witness_ns};
    if (c->source == CT_CALIBRATION_NONE)
        return e;
    struct range b = bias(c, t);
    int64_t low_ns = (int64_t)t->raw_ns - b.high_ns, high_ns = (int64_t)t->raw_ns - b.low_ns;
    e.time_ns = not_negative(high_ns);
    if (is_of_front_end(t) && (c->submit_ns != UINT32_MAX || t->is_placed)) {
        if (t->slack_ns < CT_LATE_NS)
            low_ns = 0;
        else if (may_be_late(t))
            low_ns -= (int64_t)t->stop_record_ns;
        if (t->met_intake)
            low_ns -= c->intake_ns;
    }
    int64_t least_ns = least_behind(c, t);
    if (least_ns < high_ns) {
        low_ns = smaller(low_ns, least_ns);
        if (!t->filled_past)
            e.time_ns = not_negative(least_ns);
    }
    if (is_host_inside(c, t) || t->is_torn || (t->is_placed && t->lead_ns == CT_LEAD_UNKNOWN))
        low_ns = 0;
    if (t->with) {
        low_ns = 0;
        high_ns += split_by_ns(c, t, high_ns);
    }
    e.is_clean = low_ns == high_ns;
    int64_t soft_ns = e.is_clean ? 0 : softness_ns(c, t);
    e.low_ns = not_negative(low_ns - soft_ns);
    e.high_ns = not_negative(high_ns + soft_ns);
    if (t->is_placed)
        stay_within(c, t, &e);
    return e;
}

/*
 * The mean of a row's clean operations, of which there have to be some. Of late ones so much is
 * taken off as witnesses have told by now: they may not have told it when those were dealt with.
 * Where most had to wait for other streams, some that did pass for clean, and are far too long:
 * then the median, if that is less, and if it is not of next to none.
 */
static int64_t usual_ns(const struct ct_prior *p, int64_t witness_ns)
{
    int64_t total_ns = (int64_t)p->total_ns + p->witness_ns - (int64_t)p->late * witness_ns;
    int64_t ns = total_ns / (int64_t)p->count;
    if (p->held <= p->count)
        return ns;
    return p->held <= HELD_MOST * p->count ? smaller(ns, (int64_t)p->median_ns) : ns;
}

struct ct_node_bias ct_estimate_node_bias(const struct ct_node_figures *f, int64_t added_ns,
                                          uint64_t least, uint64_t most)
{
    bool is_known = f->bias_ns != 0;
    struct ct_node_bias b = {f->bias_ns, is_known ? f->spread_ns : CT_UNKNOWN_BIAS_NS};
    if (!least)
        return b;
    uint64_t low_ns = not_negative(added_ns) / most, high_ns = not_negative(added_ns) / least;
    uint64_t half_ns = (high_ns - low_ns) / 2;
    uint64_t doubt_ns = (is_known ? f->doubt_ns : CT_UNKNOWN_GAP_NS) + half_ns;
    if (low_ns == high_ns || doubt_ns <= b.doubt_ns)
        b = (struct ct_node_bias){low_ns + half_ns + f->gap_ns, doubt_ns};
    return b;
}

static void follow_held(struct ct_prior *p, const struct ct_estimate *e)
{
    uint64_t low_ns = ct_percentile_follow(p->held_low_ns, e->high_ns, CT_HELD_LOW_PERCENT);
    p->held_low_ns = p->held++ ? low_ns : e->high_ns;
}

/* So few are clean that they tell less than the bounds do. */
static bool is_rarely_clean(const struct ct_estimate *e, const struct ct_prior *p)
{
    if (!e->was_held || p->held <= p->count)
        return false;
    return p->held > HELD_MOST * p->count ||
           (int64_t)p->held_low_ns + CT_HELD_LATE_NS >= usual_ns(p, e->witness_ns);
}

/* The likely duration; without a sign of one the upper bound stands. */
static uint64_t likely_ns(const struct ct_estimate *e, const struct ct_prior *p)
{
    uint64_t ns = e->time_ns;
    if (p->count >= CT_PRIOR_LEAST)
        ns = not_negative(usual_ns(p, e->witness_ns));
    if (is_rarely_clean(e, p))
        ns = ct_min(ns, p->held_low_ns);
    return ns;
}

void ct_estimate_settle(struct ct_estimate *e, struct ct_prior *prior)
{
    if (e->is_clean) {
        prior->median_ns = ct_median_follow(prior->median_ns, e->time_ns, prior->count);
        prior->count++;
        prior->total_ns += e->time_ns;
        prior->late += e->was_late;
        prior->witness_ns += e->was_late ? e->witness_ns : 0;
        return;
    }
    if (e->was_held)
        follow_held(prior, e);
    e->is_bound = prior->count < CT_PRIOR_LEAST || is_rarely_clean(e, prior);
    e->time_ns = ct_max(e->low_ns, ct_min(e->high_ns, likely_ns(e, prior)));
    e->doubt_ns += (e->high_ns - e->low_ns) / 2;
}
