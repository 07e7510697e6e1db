/* SPDX-License-Identifier: MIT */
/* Durations drawn by chance, the same each time, and profiles of kernels with them. */
#ifndef CT_DRAWN_H
#define CT_DRAWN_H

#include <math.h>
#include <stdlib.h>

#include "base/hist.h"
#include "build_file.h"
#include "report/profile/merged_hist.h"

static uint64_t ct_drawn_state; /* a seed */

static inline double ct_drawn_uniform(void)
{
    ct_drawn_state += 0x9e3779b97f4a7c15u;
    uint64_t z = (ct_drawn_state ^ ct_drawn_state >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

/* A long tail to the right, as durations have it. */
static inline uint64_t ct_drawn_ns(double mean_ns)
{
    return (uint64_t)(mean_ns * (0.8 - 0.2 * log(1 - ct_drawn_uniform())));
}

static inline struct ct_merged_hist ct_drawn_hist(const uint64_t *ns, size_t count)
{
    struct ct_merged_hist h = {0};
    for (size_t i = 0; i < count; i++) {
        struct ct_file_bucket bucket = {ct_hist_bucket(ns[i]), 1};
        ct_merged_hist_merge(&h, &bucket, 1);
    }
    return h;
}

/* Returns the index of the row. */
static inline uint32_t ct_drawn_add(struct ct_build *b, const char *name, const uint64_t *ns,
                                    size_t launches, uint64_t doubt_ns)
{
    struct ct_merged_hist h = ct_drawn_hist(ns, launches);
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, name));
    for (size_t i = 0; i < launches; i++)
        ct_build_time(&row, ns[i]);
    row.doubt_ns = doubt_ns * launches;
    for (size_t i = 0; i < h.count; i++) {
        uint32_t at = ct_build_add(b, CT_SECTION_BUCKETS, &h.buckets[i]);
        row.bucket_first = i ? row.bucket_first : at;
    }
    row.bucket_count = (uint32_t)h.count;
    free(h.buckets);
    return ct_build_add(b, CT_SECTION_ROWS, &row);
}

#endif
