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
#include "state/api_count.h"
#include "state/call_log.h"
#include "state/collective.h"
#include "state/context.h"
#include "state/pass.h"
#include "state/range.h"
#include "state/sample.h"
#include "state/tally.h"
#include "state/waited.h"
#include "time/op.h"

#define CT_THREAD_OPS 2048
#define CT_THREAD_SAMPLES 4096

/* A timed call in the ring of samples: its ticks, function, and for how many it stands, as a power.
 */
#define CT_SAMPLE_TICKS 48
#define CT_SAMPLE_API 12
_Static_assert(CT_API_COUNT < 1 << CT_SAMPLE_API, "a function's id is too long for a sample");

enum ct_thread_state {
    CT_THREAD_FREE,
    CT_THREAD_LIVE,
    CT_THREAD_ENDED, /* its thread is gone; the drain thread frees it */
};

struct ct_thread {
    struct ct_thread *next; /* all states ever made; never changes */
    uint64_t number;        /* from 1 */
    _Atomic uint32_t state;
    atomic_bool is_awake;         /* see awake.h */
    struct ct_thread *next_awake; /* of the thread that raises the flag, then of the drain thread */
    /* Each call writes these; the drain thread reads what is above. */
    _Alignas(CT_CACHE_LINE) uint32_t driver_depth; /* inside a driver call: what it calls itself
                                                      is not the program's */
    uint32_t runtime_depth; /* inside a runtime call: its driver calls are not API rows */
    uint32_t nccl_depth;    /* inside a call of NCCL: its kernels are that call's */
    uint32_t unmeasured;    /* launches since it was measured what it costs that one goes by */
    uint64_t waited_ticks;  /* when it last came back from a call that waits for the GPU; 0 */
    uint64_t ours_ticks;    /* spent on our own account inside of a runtime call, */
    uint64_t ours_end;      /* until then */
    bool capture_spreads;   /* the call it is in may take a stream into a capture */
    uint64_t correlation;   /* of the call that is being made, or comes next; 0: no trace */
    _Atomic uint32_t range; /* the last one open, or CT_RANGE_STALE; 0: there is none */
    struct ct_ranges *_Atomic ranges; /* NULL: there never was one */
    struct ct_call_log *_Atomic log;  /* NULL: there is no trace */
    _Atomic uint64_t off_operations;  /* while recording was off */
    struct {
        uint32_t stream;
        uint64_t id;         /* the entry may have become another stream's; 0: there is none */
    } defaults[CT_CONTEXTS]; /* per-thread default streams */
    struct ct_stream *last_stream; /* NULL or the one found last */
    struct ct_batches batches;     /* of NCCL's operations */
    struct ct_event_cache events[CT_CONTEXTS];
    struct ct_waited waited;

    struct ct_tallies tallies;
    struct ct_ring op_ring;
    struct ct_ring sample_ring;
    struct ct_op ops[CT_THREAD_OPS];
    uint64_t samples[CT_THREAD_SAMPLES];
    struct ct_api_count api[CT_API_COUNT];
    struct ct_passes passes;
    struct ct_sampler sampler;
    /* The drain thread's: when there was something new; 0: it has just come to be looked at. */
    _Alignas(CT_CACHE_LINE) uint64_t busy_ns;
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

/* The range that an operation belongs to; 0: none. */
static inline uint32_t ct_thread_range(struct ct_thread *t)
{
    uint32_t range = atomic_load_explicit(&t->range, memory_order_relaxed);
    return ct_unlikely(range == CT_RANGE_STALE) ? ct_range_renew(t) : range;
}

/* One that was timed. A full ring of samples costs the histogram a sample, not the counters. */
void ct_thread_count_timed(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                           uint64_t done_ticks);

/* One that failed, or is in a trace. Not marked cold: gcc 12 would have the wrappers' ends be cold,
 * too. */
CT_NOINLINE void ct_thread_count_further(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                                         uint64_t done_ticks, bool failed, int32_t result);

/*
 * Counts a finished call. `due`: it was timed, with these ticks before and after it; in a trace all
 * are. `result`: 0 if it has none.
 */
CT_INLINE void ct_thread_count(struct ct_thread *t, uint32_t api, bool due, uint64_t call_ticks,
                               uint64_t done_ticks, bool failed, int32_t result)
{
    if (due)
        ct_thread_count_timed(t, api, call_ticks, done_ticks);
    else
        ct_count_bump(&t->api[api].untimed, 1);
    if (ct_unlikely(failed || t->correlation))
        ct_thread_count_further(t, api, call_ticks, done_ticks, failed, result);
}

#endif
