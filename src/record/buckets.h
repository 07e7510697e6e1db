/* SPDX-License-Identifier: MIT */
/*
 * Histograms of durations (base/hist.h), which take memory in parts of half an octave, where
 * something was counted: most hold a few octaves and single durations far from them, for each of
 * which a page would be taken otherwise. Of the drain thread; never given back.
 */
#ifndef CT_BUCKETS_H
#define CT_BUCKETS_H

#include "base/base.h"
#include "base/hist.h"

#define CT_BUCKETS_PART (CT_HIST_STEPS / 2)

struct ct_buckets {
    uint32_t *part[CT_HIST_BUCKETS / CT_BUCKETS_PART]; /* NULL: nothing was counted there */
};

/*
 * Counts a duration n times; *b is NULL before the first one. False: there was no memory once, so
 * that the histogram would not be of all operations; it is empty and stays so.
 */
bool ct_buckets_add(struct ct_buckets **b, uint64_t ns, uint64_t n);
void ct_buckets_drop(struct ct_buckets **b);

/* In the child of a fork: what there was is the parent's. */
void ct_buckets_forget(void);

static inline uint32_t ct_buckets_count(const struct ct_buckets *b, uint32_t bucket)
{
    const uint32_t *part = b ? b->part[bucket / CT_BUCKETS_PART] : NULL;
    return part ? part[bucket % CT_BUCKETS_PART] : 0;
}

#endif
