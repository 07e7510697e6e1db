/* SPDX-License-Identifier: MIT */
#include "time/gpu_clock.h"

#include "system/clock.h"
#include "time/op.h"
#include "time/percentile.h"

/*
 * A tie is renewed every so many pins, or after so long. Where pins are rare, older ones would
 * bring the rate's error into it: some are needed all the same, but none that is older
 * than the span over which the rate was measured.
 */
#define TIE_PINS 8
#define TIE_NS 1000000u
#define TIE_PINS_LEAST 5
#define PIN_AGE_NS 10000000u

/* The rate is measured over this span. */
#define RATE_NS_LEAST 20000000u
#define RATE_NS_MOST 400000000u

/* Two clocks' drift; how often a tie moves that follows records of which nobody knows more. */
#define DRIFT_MOST 1e-4
#define TIE_OFF_NS 1000 /* of pins: earlier stamps than that show that it is wrong */
#define FOLLOW_NS 500000000u

/* Part of the host's rate: crystals, a clock that is being slewed, and a tie that is 5 us off. */
#define RATE_OFF_MOST 1e-3

/* The percentile of its records that shows a host which nothing holds up. */
#define HOST_RECORD_PERCENT 10

/*
 * Pins on both sides of a step that was not measured well do not belong together. The tie stays for
 * guesses and ct_gpu_clock_ticks(): the best that is known until there are new ones.
 */
void ct_gpu_clock_forget_pins(struct ct_gpu_clock *clock)
{
    clock->pinned = 0;
    clock->is_tied = false;
    clock->old_tie.ticks = 0;
}

static double host_rate(void)
{
    return (double)ct_ticks_to_ns((uint64_t)1 << 32) * 0x1p-32;
}

static double rate(const struct ct_gpu_clock *clock)
{
    return clock->ns_per_tick > 0 ? clock->ns_per_tick : host_rate();
}

static uint64_t at(const struct ct_gpu_clock *clock, const struct ct_pin *from, uint64_t ticks)
{
    double ns = (double)(int64_t)(ticks - from->ticks) * rate(clock);
    return from->ns + (uint64_t)(int64_t)ns;
}

/* Insertion: there are few, and they are nearly in order. */
static void sort(uint64_t *v, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j && v[j - 1] > v[j]; j--) {
            uint64_t higher = v[j - 1];
            v[j - 1] = v[j];
            v[j] = higher;
        }
}

/*
 * Ties that were taken on both sides of a step of either clock belong to no rate. A tie is off by a
 * few tenths of a microsecond: the rate over a longer span is better, and one of few pins is good
 * for the longest only.
 */
static void measure_rate(struct ct_gpu_clock *clock, bool is_of_few)
{
    const struct ct_pin *from = &clock->old_tie, *to = &clock->tie;
    double ns = (double)(int64_t)(to->ns - from->ns);
    double told_ns = (double)(to->ticks - from->ticks) * host_rate(), off_ns = ns - told_ns;
    double least_ns = is_of_few || clock->old_is_of_few ? RATE_NS_MOST : RATE_NS_LEAST;
    bool is_plausible = off_ns < told_ns * RATE_OFF_MOST && -off_ns < told_ns * RATE_OFF_MOST;
    if (from->ticks && is_plausible && ns > least_ns && ns >= clock->rate_span_ns) {
        clock->ns_per_tick = ns / (double)(to->ticks - from->ticks);
        clock->rate_span_ns = ns < RATE_NS_MOST ? ns : RATE_NS_MOST;
    }
    if (!from->ticks || !is_plausible || ns > RATE_NS_MOST ||
        (clock->old_is_of_few && !is_of_few)) {
        clock->old_tie = clock->tie;
        clock->old_is_of_few = is_of_few;
    }
}

/*
 * A little below the median: the outliers among pins are of streams that were busy with something
 * unseen, too late, never too early.
 */
static void tie(struct ct_gpu_clock *clock, uint64_t ticks)
{
    uint64_t ns[CT_CLOCK_PINS] = {0}, age = ct_ns_to_ticks(PIN_AGE_NS);
    uint64_t most_age = ct_max(age, ct_ns_to_ticks((uint64_t)clock->rate_span_ns));
    unsigned n = 0, most = (unsigned)ct_min(clock->pinned, CT_CLOCK_PINS);
    while (n < most) {
        const struct ct_pin *pin = &clock->pins[(clock->pinned - 1 - n) % CT_CLOCK_PINS];
        if (n && ct_ticks_between(pin->ticks, ticks) > (n < TIE_PINS_LEAST ? most_age : age))
            break;
        ns[n++] = at(clock, pin, ticks);
    }
    sort(ns, n);
    clock->tie = (struct ct_pin){ticks, ns[n * 2 / 5]};
    clock->is_tied = true;
    if (clock->pinned >= CT_CLOCK_PINS)
        measure_rate(clock, n < TIE_PINS_LEAST);
}

void ct_gpu_clock_pin(struct ct_gpu_clock *clock, uint64_t ticks, uint64_t ns)
{
    clock->pins[clock->pinned % CT_CLOCK_PINS] = (struct ct_pin){ticks, ns};
    clock->pinned++;
    bool is_due = clock->pinned < TIE_PINS || clock->pinned % TIE_PINS == 0;
    if (is_due || (int64_t)(ticks - clock->tie.ticks) > (int64_t)ct_ns_to_ticks(TIE_NS))
        tie(clock, ticks);
}

bool ct_gpu_clock_at(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t *ns)
{
    *ns = clock->is_tied ? at(clock, &clock->tie, ticks) : 0;
    return clock->is_tied;
}

static bool is_stale(const struct ct_gpu_clock *clock, uint64_t ticks)
{
    return !clock->is_tied && ticks > clock->tie.ticks + ct_ns_to_ticks(CT_CLOCK_STALE_NS);
}

bool ct_gpu_clock_about(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t *ns)
{
    *ns = clock->tie.ticks ? at(clock, &clock->tie, ticks) : 0;
    return clock->tie.ticks && !is_stale(clock, ticks);
}

/* Queued records are late by any time: the clocks do not drift apart as fast as that. */
static uint64_t not_faster(const struct ct_gpu_clock *clock, uint64_t late_ns, uint64_t ticks)
{
    double passed_ns = (double)ct_ticks_to_ns(ct_ticks_between(clock->tie.ticks, ticks));
    return ct_min(late_ns, (uint64_t)(passed_ns * DRIFT_MOST));
}

static void move_tie(struct ct_gpu_clock *clock)
{
    struct ct_pin to = clock->least;
    uint64_t late_ns = to.ns - at(clock, &clock->tie, to.ticks);
    to.ns += not_faster(clock, late_ns, to.ticks) - late_ns;
    clock->tie = to;
    clock->least.ticks = 0;
}

void ct_gpu_clock_follow(struct ct_gpu_clock *clock, uint64_t ticks, uint64_t ns)
{
    const struct ct_pin *tie = &clock->tie, *least = &clock->least;
    uint64_t soft_ns = clock->is_tied ? TIE_OFF_NS : 0;
    if (!tie->ticks || ns + soft_ns < at(clock, tie, ticks)) {
        clock->tie = (struct ct_pin){ticks, ns};
        clock->least.ticks = 0;
        return;
    }
    if (ticks <= tie->ticks || ns < at(clock, tie, ticks))
        return;
    if (least->ticks <= tie->ticks ||
        ns - at(clock, tie, ticks) < least->ns - at(clock, tie, least->ticks))
        clock->least = (struct ct_pin){ticks, ns};
    if (ct_ticks_between(tie->ticks, ticks) > ct_ns_to_ticks(FOLLOW_NS))
        move_tie(clock);
}

bool ct_gpu_clock_roughly(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t *ns)
{
    *ns = clock->tie.ticks ? at(clock, &clock->tie, ticks) : 0;
    return clock->tie.ticks;
}

uint64_t ct_gpu_clock_steady(struct ct_gpu_clock *clock, uint64_t ns, uint64_t ticks,
                             uint64_t at_ns)
{
    const struct ct_pin known = clock->is_tied ? clock->tie : (struct ct_pin){ticks, at_ns};
    if (!clock->has_origin)
        clock->origin_ns = (int64_t)(ct_clock_at_ns(known.ticks) - known.ns);
    clock->has_origin = true;
    return ns + (uint64_t)clock->origin_ns;
}

bool ct_gpu_clock_ticks(const struct ct_gpu_clock *clock, uint64_t ns, uint64_t *ticks)
{
    double distance = (double)(int64_t)(ns - clock->tie.ns) / rate(clock);
    *ticks = clock->tie.ticks + (uint64_t)(int64_t)distance;
    return clock->is_tied;
}

uint64_t ct_gpu_clock_host_record(struct ct_gpu_clock *clock, uint64_t ns)
{
    uint64_t known_ns = clock->host_record_ns ? clock->host_record_ns : CT_HOST_RECORD_NS;
    known_ns = ct_percentile_follow(known_ns, ns, HOST_RECORD_PERCENT);
    return clock->host_record_ns = ct_max(known_ns, 1);
}

void ct_gpu_clock_guess(struct ct_gpu_clock *clock, uint64_t ticks, uint64_t ns, bool was_idle)
{
    uint64_t known_ns;
    bool is_known = ct_gpu_clock_about(clock, ticks, &known_ns);
    if (!clock->is_tied && (ns < known_ns || !clock->tie.ticks || (was_idle && !is_known)))
        clock->tie = (struct ct_pin){ticks, ns};
}

void ct_gpu_clock_reset(struct ct_gpu_clock *clock)
{
    *clock = (struct ct_gpu_clock){0};
}
