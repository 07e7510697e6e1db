/* SPDX-License-Identifier: MIT */
#include "report/profile/merged_hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"

static int by_bucket(const void *a, const void *b)
{
    const struct ct_file_bucket *x = a, *y = b;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

static bool in_order(const struct ct_file_bucket *b, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (b[i - 1].bucket >= b[i].bucket)
            return false;
    return true;
}

/* How many of the new buckets the histogram does not have; both are in order. */
static size_t count_new(const struct ct_merged_hist *h, const struct ct_file_bucket *b, size_t n)
{
    size_t fresh = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        while (at < h->count && h->buckets[at].bucket < b[i].bucket)
            at++;
        fresh += at == h->count || h->buckets[at].bucket != b[i].bucket;
    }
    return fresh;
}

/* Buckets are moved from the end, so that none is overwritten before its move. */
static void merge_ordered(struct ct_merged_hist *h, const struct ct_file_bucket *b, size_t n)
{
    size_t old = h->count, to = old + count_new(h, b, n);
    h->buckets = ct_memory_grow(h->buckets, &h->size, to, sizeof(*b));
    h->count = to;
    while (n) {
        if (old && h->buckets[old - 1].bucket > b[n - 1].bucket) {
            h->buckets[--to] = h->buckets[--old];
        } else if (old && h->buckets[old - 1].bucket == b[n - 1].bucket) {
            h->buckets[--to] = h->buckets[--old];
            ct_merge_add_to(&h->buckets[to].count, b[--n].count);
        } else {
            h->buckets[--to] = b[--n];
        }
    }
}

/* Only a strange file has its buckets out of order or twice. */
static void merge_unordered(struct ct_merged_hist *h, const struct ct_file_bucket *b, size_t n)
{
    struct ct_file_bucket *sorted = ct_memory_copy(b, n * sizeof(*b));
    qsort(sorted, n, sizeof(*sorted), by_bucket);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && sorted[kept - 1].bucket == sorted[i].bucket)
            sorted[kept - 1].count = ct_merge_sum(sorted[kept - 1].count, sorted[i].count);
        else
            sorted[kept++] = sorted[i];
    }
    merge_ordered(h, sorted, kept);
    free(sorted);
}

void ct_merged_hist_merge(struct ct_merged_hist *h, const struct ct_file_bucket *buckets,
                          size_t count)
{
    if (in_order(buckets, count))
        merge_ordered(h, buckets, count);
    else
        merge_unordered(h, buckets, count);
}

/* The first bucket that is not before this one. */
static size_t find(const struct ct_merged_hist *h, uint64_t bucket)
{
    size_t from = 0, to = h->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (h->buckets[middle].bucket < bucket)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

void ct_merged_hist_add(struct ct_merged_hist *h, uint64_t ns, uint64_t n)
{
    struct ct_file_bucket bucket = {ct_hist_bucket(ns), n};
    size_t at = find(h, bucket.bucket);
    if (at < h->count && h->buckets[at].bucket == bucket.bucket)
        ct_merge_add_to(&h->buckets[at].count, n);
    else
        merge_ordered(h, &bucket, 1);
}

static uint64_t clamp(uint64_t ns, uint64_t min_ns, uint64_t max_ns)
{
    if (ns > max_ns)
        return max_ns;
    return ns < min_ns ? min_ns : ns;
}

/* The next bucket that has something in it; h->count: none has. */
static size_t next_full(const struct ct_merged_hist *h, size_t i)
{
    while (i < h->count && !h->buckets[i].count)
        i++;
    return i;
}

uint64_t ct_merged_hist_quantile(const struct ct_merged_hist *h, double share, uint64_t min_ns,
                                 uint64_t max_ns)
{
    double all = 0, seen = 0;
    for (size_t i = 0; i < h->count; i++)
        all += (double)h->buckets[i].count;
    for (size_t i = next_full(h, 0); i < h->count; i = next_full(h, i + 1)) {
        seen += (double)h->buckets[i].count;
        if (seen < all * share)
            continue;
        uint64_t ns = clamp(ct_hist_middle((uint32_t)h->buckets[i].bucket), min_ns, max_ns);
        size_t next = next_full(h, i + 1);
        if (share != 0.5 || seen > all * share || next == h->count)
            return ns;
        uint64_t more = clamp(ct_hist_middle((uint32_t)h->buckets[next].bucket), min_ns, max_ns);
        return ns + (more - ns) / 2;
    }
    return 0;
}

double ct_merged_hist_deviation(double n, double total_ns, double square_ns2)
{
    if (n < 2)
        return 0;
    double mean = total_ns / n;
    double variance = (square_ns2 - mean * total_ns) / (n - 1);
    return variance > 0 ? sqrt(variance) : 0;
}
