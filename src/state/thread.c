/* SPDX-License-Identifier: MIT */
#include "state/thread.h"

#include <errno.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"
#include "state/awake.h"
#include "state/note.h"
#include "state/stream.h"

CT_TLS struct ct_thread *ct_thread_current;

static const char unseen[] = "A thread had no memory to record in: a call that is not counted";

static struct ct_thread *_Atomic first;
static pthread_key_t end_key;
static atomic_bool end_key_made;

/*
 * The thread's own streams end with it. Other destructors may still call CUDA after this one: they
 * get a new state, and pthread calls this again for it.
 */
static void end(void *state)
{
    struct ct_thread *t = state;
    for (unsigned i = 0; i < CT_CONTEXTS; i++) {
        uint64_t id = t->defaults[i].id;
        if (!id)
            continue;
        if (ct_stream(t->defaults[i].stream)->id == id)
            ct_stream_gone(t->defaults[i].stream);
        t->defaults[i].id = 0;
    }
    ct_contexts_take_back(t->events);
    ct_range_thread_ends(t);
    ct_thread_current = NULL;
    ct_thread_wake(t);
    atomic_store_explicit(&t->state, CT_THREAD_ENDED, memory_order_release);
}

/* Without the key states would never be used again, and would grow in number without a bound. */
bool ct_threads_init(void)
{
    if (!atomic_load(&end_key_made))
        atomic_store(&end_key_made, pthread_key_create(&end_key, end) == 0);
    return atomic_load(&end_key_made);
}

void ct_threads_forget(void)
{
    atomic_store_explicit(&first, NULL, memory_order_relaxed);
    ct_awake_forget();
    ct_thread_current = NULL;
    if (atomic_load(&end_key_made))
        pthread_setspecific(end_key, NULL);
}

struct ct_thread *ct_threads_first(void)
{
    return atomic_load_explicit(&first, memory_order_acquire);
}

static struct ct_thread *reuse(void)
{
    for (struct ct_thread *t = ct_threads_first(); t; t = t->next) {
        uint32_t state = CT_THREAD_FREE;
        if (atomic_compare_exchange_strong_explicit(&t->state, &state, CT_THREAD_LIVE,
                                                    memory_order_acquire, memory_order_relaxed))
            return t;
    }
    return NULL;
}

static struct ct_thread *add(void)
{
    struct ct_thread *t = ct_map(sizeof(*t));
    if (!t)
        return NULL;
    atomic_store_explicit(&t->state, CT_THREAD_LIVE, memory_order_relaxed);
    t->next = atomic_load_explicit(&first, memory_order_acquire);
    do
        t->number = t->next ? t->next->number + 1 : 1;
    while (!atomic_compare_exchange_weak_explicit(&first, &t->next, t, memory_order_acq_rel,
                                                  memory_order_acquire));
    return t;
}

CT_COLD struct ct_thread *ct_thread_make(void)
{
    int saved_errno = errno;
    struct ct_thread *t = reuse();
    if (!t)
        t = add();
    if (t && pthread_setspecific(end_key, t)) {
        atomic_store_explicit(&t->state, CT_THREAD_FREE, memory_order_release);
        t = NULL;
    }
    if (!t)
        ct_note(CT_NOTE_WARNING, unseen);
    if (t) {
        t->driver_depth = t->runtime_depth = t->nccl_depth = 0;
        ct_collectives_leave(t);
        t->waited_ticks = t->correlation = t->ours_ticks = 0;
        if (atomic_load_explicit(&ct_call_log_is_on, memory_order_relaxed))
            ct_call_log_start(t);
        uint64_t seed = (uint64_t)(uintptr_t)t ^ ct_ticks();
        t->sampler.random = seed * 0x9e3779b97f4a7c15u | 1; /* never 0 */
        ct_thread_current = t;
        ct_thread_wake(t);
    }
    errno = saved_errno;
    return t;
}

static void add_sample(struct ct_thread *t, uint32_t api, uint32_t shift, uint64_t ticks)
{
    uint32_t i;
    uint64_t most = ((uint64_t)1 << CT_SAMPLE_TICKS) - 1;
    if (ct_unlikely(!ct_ring_reserve(&t->sample_ring, CT_THREAD_SAMPLES, &i)))
        return;
    t->samples[i] = ((uint64_t)shift << CT_SAMPLE_API | api) << CT_SAMPLE_TICKS | (ticks & most);
    ct_ring_publish(&t->sample_ring);
}

/* In a range, or with a budget. */
static CT_COLD void count_in_range_and_draw(struct ct_thread *t, uint32_t api, uint64_t ticks,
                                            uint64_t done_ticks)
{
    uint32_t range = ct_thread_range(t);
    if (range)
        ct_range_count_call(t, range, api, ticks, t->api[api].shift);
    if (atomic_load_explicit(&ct_api_interval_ticks, memory_order_relaxed))
        ct_api_draw(&t->api[api], done_ticks, &t->sampler.random);
}

/* What of a call that is over was not the program's. */
static CT_COLD uint64_t take_ours(struct ct_thread *t, uint64_t call_ticks, uint64_t done_ticks)
{
    bool is_in_it = call_ticks < t->ours_end && t->ours_end <= done_ticks;
    uint64_t ticks = is_in_it ? ct_min(t->ours_ticks, done_ticks - call_ticks) : 0;
    t->ours_ticks = 0;
    return ticks;
}

void ct_thread_count_timed(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                           uint64_t done_ticks)
{
    struct ct_api_count *c = &t->api[api];
    uint64_t ticks = ct_ticks_between(call_ticks, done_ticks);
    if (ct_unlikely(t->ours_ticks))
        ticks -= take_ours(t, call_ticks, done_ticks);
    uint32_t range = atomic_load_explicit(&t->range, memory_order_relaxed);
    ct_api_add(c, ticks);
    add_sample(t, api, c->shift, ticks);
    if (ct_unlikely(range | atomic_load_explicit(&ct_api_interval_ticks, memory_order_relaxed)))
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
