/* SPDX-License-Identifier: MIT */
/* Sizes of single copies, for rows of which they are known: profiles have only their sum. */
#ifndef CT_REPORT_SIZES_H
#define CT_REPORT_SIZES_H

#include "report/profile/merge.h"

/* All zero at first. */
struct ct_merged_sizes {
    uint64_t count;
    uint64_t min_bytes;
    uint64_t max_bytes;
    double total_bytes;
    double square_bytes2;
    struct ct_merged_hist hist; /* of bytes in place of nanoseconds */
};

/* n of one size. */
void ct_sizes_add(struct ct_merged_sizes *s, uint64_t bytes, uint64_t n);
/* Adds the sizes in `from` to *to, which is made when it is NULL and `from` has any. */
void ct_sizes_merge(struct ct_merged_sizes **to, const struct ct_merged_sizes *from);
void ct_sizes_free(struct ct_merged_sizes *s);

#endif
