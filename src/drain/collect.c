/* SPDX-License-Identifier: MIT */
#include "drain/collect.h"

#include "counts/pass.h"
#include "counts/range.h"
#include "counts/sample.h"
#include "counts/tally.h"
#include "drain/api_stats.h"
#include "drain/harvest.h"
#include "drain/range_sums.h"
#include "drain/tracing.h"
#include "managed/unified.h"
#include "state/active_threads.h"
#include "state/thread.h"

/* A thread without news is looked at each round for so long, then in turn, so many at a time. */
#define IDLE_NS 200000000u
#define TURN 16

static bool collect(struct ct_thread *t, bool passed)
{
    bool any = ct_api_stats_collect(t);
    any |= ct_harvest_collect(t);
    any |= ct_tracing_collect(t);
    any |= ct_ranges_collect(t);
    any |= ct_tallies_collect(t->tallies);
    if (passed)
        any |= ct_passes_collect(t->passes);
    return any;
}

static void sum_up(struct ct_thread *t)
{
    ct_api_stats_sum_up(t);
    ct_cells_sum_up(t->sampler);
}

/* Takes records that came before the flag went down; the events are for threads that launch. */
static void let_doze(struct ct_thread **at)
{
    struct ct_thread *t = *at;
    ct_active_threads_doze(at);
    collect(t, true);
    sum_up(t);
    ct_contexts_take_back(t->events);
}

/* Frees the state of an ended thread for another one, which wakes up as any other. */
static void retire(struct ct_thread **at)
{
    struct ct_thread *t = *at;
    ct_active_threads_doze(at);
    collect(t, true);
    ct_cells_sum_up(t->sampler);
    ct_api_stats_retire(t);
    atomic_store_explicit(&t->state, CT_THREAD_FREE, memory_order_release);
}

static bool is_ended(struct ct_thread *t)
{
    return atomic_load_explicit(&t->state, memory_order_acquire) == CT_THREAD_ENDED;
}

static bool collect_awake(uint64_t now_ns, bool passed)
{
    bool any = false;
    struct ct_thread *t;
    for (struct ct_thread **at = ct_active_threads(); (t = *at);) {
        bool some = collect(t, passed);
        any |= some;
        if (some || !t->busy_ns)
            t->busy_ns = now_ns;
        if (is_ended(t))
            retire(at);
        else if (now_ns - t->busy_ns >= IDLE_NS)
            let_doze(at);
        else
            at = &t->next_awake;
    }
    return any;
}

/* Finds dozing threads with news, such as were in a call when they were left alone. */
static bool collect_in_turn(void)
{
    bool any = false;
    struct ct_thread *t;
    for (unsigned i = 0; i < TURN && (t = ct_active_threads_in_turn()); i++) {
        bool some = collect(t, false);
        any |= some;
        if (some || is_ended(t))
            ct_thread_wake(t);
    }
    return any;
}

/* A launch lacks events: even threads that launch give back those that they do not use yet. */
static void take_events_back(void)
{
    for (struct ct_thread *t = *ct_active_threads(); t; t = t->next_awake)
        ct_contexts_take_back(t->events);
}

bool ct_collect(uint64_t now_ns, bool passed)
{
    bool any = ct_unified_collect();
    any |= collect_awake(now_ns, passed);
    if (passed)
        any |= collect_in_turn();
    if (ct_unlikely(ct_contexts_lack_events()))
        take_events_back();
    return any;
}

bool ct_collect_all(void)
{
    bool any = ct_unified_collect();
    for (struct ct_thread *t = ct_threads_first(); t; t = t->next)
        any |= collect(t, true);
    return any;
}

void ct_collect_counts(void)
{
    for (struct ct_thread *t = ct_threads_first(); t; t = t->next)
        sum_up(t);
}
