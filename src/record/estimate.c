/* SPDX-License-Identifier: MIT */
#include "record/estimate.h"

#include "base/text.h"
#include "cutrace/format.h"

/* A stop record that is stamped so soon after its submission has found the stream idle. */
#define LATE_NS 300

/* Between these leads the front end's work and the host's overlap partly. */
#define LEAD_READY_NS (-100)
#define LEAD_WAITS_NS 2100

/*
 * Measured: brackets of kernels of known duration against CUPTI's, driver 580.
 * A name stands for all devices whose name contains it.
 */
static const struct {
    const char *name;
    struct ct_calibration figures;
} known[] = {
    /* Its virtual clock stands still while the host works: nothing of the host's is in a bracket. */
    {"Simulated H200",
     {
         .source = CT_CALIBRATION_TABLE,
         .bias_busy_ns = 2910,
         .bias_ready_ns = 2910,
         .bias_copy_ns = 2910,
         .bias_wait_ns = 2910,
         .gap_busy_ns = 1600,
         .submit_ns = UINT32_MAX,
         .copy_floor_ns = 4110,
         .set_floor_ns = 3910,
     }},
    {"H200",
     {
         .source = CT_CALIBRATION_TABLE,
         .bias_busy_ns = 2900,
         .bias_ready_ns = 2300,
         .bias_copy_ns = 1250,
         .bias_wait_ns = 5600,
         .beside_ns = 900,
         .gap_busy_ns = 1600,
         .submit_ns = 1900,
         .uncertainty_ns = 200,
         .idle_uncertainty_ns = 300,
     }},
};

static const struct ct_calibration none = {.source = CT_CALIBRATION_NONE};

const struct ct_calibration *ct_calibration_of(const char *device_name)
{
    for (unsigned i = 0; i < ct_countof(known); i++)
        if (ct_contains(device_name, known[i].name))
            return &known[i].figures;
    return &none;
}

/* A record that takes the host so long was interrupted, before or after the GPU heard of it. */
#define INTERRUPTED_NS 6000

/* In the bracket of a device that nobody knows; two or three microseconds on known ones. */
#define UNKNOWN_BIAS_NS 3000

/* Clean operations that make a prior. */
#define PRIOR_LEAST 3

struct range {
    int64_t low_ns;
    int64_t high_ns;
};

/* Without a common clock: the gap tells whether the stream was idle at the start record. */
static struct range excess_by_gap(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    bool was_idle = t->gap_ns == CT_GAP_UNKNOWN || t->gap_ns > c->gap_busy_ns;
    uint64_t lead_ns = t->launch_ns + t->record_ns / 3;
    if (t->shared_start || !was_idle || lead_ns <= c->submit_ns)
        return (struct range){0, 0};
    int64_t excess_ns = (int64_t)(lead_ns - c->submit_ns);
    return (struct range){excess_ns, excess_ns};
}

/*
 * With it: the operation cannot have begun before it was submitted. Where it was ready in time, it
 * depends on the length of the queue how fast the front end comes to it.
 */
static int64_t excess_by_lead(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    int64_t ready_ns = t->long_queue ? 0 : (int64_t)c->bias_ready_ns - c->bias_busy_ns;
    int64_t waits_ns = LEAD_WAITS_NS - (int64_t)c->submit_ns;
    if (t->lead_ns <= LEAD_READY_NS)
        return ready_ns;
    if (t->lead_ns < LEAD_WAITS_NS)
        return ready_ns + (waits_ns - ready_ns) * (t->lead_ns - LEAD_READY_NS) /
                              (LEAD_WAITS_NS - LEAD_READY_NS);
    int64_t excess_ns = t->lead_ns - c->submit_ns;
    if (t->shared_start)
        return excess_ns;
    /* The start stamp may be late, but not before the host began to ask for it. */
    int64_t most_ns = (int64_t)(t->record_ns + t->launch_ns) - c->submit_ns;
    return most_ns < waits_ns ? waits_ns : excess_ns < most_ns ? excess_ns : most_ns;
}

/* Records of other streams in between hold the stop record up: in tenths, by their number. */
static int64_t held_up_ns(const struct ct_calibration *c, uint32_t beside)
{
    static const uint8_t tenths[] = {0, 10, 17, 20, 22};
    return (int64_t)c->beside_ns * tenths[ct_min(beside, ct_countof(tenths) - 1)] / 10;
}

static struct range bias(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    struct range excess = {0, 0};
    if (t->work != CT_CLASS_KERNEL) {
        int64_t ns = t->work == CT_CLASS_COPY ? c->bias_copy_ns : c->bias_wait_ns;
        return (struct range){ns, ns};
    }
    if (c->submit_ns == UINT32_MAX)
        ;
    else if (t->lead_ns != CT_LEAD_UNKNOWN)
        excess.low_ns = excess.high_ns = excess_by_lead(c, t);
    else
        excess = excess_by_gap(c, t);
    return (struct range){c->bias_busy_ns + excess.low_ns, c->bias_busy_ns + excess.high_ns};
}

static uint64_t not_negative(int64_t ns)
{
    return ns > 0 ? (uint64_t)ns : 0;
}

/* What it may be wrong by, however well the rest is known. */
static uint64_t doubt_ns(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    if (c->source == CT_CALIBRATION_NONE)
        return UNKNOWN_BIAS_NS;
    bool by_lead = t->lead_ns != CT_LEAD_UNKNOWN && t->lead_ns > LEAD_READY_NS;
    uint64_t ns = by_lead ? c->idle_uncertainty_ns : c->uncertainty_ns;
    if (t->work != CT_CLASS_KERNEL || t->lead_ns == CT_LEAD_UNKNOWN)
        ns *= 3;
    return ns + (uint64_t)held_up_ns(c, t->beside) / 2;
}

struct ct_estimate ct_estimate(const struct ct_calibration *c, const struct ct_bracket_times *t)
{
    struct ct_estimate e = {true, t->raw_ns, t->raw_ns, t->raw_ns, doubt_ns(c, t)};
    if (c->source == CT_CALIBRATION_NONE)
        return e;
    struct range b = bias(c, t);
    int64_t rest_ns = (int64_t)t->raw_ns - held_up_ns(c, t->beside);
    int64_t low_ns = rest_ns - b.high_ns;
    if (t->work == CT_CLASS_KERNEL && c->submit_ns != UINT32_MAX) {
        if (t->slack_ns < LATE_NS)
            low_ns = 0;
        else if (t->stop_record_ns > INTERRUPTED_NS)
            low_ns -= (int64_t)t->stop_record_ns;
    }
    e.time_ns = e.high_ns = not_negative(rest_ns - b.low_ns);
    e.low_ns = not_negative(low_ns);
    e.is_clean = e.low_ns == e.high_ns;
    return e;
}

void ct_estimate_settle(struct ct_estimate *e, struct ct_prior *prior)
{
    if (e->is_clean) {
        prior->count++;
        prior->total_ns += e->time_ns;
        return;
    }
    if (prior->count >= PRIOR_LEAST)
        e->time_ns = ct_max(e->low_ns, ct_min(e->high_ns, prior->total_ns / prior->count));
    e->doubt_ns += (e->high_ns - e->low_ns) / 2;
}
