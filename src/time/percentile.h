/* SPDX-License-Identifier: MIT */
/*
 * A percentile of values as they come, none of which is kept: steps up and down, by a sixteenth of
 * where it stands, that keep each other the balance there.
 */
#ifndef CT_PERCENTILE_H
#define CT_PERCENTILE_H

#include "base/base.h"

#define CT_PERCENTILE_STEPS 16
#define CT_PERCENTILE_STEP_LEAST_NS 64

/* Where it stands after one more. Nanoseconds; below 2^57. */
static inline uint64_t ct_percentile_follow(uint64_t at_ns, uint64_t ns, unsigned percent)
{
    uint64_t step_ns = ct_max(at_ns / CT_PERCENTILE_STEPS, CT_PERCENTILE_STEP_LEAST_NS);
    if (ns > at_ns)
        return at_ns + step_ns * percent / 100;
    return at_ns - ct_min(at_ns, step_ns * (100 - percent) / 100);
}

/*
 * Likewise the median, `count` values having come before. Where it begins may be far
 * off: the first ones make larger steps.
 */
static inline uint64_t ct_median_follow(uint64_t at_ns, uint64_t ns, uint64_t count)
{
    uint64_t steps = ct_min(count + 1, CT_PERCENTILE_STEPS);
    uint64_t step_ns = ct_max(at_ns / steps, CT_PERCENTILE_STEP_LEAST_NS / 2);
    if (!count)
        return ns;
    return ns > at_ns ? at_ns + step_ns : at_ns - ct_min(at_ns, step_ns);
}

#endif
