/* SPDX-License-Identifier: MIT */
/* Merged histograms, and their quantiles and deviations. */
#ifndef CT_REPORT_MERGED_HIST_H
#define CT_REPORT_MERGED_HIST_H

#include "report/profile/merge.h"

void ct_merged_hist_merge(struct ct_merged_hist *h, const struct ct_file_bucket *buckets,
                          size_t count);
/* Counts a duration n times. */
void ct_merged_hist_add(struct ct_merged_hist *h, uint64_t ns, uint64_t n);

/*
 * The duration that the given share (0 to 1) of all stays below or at; 0: nothing in it. The median
 * (0.5) of an even number is the mean of the two in the middle.
 */
uint64_t ct_merged_hist_quantile(const struct ct_merged_hist *h, double share, uint64_t min_ns,
                                 uint64_t max_ns);

/* Sample standard deviation of n values; 0 when there are not two. */
double ct_merged_hist_deviation(double n, double total_ns, double square_ns2);

#endif
