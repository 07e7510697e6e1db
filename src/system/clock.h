/* SPDX-License-Identifier: MIT */
/*
 * Host time. Launch paths take ticks (the time stamp counter, a few nanoseconds); whoever has time
 * turns them into nanoseconds of CLOCK_MONOTONIC with a rate that gets better as the process runs.
 */
#ifndef CT_CLOCK_H
#define CT_CLOCK_H

#include "base/base.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

uint64_t ct_clock_monotonic_ns(void);
uint64_t ct_clock_unix_ns(void);

static inline uint64_t ct_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return ct_clock_monotonic_ns();
#endif
}

/* Starts the rate measurement, spending about a millisecond; call once before the others. */
void ct_clock_start(void);
/*
 * Measures the rate over the whole time since the start, where that is an eighth longer than it was
 * the last time, or a second; for the drain thread. After a millisecond it is up to 10 ppm off.
 */
void ct_clock_refine(void);
/* The clocks of two processors may differ by a little: a thread that moved has taken no time then.
 */
static inline uint64_t ct_ticks_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/*
 * What CLOCK_MONOTONIC said when the ticks were taken, which was after the start, to some tens of
 * nanoseconds. For the same ticks it is the same, and for later ones not less, whatever refined the
 * rate in between (of what was minutes ago to what that changed): what is in a trace stays in order.
 */
uint64_t ct_clock_at_ns(uint64_t ticks);

/* A difference of ticks in nanoseconds. */
uint64_t ct_ticks_to_ns(uint64_t ticks);
uint64_t ct_ns_to_ticks(uint64_t ns);

#endif
