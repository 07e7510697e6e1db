/* SPDX-License-Identifier: MIT */
#include "page/histogram.h"

#include "page/json.h"
#include "report/profile/merged_hist.h"

#define MOST_BINS 256

json_t *ct_page_histogram(const struct ct_merged_hist *h)
{
    json_t *to = ct_json_object(), *counts = ct_json_array();
    unsigned shift = 0;
    uint64_t first = h->buckets[0].bucket, last = h->buckets[h->count - 1].bucket;
    while ((last >> shift) - (first >> shift) >= MOST_BINS)
        shift++;
    uint64_t bin = first >> shift, count = 0;
    for (size_t i = 0; i < h->count; i++) {
        for (; bin < h->buckets[i].bucket >> shift; bin++) {
            ct_json_append_count(counts, count);
            count = 0;
        }
        ct_merge_add_to(&count, h->buckets[i].count);
    }
    ct_json_append_count(counts, count);
    ct_json_count(to, "shift", shift);
    ct_json_count(to, "first", first >> shift);
    ct_json_set(to, "counts", counts);
    return to;
}

json_t *ct_page_quantiles(const struct ct_merged_hist *h, uint64_t min_ns, uint64_t max_ns)
{
    static const double shares[] = {0.05, 0.5, 0.95, 0.99};
    json_t *to = ct_json_array();
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
        ct_json_append_count(to, ct_merged_hist_quantile(h, shares[i], min_ns, max_ns));
    return to;
}
