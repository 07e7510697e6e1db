/* SPDX-License-Identifier: MIT */
#include "counts/api_call.h"

#include "base/count.h"
#include "counts/api_count.h"
#include "counts/call_log.h"
#include "counts/range.h"
#include "counts/sample.h"
#include "system/clock.h"

static void add_sample(struct ct_thread *t, uint32_t api, uint32_t shift, uint64_t ticks)
{
    uint32_t i;
    uint64_t most = ((uint64_t)1 << CT_SAMPLE_TICKS) - 1;
    if (ct_unlikely(!ct_ring_reserve(&t->sample_ring, CT_THREAD_SAMPLES, &i)))
        return;
    t->samples[i] = ((uint64_t)shift << CT_SAMPLE_API | api) << CT_SAMPLE_TICKS | (ticks & most);
    ct_ring_publish(&t->sample_ring);
}

/* Ticks of a finished call that the library spent on its own account (witness.c). */
static CT_COLD uint64_t take_ours(struct ct_thread *t, uint64_t call_ticks, uint64_t done_ticks)
{
    bool is_in_it = call_ticks < t->ours_end && t->ours_end <= done_ticks;
    uint64_t ticks = is_in_it ? ct_min(t->ours_ticks, done_ticks - call_ticks) : 0;
    t->ours_ticks = 0;
    return ticks;
}

/* Without a budget all calls in ranges are timed, and each stands for itself. */
static CT_NOINLINE void count_in_range_and_draw(struct ct_thread *t, uint32_t api, uint64_t ticks,
                                                uint64_t done_ticks)
{
    struct ct_api_count *c = &t->api[api];
    uint32_t range = ct_thread_range(t);
    bool is_drawn = !range || ct_api_has_budget();
    if (range)
        ct_range_count_call(t, range, api, ticks, is_drawn ? c->shift : 0);
    if (is_drawn && atomic_load_explicit(&ct_api_interval_ticks, memory_order_relaxed))
        ct_api_draw(c, api, ticks, done_ticks, &t->sampler->random);
}

/* The first call of a function in a thread is always timed, and comes here. */
static CT_COLD void mark_called(struct ct_thread *t, uint32_t api)
{
    _Atomic uint64_t *word = &t->called[api / 64];
    uint64_t marked = atomic_load_explicit(word, memory_order_relaxed) | (uint64_t)1 << api % 64;
    atomic_store_explicit(word, marked, memory_order_release);
}

void ct_thread_count_timed(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                           uint64_t done_ticks)
{
    struct ct_api_count *c = &t->api[api];
    uint64_t ticks = ct_ticks_between(call_ticks, done_ticks);
    if (ct_unlikely(t->ours_ticks))
        ticks -= take_ours(t, call_ticks, done_ticks);
    uint32_t range = atomic_load_explicit(&t->range, memory_order_relaxed), shift = c->shift;
    if (ct_unlikely(range) && !ct_api_has_budget())
        shift = 0;
    if (ct_unlikely(ct_api_add(c, ticks, shift)))
        mark_called(t, api);
    add_sample(t, api, shift, ticks);
    if (ct_unlikely(range || c->brief != CT_API_ALWAYS))
        count_in_range_and_draw(t, api, ticks, done_ticks);
}

CT_NOINLINE void ct_thread_count_further(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                                         uint64_t done_ticks, bool failed, int32_t result)
{
    if (failed)
        ct_count_bump(&t->api[api].errors, 1);
    if (t->correlation)
        ct_call_log_add(t, api, call_ticks, done_ticks, result);
}
