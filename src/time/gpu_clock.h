/* SPDX-License-Identifier: MIT */
/*
 * A context's time line: nanoseconds on the GPU's clock, the same for all of its streams, and where
 * on it a moment of the host's clock is.
 *
 * The driver tells the distance of two events in milliseconds as a float, 24 bits of it: 60 ms
 * are told to 4 ns, a second to 60 ns. So every stamp is read against an anchor, an
 * event of a moment ago that is renewed as time goes on.
 *
 * A record that finds its stream idle is stamped a constant time after the host has told the GPU of
 * it. Such pins, taken again and again, tie the two clocks together; the constant stays in them.
 * The clocks drift apart by some 10 us a second, which the pins show, too. Derivation:
 * doc/accuracy.md. Drain thread only.
 */
#ifndef CT_GPU_CLOCK_H
#define CT_GPU_CLOCK_H

#include "base/base.h"
#include "system/clock.h"
#include "time/figures.h"

#define CT_CLOCK_PINS 32

/* After so long without a comparison the clocks may be a microsecond apart. */
#define CT_CLOCK_STALE_NS 50000000

/*
 * A record takes the host a while, and the GPU is told of it on the way: the part of its duration
 * that comes behind that. As much comes behind an operation, unless something held that up:
 * ct_lead_told_ns().
 */
static inline uint64_t ct_after_told(uint64_t duration)
{
    return duration * CT_TOLD_PERCENT / 100;
}

/* When the GPU is told of a record that takes the host from `before` to `after`, in ticks. */
static inline uint64_t ct_told_ticks(uint64_t before, uint64_t after)
{
    return after - ct_after_told(ct_ticks_between(before, after));
}

/* A host time and the place on the time line that belongs to it. */
struct ct_pin {
    uint64_t ticks;
    uint64_t ns;
};

struct ct_gpu_clock {
    bool has_anchor;
    uint32_t anchor;    /* event of the context's pool, kept from it */
    uint64_t anchor_ns; /* its place on the time line */

    struct ct_pin pins[CT_CLOCK_PINS];
    uint64_t pinned;         /* pins so far; the newest are kept */
    bool is_tied;            /* the tie is of these pins */
    struct ct_pin tie;       /* otherwise of older ones, or a guess; no ticks: there is none */
    struct ct_pin old_tie;   /* to measure the rate from; no ticks: none */
    bool old_is_of_few;      /* pins */
    double ns_per_tick;      /* of the GPU's nanoseconds; 0: not measured */
    double rate_span_ns;     /* over which that was measured */
    struct ct_pin least;     /* since the tie: the least late stamp, by the tie; no ticks: none */
    uint64_t host_record_ns; /* see ct_gpu_clock_host_record(); 0: none came yet */
    bool has_origin;
    int64_t origin_ns; /* see ct_gpu_clock_steady() */
};

static inline const struct ct_pin *ct_gpu_clock_newest(const struct ct_gpu_clock *clock)
{
    return &clock->pins[(clock->pinned - 1) % CT_CLOCK_PINS];
}

/* The GPU was told of a record at `ticks`, and the idle stream was stamped at `ns`. */
void ct_gpu_clock_pin(struct ct_gpu_clock *clock, uint64_t ticks, uint64_t ns);

/*
 * Where a record would be stamped, on an idle stream, of which the GPU is told at `ticks`.
 * False: the clocks have not been tied together yet.
 */
bool ct_gpu_clock_at(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t *ns);
/* Likewise, also from a guess, or from a tie of not long before. False: there is neither. */
bool ct_gpu_clock_about(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t *ns);

/*
 * The other way round: when a record of which the GPU was told then would be stamped at `ns`.
 * False: the clocks are not tied together now; the answer is of an older tie, or a guess.
 */
bool ct_gpu_clock_ticks(const struct ct_gpu_clock *clock, uint64_t ns, uint64_t *ticks);

/*
 * A record's time on this host when nothing holds it up: the lower tenth of all, this one included.
 */
uint64_t ct_gpu_clock_host_record(struct ct_gpu_clock *clock, uint64_t ns);

/*
 * The GPU was told of a record at `ticks`, and it was stamped at `ns`, which is no earlier than an
 * idle stream would have been. While the clocks are not tied the earliest of these stamps serves; a
 * guess of long ago gives way to any of a stream that was found idle.
 */
void ct_gpu_clock_guess(struct ct_gpu_clock *clock, uint64_t ticks, uint64_t ns, bool was_idle);

/*
 * Likewise with streams of which nobody knows whether they were idle, for places that need not be
 * known to the microsecond: the tie follows the earliest of these stamps, twice a second. A place
 * is then told by the tie, however old that is. False: there is none.
 */
void ct_gpu_clock_follow(struct ct_gpu_clock *clock, uint64_t ticks, uint64_t ns);
bool ct_gpu_clock_roughly(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t *ns);

/*
 * A place on the time line as CLOCK_MONOTONIC has it, all places by the same distance: nothing is
 * moved against the others by a better knowledge of the clocks, but places are off by as much as
 * the clocks have drifted apart since the first question. For that, `ticks` and `at_ns` are the
 * same moment, about, where the clocks have not been tied yet.
 */
uint64_t ct_gpu_clock_steady(struct ct_gpu_clock *clock, uint64_t ns, uint64_t ticks,
                             uint64_t at_ns);

/* A step of the clock was not measured well: the tie stays for guesses alone. */
void ct_gpu_clock_forget_pins(struct ct_gpu_clock *clock);

/* The context has gone, its events with it. */
void ct_gpu_clock_reset(struct ct_gpu_clock *clock);

#endif
