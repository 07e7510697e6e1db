/* SPDX-License-Identifier: MIT */
#include "launch/thread_life.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counts/api_count.h"
#include "counts/call_log.h"
#include "counts/pass.h"
#include "counts/range.h"
#include "counts/sample.h"
#include "counts/tally.h"
#include "state/active_threads.h"
#include "state/note.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"
#include "system/mem.h"
#include "work/collective.h"

static const char unseen[] = "A thread had no memory to record in: a call that is not counted";

static pthread_key_t end_key;
static atomic_bool end_key_made;

/*
 * The thread's own streams end with it. Other destructors may still call CUDA after this one: they
 * get a new state, and pthread calls this function again for that.
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

/*
 * Without the key, states would never be used again, and their number would have no bound. Before
 * it is made, its number is that of somebody else's key.
 */
bool ct_threads_init(void)
{
    if (!atomic_load(&end_key_made))
        atomic_store(&end_key_made, pthread_key_create(&end_key, end) == 0);
    return atomic_load(&end_key_made);
}

void ct_threads_forget(void)
{
    ct_thread_current = NULL;
    if (atomic_load(&end_key_made))
        pthread_setspecific(end_key, NULL);
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

/* All parts of a thread's state, in one mapping. */
struct state {
    struct ct_thread thread;
    struct ct_batches batches;
    struct ct_tallies tallies;
    struct ct_api_count api[CT_API_COUNT];
    struct ct_passes passes;
    struct ct_sampler sampler;
};

static struct ct_thread *add(void)
{
    struct state *s = ct_map(sizeof(*s));
    if (!s)
        return NULL;
    struct ct_thread *t = &s->thread;
    t->batches = &s->batches;
    t->tallies = &s->tallies;
    t->api = s->api;
    t->passes = &s->passes;
    t->sampler = &s->sampler;
    atomic_store_explicit(&t->state, CT_THREAD_LIVE, memory_order_relaxed);
    t->next = atomic_load_explicit(&ct_threads, memory_order_acquire);
    do
        t->number = t->next ? t->next->number + 1 : 1;
    while (!atomic_compare_exchange_weak_explicit(&ct_threads, &t->next, t, memory_order_acq_rel,
                                                  memory_order_acquire));
    return t;
}

CT_COLD struct ct_thread *ct_thread_make(void)
{
    int saved_errno = errno;
    struct ct_thread *t = reuse();
    if (!t)
        t = add();
    if (t && (!atomic_load(&end_key_made) || pthread_setspecific(end_key, t))) {
        atomic_store_explicit(&t->state, CT_THREAD_FREE, memory_order_release);
        t = NULL;
    }
    if (!t)
        ct_note(CT_NOTE_WARNING, unseen);
    if (t) {
        t->driver_depth = t->runtime_depth = t->nccl_depth = 0;
        ct_collectives_leave(t);
        t->waited_ticks = t->correlation = t->ours_ticks = 0;
        t->name_asked = 0;
        ct_thread_waits_no_more(t);
        atomic_store_explicit(&t->tid, (uint32_t)syscall(SYS_gettid), memory_order_relaxed);
        if (atomic_load_explicit(&ct_call_log_is_on, memory_order_relaxed))
            ct_call_log_start(t);
        uint64_t seed = (uint64_t)(uintptr_t)t ^ ct_ticks();
        t->sampler->random = seed * 0x9e3779b97f4a7c15u | 1; /* never 0 */
        ct_thread_current = t;
        ct_thread_wake(t);
    }
    errno = saved_errno;
    return t;
}
