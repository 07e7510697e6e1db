/* SPDX-License-Identifier: MIT */
#include "drain/api_stats.h"

#include "counts/api_count.h"
#include "state/active_threads.h"
#include "state/thread.h"
#include "system/clock.h"
#include "system/mem.h"

struct sums {
    struct ct_api_sums sums;
    uint64_t min_ticks;
    uint64_t max_ticks;
};

struct all_stats {
    struct ct_api_stats api[CT_API_COUNT];
    struct sums sums[CT_API_COUNT];
};

static CT_PROCESS struct all_stats *all;
static uint64_t collected; /* samples so far, */
static uint64_t counted;   /* and calls that these stand for */

bool ct_api_stats_init(void)
{
    struct all_stats *a = ct_map(sizeof(*a));
    all = a;
    return a != NULL;
}

struct ct_api_stats *ct_api_stats(uint32_t api)
{
    return &all->api[api];
}

static void add_sample(struct ct_api_stats *s, uint64_t ns, uint32_t stands_for)
{
    uint32_t bucket = ct_hist_bucket(ns);
    s->first = s->sampled ? ct_min(s->first, bucket) : bucket;
    s->last = ct_max(s->last, bucket);
    s->sampled += stands_for;
    s->square_ns2 += (double)ns * (double)ns * stands_for;
    ct_buckets_add(&s->buckets, ns, stands_for);
}

bool ct_api_stats_collect(struct ct_thread *t)
{
    uint32_t first;
    uint32_t n = ct_ring_waiting(&t->sample_ring, CT_THREAD_SAMPLES, &first);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t sample = t->samples[(first + i) % CT_THREAD_SAMPLES];
        uint64_t ticks = sample & (((uint64_t)1 << CT_SAMPLE_TICKS) - 1);
        uint32_t api = sample >> CT_SAMPLE_TICKS & ((1u << CT_SAMPLE_API) - 1);
        uint32_t stands_for = 1u << (sample >> (CT_SAMPLE_TICKS + CT_SAMPLE_API));
        add_sample(&all->api[api], ct_ticks_to_ns(ticks), stands_for);
        counted += stands_for;
    }
    ct_ring_consume(&t->sample_ring, n);
    collected += n;
    return n != 0;
}

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Calls that were timed for certain stand for themselves, the drawn ones for all others. */
static struct ct_api_sums sums_of(struct ct_api_count *c)
{
    uint64_t sure = get(&c->sure), drawn = get(&c->drawn), others = drawn + get(&c->untimed);
    uint64_t stands_for = get(&c->stands_for);
    double mean = stands_for ? (double)get(&c->drawn_ticks) / (double)stands_for
                  : sure     ? (double)get(&c->sure_ticks) / (double)sure
                             : 0;
    return (struct ct_api_sums){
        .calls = sure + others,
        .timed = sure + drawn,
        .errors = get(&c->errors),
        .total_ticks = get(&c->sure_ticks) + (uint64_t)(mean * (double)others),
    };
}

/* Adds new counts. An estimate may have become less: sums wrap, and come out right. */
static void sum_up(uint32_t api, struct ct_api_count *c)
{
    struct sums *s = &all->sums[api];
    uint64_t calls = get(&c->sure) + get(&c->drawn) + get(&c->untimed);
    if (ct_likely(calls == c->sums.calls && get(&c->errors) == c->sums.errors))
        return;
    struct ct_api_sums now = sums_of(c);
    uint64_t min = get(&c->min_ticks);
    s->min_ticks = s->sums.calls ? ct_min(s->min_ticks, min) : min;
    s->max_ticks = ct_max(s->max_ticks, get(&c->max_ticks));
    s->sums.calls += now.calls - c->sums.calls;
    s->sums.timed += now.timed - c->sums.timed;
    s->sums.errors += now.errors - c->sums.errors;
    s->sums.total_ticks += now.total_ticks - c->sums.total_ticks;
    c->sums = now;
}

static void clear(struct ct_api_count *c)
{
    _Atomic uint64_t *const counters[] = {
        &c->untimed, &c->sure,  &c->sure_ticks,  &c->min_ticks,  &c->max_ticks,
        &c->errors,  &c->drawn, &c->drawn_ticks, &c->stands_for,
    };
    for (unsigned i = 0; i < ct_countof(counters); i++)
        atomic_store_explicit(counters[i], 0, memory_order_relaxed);
    c->left = c->shift = c->brief = 0;
    c->last_ticks = c->seen_untimed = 0;
    c->sums = (struct ct_api_sums){0};
}

static void for_each_called(struct ct_thread *t, void (*act)(uint32_t id, struct ct_api_count *c))
{
    for (uint32_t i = 0; i < ct_countof(t->called); i++) {
        uint64_t called = atomic_load_explicit(&t->called[i], memory_order_acquire);
        for (; called; called &= called - 1) {
            uint32_t id = i * 64 + (uint32_t)__builtin_ctzll(called);
            act(id, &t->api[id]);
        }
    }
}

void ct_api_stats_sum_up(struct ct_thread *t)
{
    for_each_called(t, sum_up);
}

void ct_api_stats_sum_up_awake(void)
{
    for (struct ct_thread *t = *ct_active_threads(); t; t = t->next_awake)
        ct_api_stats_sum_up(t);
}

static void sum_up_and_clear(uint32_t id, struct ct_api_count *c)
{
    sum_up(id, c);
    clear(c);
}

void ct_api_stats_retire(struct ct_thread *t)
{
    for_each_called(t, sum_up_and_clear);
    for (uint32_t i = 0; i < ct_countof(t->called); i++)
        atomic_store_explicit(&t->called[i], 0, memory_order_relaxed);
}

uint64_t ct_api_stats_collected(void)
{
    return collected;
}

uint64_t ct_api_stats_counted(void)
{
    return counted;
}

struct ct_api_totals ct_api_totals(uint32_t api)
{
    const struct sums *s = &all->sums[api];
    return (struct ct_api_totals){.calls = s->sums.calls,
                                  .timed = s->sums.timed,
                                  .errors = s->sums.errors,
                                  .total_ns = ct_ticks_to_ns(s->sums.total_ticks),
                                  .min_ns = ct_ticks_to_ns(s->min_ticks),
                                  .max_ns = ct_ticks_to_ns(s->max_ticks)};
}
