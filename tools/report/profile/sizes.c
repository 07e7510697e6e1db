/* SPDX-License-Identifier: MIT */
#include "report/profile/sizes.h"

#include <stdlib.h>

#include "report/profile/merged_hist.h"

void ct_sizes_add(struct ct_merged_sizes *s, uint64_t bytes, uint64_t n)
{
    double each = (double)bytes, count = (double)n;
    ct_merge_widen(&s->min_bytes, &s->max_bytes, !s->count, bytes, bytes);
    ct_merge_add_to(&s->count, n);
    s->total_bytes += each * count;
    s->square_bytes2 += each * each * count;
    ct_merged_hist_add(&s->hist, bytes, n);
}

void ct_sizes_merge(struct ct_merged_sizes **to, const struct ct_merged_sizes *from)
{
    if (!from || !from->count)
        return;
    if (!*to)
        *to = ct_memory_array(1, sizeof(**to));
    struct ct_merged_sizes *s = *to;
    ct_merge_widen(&s->min_bytes, &s->max_bytes, !s->count, from->min_bytes, from->max_bytes);
    ct_merge_add_to(&s->count, from->count);
    s->total_bytes += from->total_bytes;
    s->square_bytes2 += from->square_bytes2;
    ct_merged_hist_merge(&s->hist, from->hist.buckets, from->hist.count);
}

void ct_sizes_free(struct ct_merged_sizes *s)
{
    if (s)
        free(s->hist.buckets);
    free(s);
}
