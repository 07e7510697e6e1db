/* SPDX-License-Identifier: MIT */
/* Histograms as the page shows them. */
#ifndef CT_PAGE_HISTOGRAM_H
#define CT_PAGE_HISTOGRAM_H

#include <jansson.h>

#include "report/profile/merge.h"

/*
 * {"shift": s, "first": b, "counts": [...]}: buckets of the file, 2^s of them to a bin, from bin b
 * on; s is the least with which so few bins will do that a screen can show them.
 */
json_t *ct_page_histogram(const struct ct_merged_hist *h);

/* The 5th, 50th, 95th and 99th percentile. */
json_t *ct_page_quantiles(const struct ct_merged_hist *h, uint64_t min_ns, uint64_t max_ns);

#endif
