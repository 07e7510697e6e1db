/* SPDX-License-Identifier: MIT */
/* States of threads: two are added at once while the drain thread goes through them. */
#include "record/thread.c"

#include "collector.h"
#include "record/api_stats.h"
#include "record/buckets.h"
#include "subjects.h"

#define API 3

static void **own(void)
{
    return (void **)&ct_thread_current;
}

static void begin(void)
{
    ct_threads_forget();
    ct_threads_init();
    ct_api_stats_init();
    ct_buckets_forget();
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

const struct model subject_threads[] = {
    {"threads: two begin", begin, {work, work, collect}, none_is_missing, own},
    {0},
};
