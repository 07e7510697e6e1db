/* SPDX-License-Identifier: MIT */
/*
 * Histograms of durations (base/hist.h) with memory for the buckets in use alone: most hold a few
 * octaves, and single durations far from these come for as long as a program runs. The drain thread
 * owns them and never gives memory back.
 */
#ifndef CT_BUCKETS_H
#define CT_BUCKETS_H

#include "base/base.h"
#include "base/hist.h"

#define CT_BUCKETS_PART 4                                  /* buckets that get memory together */
#define CT_BUCKETS_PARTS (CT_HIST_STEPS / CT_BUCKETS_PART) /* such parts of an octave */

/* NULL: nothing was counted there. */
struct ct_buckets {
    struct ct_buckets_octave {
        uint64_t *part[CT_BUCKETS_PARTS];
    } * octave[CT_HIST_BUCKETS / CT_HIST_STEPS];
};

/*
 * Counts a duration n times; *b is NULL before the first one. False: memory was out once, so that
 * the histogram would lack operations; *b is empty from then on.
 */
bool ct_buckets_add(struct ct_buckets **b, uint64_t ns, uint64_t n);
void ct_buckets_drop(struct ct_buckets **b);

static inline uint64_t ct_buckets_count(const struct ct_buckets *b, uint32_t bucket)
{
    const struct ct_buckets_octave *octave = b ? b->octave[bucket / CT_HIST_STEPS] : NULL;
    const uint64_t *part = octave ? octave->part[bucket % CT_HIST_STEPS / CT_BUCKETS_PART] : NULL;
    return part ? part[bucket % CT_BUCKETS_PART] : 0;
}

#endif
