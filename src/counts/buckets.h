/* SPDX-License-Identifier: MIT */
/*
 * Histograms of durations (base/hist.h), which take memory where something was counted: most hold a
 * few octaves, and single durations far from them come for as long as a program runs. Of the drain
 * thread; never given back.
 */
#ifndef CT_BUCKETS_H
#define CT_BUCKETS_H

#include "base/base.h"
#include "base/hist.h"

#define CT_BUCKETS_PART 4                                  /* buckets that come together, */
#define CT_BUCKETS_PARTS (CT_HIST_STEPS / CT_BUCKETS_PART) /* and parts of an octave */

/* NULL: nothing was counted there. */
struct ct_buckets {
    struct ct_buckets_octave {
        uint64_t *part[CT_BUCKETS_PARTS];
    } * octave[CT_HIST_BUCKETS / CT_HIST_STEPS];
};

/*
 * Counts a duration n times; *b is NULL before the first one. False: there was no memory once, so
 * that the histogram would not be of all operations; it is empty and stays so.
 */
bool ct_buckets_add(struct ct_buckets **b, uint64_t ns, uint64_t n);
void ct_buckets_drop(struct ct_buckets **b);

/* In the child of a fork: what there was is the parent's. */
void ct_buckets_forget(void);

static inline uint64_t ct_buckets_count(const struct ct_buckets *b, uint32_t bucket)
{
    const struct ct_buckets_octave *octave = b ? b->octave[bucket / CT_HIST_STEPS] : NULL;
    const uint64_t *part = octave ? octave->part[bucket % CT_HIST_STEPS / CT_BUCKETS_PART] : NULL;
    return part ? part[bucket % CT_BUCKETS_PART] : 0;
}

#endif
