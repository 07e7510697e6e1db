/* SPDX-License-Identifier: MIT */
/*
 * Host time. Launch paths take ticks (the time stamp counter, a few nanoseconds); slower code turns
 * ticks into nanoseconds of CLOCK_MONOTONIC with a rate that gets better as the process runs.
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
 * Measures the rate over the whole time since the start, once that is an eighth longer than at the
 * last time, or a second; for the drain thread. After a millisecond the rate is up to 10 ppm off.
 */
void ct_clock_refine(void);
/* Processors' clocks may differ by a little: an end before its start counts as no time. */
static inline uint64_t ct_ticks_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/*
 * CLOCK_MONOTONIC in ns at the ticks, to some tens of nanoseconds; ticks before the start count as
 * the start. Equal ticks give equal times and later ones no earlier time, however the rate is
 * refined in between (to within that, for ticks of minutes ago): a trace stays in order.
 */
uint64_t ct_clock_at_ns(uint64_t ticks);

/* A difference of ticks in nanoseconds. */
uint64_t ct_ticks_to_ns(uint64_t ticks);
uint64_t ct_ns_to_ticks(uint64_t ns);

#endif
