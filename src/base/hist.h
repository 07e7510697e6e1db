/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram of durations in nanoseconds, shared by library and tools.
 * Below 128 ns a bucket is one nanosecond; above, 128 buckets an octave: a bucket is at most
 * 1/128 of its value wide, so its middle is within 0.4 % of every value in it.
 */
#ifndef CT_HIST_H
#define CT_HIST_H

#include <stdint.h>

#define CT_HIST_STEPS 128u
#define CT_HIST_SHIFT 7
#define CT_HIST_OCTAVES 36 /* the last bucket starts just below 2^43 ns, two hours */
#define CT_HIST_BUCKETS (CT_HIST_STEPS * (CT_HIST_OCTAVES + 1))

/* Bucket of a duration; longer ones than the last bucket's are counted in it. */
static inline uint32_t ct_hist_bucket(uint64_t ns)
{
    if (ns < CT_HIST_STEPS)
        return (uint32_t)ns;
    uint32_t shift = (uint32_t)(63 - __builtin_clzll(ns)) - CT_HIST_SHIFT;
    if (shift >= CT_HIST_OCTAVES)
        return CT_HIST_BUCKETS - 1;
    return CT_HIST_STEPS * (shift + 1) + (uint32_t)(ns >> shift) - CT_HIST_STEPS;
}

/* Middle of a bucket in nanoseconds. */
static inline uint64_t ct_hist_middle(uint32_t bucket)
{
    if (bucket < CT_HIST_STEPS)
        return bucket;
    uint32_t shift = bucket / CT_HIST_STEPS - 1;
    uint64_t low = (uint64_t)(bucket % CT_HIST_STEPS + CT_HIST_STEPS) << shift;
    return low + (((uint64_t)1 << shift) >> 1);
}

#endif
