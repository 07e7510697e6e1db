/* SPDX-License-Identifier: MIT */
/* States of threads: two are added at once while the drain thread goes through them. */
#include "base/process.h"
#include "state/thread.c"

#include "collector.h"
#include "counts/api_call.h"
#include "counts/buckets.h"
#include "drain/api_stats.h"
#include "launch/thread_life.h"
#include "state/active_threads.h"
#include "subjects.h"

#define API 3

static void **own(void)
{
    return (void **)&ct_thread_current;
}

static void begin(void)
{
    ct_threads_forget();
    ct_process_forget();
    ct_threads_init();
    ct_api_stats_init();
}

static void work(void)
{
    struct ct_thread *t = ct_thread_self();
    ct_thread_count(t, API, true, 5, 10, false, 0);
}

static void collect(void)
{
    collector_collect();
}

/* Each call left a sample. */
static void none_is_missing(void)
{
    collector_collect();
    MODEL_ASSERT(ct_api_stats(API)->sampled == 2);
}

/* ---- a thread dozes while it may be at its next call ---- */

static struct ct_thread one;

static void begin_to_doze(void)
{
    begin();
    one = (struct ct_thread){0};
}

static void wake_up(void)
{
    for (int i = 0; i < 2; i++)
        ct_thread_wake(&one);
}

static void let_it_doze(void)
{
    for (int i = 0; i < 2; i++) {
        struct ct_thread **at = ct_active_threads();
        MODEL_ASSERT(!*at || (*at == &one && !one.next_awake));
        if (*at)
            ct_active_threads_doze(at);
    }
}

/* On the list if its flag is up, once. */
static void it_is_where_it_says(void)
{
    struct ct_thread *t = *ct_active_threads();
    MODEL_ASSERT(atomic_load(&one.is_awake) ? t == &one && !one.next_awake : !t);
}

const struct model subject_threads[] = {
    {"threads: two begin", begin, {work, work, collect}, none_is_missing, own},
    {"threads: one dozes", begin_to_doze, {wake_up, let_it_doze}, it_is_where_it_says, own},
    {0},
};
