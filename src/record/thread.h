/* SPDX-License-Identifier: MIT */
/*
 * What each thread of the program has of ours: its queue of brackets to the drain thread, its API
 * counters, and where it is in nested calls. Written by that thread, read by the drain thread.
 * A state outlives its thread until the drain thread has emptied it, then serves a new one.
 */
#ifndef CT_THREAD_H
#define CT_THREAD_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/ring.h"
#include "cuda/api.h"
#include "record/context.h"
#include "record/op.h"
#include "record/sample.h"
#include "record/tally.h"

#define CT_THREAD_OPS 2048
#define CT_THREAD_SAMPLES 4096
#define CT_THREAD_DEFAULTS 8 /* contexts whose per-thread default stream is remembered */

/* One cache line for each function a thread calls. Only its thread writes. */
struct ct_api_count {
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t calls;
    _Atomic uint64_t errors;
    _Atomic uint64_t total_ticks;
    _Atomic uint64_t min_ticks; /* 0: no call yet */
    _Atomic uint64_t max_ticks;
};

struct ct_stream;

enum ct_thread_state {
    CT_THREAD_FREE,
    CT_THREAD_LIVE,
    CT_THREAD_ENDED, /* its thread is gone; the drain thread frees it */
};

struct ct_thread {
    struct ct_thread *next; /* all states ever made; never changes */
    uint64_t number;        /* from 1 */
    _Atomic uint32_t state;
    uint32_t driver_depth;  /* inside a driver call: what it calls itself is not the program's */
    uint32_t runtime_depth; /* inside a runtime call: its driver calls are not API rows */
    _Atomic uint64_t off_operations; /* while recording was off */
    struct {
        uint32_t context; /* index + 1 */
        uint32_t stream;
        uint64_t id; /* the entry may have become another stream's */
    } defaults[CT_THREAD_DEFAULTS];
    struct ct_stream *last_stream; /* NULL or the one found last */
    struct ct_event_cache events[CT_CONTEXTS];

    struct ct_tallies tallies;
    struct ct_ring op_ring;
    struct ct_ring sample_ring;
    struct ct_op ops[CT_THREAD_OPS];
    uint64_t samples[CT_THREAD_SAMPLES]; /* api << 48 | ticks */
    struct ct_api_count api[CT_API_COUNT];
    struct ct_sampler sampler;
};

bool ct_threads_init(void);
/* In the child of a fork: nothing of the parent's is touched again. */
void ct_threads_forget(void);

struct ct_thread *ct_threads_first(void);

extern CT_TLS struct ct_thread *ct_thread_current;
CT_COLD struct ct_thread *ct_thread_make(void);

/* The calling thread's state; NULL when memory is out. */
static inline struct ct_thread *ct_thread_self(void)
{
    struct ct_thread *t = ct_thread_current;
    return ct_likely(t != NULL) ? t : ct_thread_make();
}

static inline struct ct_event_cache *ct_thread_events(struct ct_thread *t,
                                                      const struct ct_context *c)
{
    return &t->events[ct_context_index(c)];
}

/* Counts a finished call. A full sample ring costs the histogram a sample, not the counters. */
static inline void ct_thread_count(struct ct_thread *t, uint32_t api, uint64_t ticks, bool failed)
{
    struct ct_api_count *c = &t->api[api];
    ct_count_bump(&c->calls, 1);
    ct_count_bump(&c->total_ticks, ticks);
    uint64_t min = atomic_load_explicit(&c->min_ticks, memory_order_relaxed);
    if (ct_unlikely(ticks < min || !min))
        atomic_store_explicit(&c->min_ticks, ticks ? ticks : 1, memory_order_relaxed);
    if (ct_unlikely(ticks > atomic_load_explicit(&c->max_ticks, memory_order_relaxed)))
        atomic_store_explicit(&c->max_ticks, ticks, memory_order_relaxed);
    if (ct_unlikely(failed))
        ct_count_bump(&c->errors, 1);

    uint32_t i;
    if (ct_likely(ct_ring_reserve(&t->sample_ring, CT_THREAD_SAMPLES, &i))) {
        t->samples[i] = (uint64_t)api << 48 | (ticks & 0xffffffffffff);
        ct_ring_publish(&t->sample_ring);
    }
}

#endif
