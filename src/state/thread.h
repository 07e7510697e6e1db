/* SPDX-License-Identifier: MIT */
/*
 * The library's state of each program thread: its queue of brackets to the drain thread, its API
 * counters, and where it is in nested calls. Written by that thread, read by the drain thread. A
 * state outlives its thread until the drain thread has emptied it, then serves a new one.
 */
#ifndef CT_THREAD_H
#define CT_THREAD_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/ring.h"
#include "cuda/api.h"
#include "state/context.h"
#include "time/op.h"

#define CT_THREAD_OPS 2048
#define CT_THREAD_SAMPLES 4096

/* Bits of a timed call in the ring: ticks, function; then for how many calls it stands, as a
 * power. */
#define CT_SAMPLE_TICKS 48
#define CT_SAMPLE_API 12
_Static_assert(CT_API_COUNT < 1 << CT_SAMPLE_API, "a function's id is too long for a sample");

enum ct_thread_state {
    CT_THREAD_FREE,
    CT_THREAD_LIVE,
    CT_THREAD_ENDED, /* the thread is gone; the drain thread frees its state */
};

/* The newest waits of a thread, in host ticks; 0: there was none. Written by that thread alone. */
struct ct_waited {
    _Atomic uint64_t stream_ticks;
    _Atomic uint32_t stream; /* index; the ticks are 0 while it changes */
    _Atomic uint32_t context;
    _Atomic uint64_t context_ticks;
};

/* Where the work in a pushed range is from, if not from the frame that launches it. */
struct ct_origin {
    uint32_t stack;    /* see stacks.h; 0: not known */
    const void *frame; /* newest one of Python in the thread as the range was opened */
};

/* The call that a thread waits for the GPU in. Written by that thread, before and after. */
struct ct_waiting {
    _Atomic uint32_t call;   /* id of the function, plus one; 0: it waits in none */
    _Atomic uint32_t stream; /* index of the stream that is waited for, plus one; 0: not known */
    _Atomic uint64_t since_ticks;
};

struct ct_api_count;
struct ct_batches;
struct ct_call_log;
struct ct_passes;
struct ct_ranges;
struct ct_sampler;
struct ct_tallies;

struct ct_thread {
    struct ct_thread *next; /* links all states ever made; never changes */
    uint64_t number;        /* from 1 */
    _Atomic uint32_t state;
    _Atomic uint32_t tid;         /* the kernel's number of it */
    atomic_bool is_awake;         /* see awake.h */
    struct ct_thread *next_awake; /* the flag raiser's, then the drain thread's */
    /* Each call writes these; the drain thread reads the members above. */
    _Alignas(CT_CACHE_LINE) uint32_t driver_depth; /* inside a driver call: what it calls itself
                                                      is not the program's */
    uint32_t runtime_depth;  /* inside a runtime call: its driver calls are not API rows */
    uint32_t nccl_depth;     /* inside a call of NCCL: its kernels are that call's */
    uint32_t unmeasured;     /* launches since the cost of passing one by was measured */
    uint64_t waited_ticks;   /* when its last call that waits for the GPU came back; 0: never */
    uint64_t ours_ticks;     /* spent on our own account inside of a runtime call, */
    uint64_t ours_end;       /* until then */
    bool capture_spreads;    /* the call it is in may take a stream into a capture */
    uint64_t correlation;    /* the current or next call's; 0: no trace */
    _Atomic uint32_t range;  /* the range opened last, or CT_RANGE_STALE; 0: none is open */
    struct ct_origin origin; /* that of the range opened last */
    uint32_t name_stack;     /* names the thread: see thread_name.h; 0: not known, or no room */
    uint32_t name_asked;     /* how often that was asked for */
    struct ct_ranges *_Atomic ranges; /* NULL: there never was one */
    struct ct_call_log *_Atomic log;  /* NULL: there is no trace */
    _Atomic uint64_t off_operations;  /* while recording was off */
    struct {
        uint32_t stream;
        uint64_t id;         /* the entry may have become another stream's; 0: there is none */
    } defaults[CT_CONTEXTS]; /* per-thread default streams */
    struct ct_stream *last_stream; /* NULL or the one found last */
    struct ct_event_cache events[CT_CONTEXTS];
    struct ct_waited waited;
    struct ct_waiting waiting;
    /* Made and kept with the state. */
    struct ct_batches *batches; /* batches of NCCL's operations */
    struct ct_tallies *tallies;
    struct ct_passes *passes;
    struct ct_sampler *sampler;
    struct ct_api_count *api; /* for each function: CT_API_COUNT */
    /* A bit for each function that was called: pages of other functions' counters are not read. */
    _Atomic uint64_t called[(CT_API_COUNT + 63) / 64];

    struct ct_ring op_ring;
    struct ct_ring sample_ring;
    struct ct_op ops[CT_THREAD_OPS];
    uint64_t samples[CT_THREAD_SAMPLES];
    /* The drain thread's: when the thread had something new; 0: it has just been woken. */
    _Alignas(CT_CACHE_LINE) uint64_t busy_ns;
};

/* The list of all states; thread_life.c adds to it. */
extern struct ct_thread *_Atomic ct_threads;

static inline struct ct_thread *ct_threads_first(void)
{
    return atomic_load_explicit(&ct_threads, memory_order_acquire);
}

extern CT_TLS struct ct_thread *ct_thread_current;
CT_COLD struct ct_thread *ct_thread_make(void); /* thread_life.c */

/* The calling thread's state; NULL when memory is out. */
static inline struct ct_thread *ct_thread_self(void)
{
    struct ct_thread *t = ct_thread_current;
    return ct_likely(t != NULL) ? t : ct_thread_make();
}

static inline void ct_thread_waits(struct ct_thread *t, uint32_t call, uint64_t now_ticks)
{
    atomic_store_explicit(&t->waiting.stream, 0, memory_order_relaxed);
    atomic_store_explicit(&t->waiting.since_ticks, now_ticks, memory_order_relaxed);
    atomic_store_explicit(&t->waiting.call, call + 1, memory_order_release);
}

static inline void ct_thread_waits_no_more(struct ct_thread *t)
{
    atomic_store_explicit(&t->waiting.call, 0, memory_order_relaxed);
}

static inline struct ct_event_cache *ct_thread_events(struct ct_thread *t,
                                                      const struct ct_context *c)
{
    return &t->events[ct_context_index(c)];
}

#endif
