/* SPDX-License-Identifier: MIT */
#include "record/api_stats.h"

#include "base/clock.h"
#include "base/hist.h"
#include "base/mem.h"
#include "record/thread.h"

/* Plain sums in ticks. */
struct sums {
    uint64_t calls;
    uint64_t errors;
    uint64_t total;
    uint64_t min;
    uint64_t max;
};

struct all_stats {
    struct ct_api_stats api[CT_API_COUNT];
    struct sums retired[CT_API_COUNT];
};

static struct all_stats *all;

bool ct_api_stats_init(void)
{
    struct all_stats *a = ct_map(sizeof(*a));
    all = a;
    return a != NULL;
}

void ct_api_stats_forget(void)
{
    all = NULL;
}

const struct ct_api_stats *ct_api_stats(uint32_t api)
{
    return &all->api[api];
}

static void add_sample(struct ct_api_stats *s, uint64_t ns)
{
    s->sampled++;
    s->square_ns2 += (double)ns * (double)ns;
    if (!s->buckets)
        s->buckets = ct_map(sizeof(uint32_t) * CT_HIST_BUCKETS);
    if (s->buckets)
        s->buckets[ct_hist_bucket(ns)]++;
}

bool ct_api_stats_collect(struct ct_thread *t)
{
    uint32_t first;
    uint32_t n = ct_ring_waiting(&t->sample_ring, CT_THREAD_SAMPLES, &first);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t sample = t->samples[(first + i) % CT_THREAD_SAMPLES];
        add_sample(&all->api[sample >> 48], ct_ticks_to_ns(sample & 0xffffffffffff));
    }
    ct_ring_consume(&t->sample_ring, n);
    return n != 0;
}

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add(struct sums *s, uint64_t calls, uint64_t errors, uint64_t total, uint64_t min,
                uint64_t max)
{
    s->min = s->calls ? ct_min(s->min, min) : min;
    s->max = ct_max(s->max, max);
    s->calls += calls;
    s->errors += errors;
    s->total += total;
}

static void add_thread(struct sums *s, struct ct_api_count *c)
{
    uint64_t calls = get(&c->calls);
    if (calls)
        add(s, calls, get(&c->errors), get(&c->total_ticks), get(&c->min_ticks),
            get(&c->max_ticks));
}

void ct_api_stats_retire(struct ct_thread *t)
{
    for (uint32_t id = 0; id < CT_API_COUNT; id++) {
        struct ct_api_count *c = &t->api[id];
        if (!get(&c->calls))
            continue;
        add_thread(&all->retired[id], c);
        atomic_store_explicit(&c->calls, 0, memory_order_relaxed);
        atomic_store_explicit(&c->errors, 0, memory_order_relaxed);
        atomic_store_explicit(&c->total_ticks, 0, memory_order_relaxed);
        atomic_store_explicit(&c->min_ticks, 0, memory_order_relaxed);
        atomic_store_explicit(&c->max_ticks, 0, memory_order_relaxed);
    }
}

struct ct_api_totals ct_api_totals(uint32_t api)
{
    struct sums s = all->retired[api];
    for (struct ct_thread *t = ct_threads_first(); t; t = t->next)
        add_thread(&s, &t->api[api]);
    return (struct ct_api_totals){s.calls, s.errors, ct_ticks_to_ns(s.total),
                                  ct_ticks_to_ns(s.min), ct_ticks_to_ns(s.max)};
}
