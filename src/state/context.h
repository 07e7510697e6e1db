/* SPDX-License-Identifier: MIT */
/*
 * Contexts of the program and their event pools.
 *
 * A context's pointer is no identity: after a reset the same pointer comes back. An entry lives
 * from the first work seen in a context until the context goes; it is used again once its last
 * bracket has been dealt with.
 */
#ifndef CT_CONTEXT_H
#define CT_CONTEXT_H

#include <stdatomic.h>

#include "base/base.h"
#include "cuda/api.h"
#include "cutrace/trace.h"
#include "state/ask.h"
#include "state/event.h"
#include "time/estimate.h"
#include "time/gpu_clock.h"

#define CT_CONTEXTS 256
#define CT_DEVICES 64

enum ct_context_state {
    CT_CONTEXT_FREE,
    CT_CONTEXT_NEW, /* alive; no work of the program was bracketed in it */
    CT_CONTEXT_LIVE,
    CT_CONTEXT_BROKEN, /* alive, but its calls fail: bracket nothing, touch nothing */
    CT_CONTEXT_PAUSED, /* may be about to go: the drain thread stays out */
    CT_CONTEXT_GONE,   /* destroyed; the entry waits for its last users */
};

/* See connections.h. */
struct ct_connections {
    _Alignas(CT_CACHE_LINE) _Atomic uint32_t streams; /* streams that exist, as far as known */
    _Atomic uint32_t at_work;                         /* those at work; followed once shared */
};

/* Each launch reads the first members: none that is often written may lie beside them. */
struct ct_context {
    _Alignas(CT_CACHE_LINE) _Atomic(CUcontext) handle;
    _Atomic uint32_t state;     /* enum ct_context_state */
    _Atomic uint32_t device;    /* index into the devices */
    _Atomic uint32_t users;     /* calibrations under way */
    atomic_bool is_forgotten;   /* gone, and the holder of the round's lock has nothing of it */
    _Atomic uint32_t turns;     /* see ct_stream_take_turn(); odd: the legacy default stream's */
    _Atomic(const char *) name; /* the program's name for it (NVTX); NULL: none */
    struct ct_connections connections;
    struct ct_events events;
    struct ct_gpu_clock clock;
};

struct ct_device {
    CUdevice handle;
    const char *name;
    CUuuid uuid;
    uint64_t memory_bytes;
    uint32_t sm_count;
    uint32_t clock_khz;
    uint32_t compute_major;
    uint32_t compute_minor;
    uint32_t memory_mbs; /* bandwidth of its memory at best, MB/s; 0: not known */
    uint32_t link_mbs;   /* its link's to the host, in one direction */
    uint32_t attribute[CT_TRACE_ATTRIBUTE_COUNT]; /* see struct ct_trace_device */
    _Atomic uint64_t turns;                       /* turns of contexts that have gone */
    const struct ct_calibration *calibration;     /* the drain thread's, or the lock holder's */
};

bool ct_contexts_init(void);

/* Calls into modules above, which set them before the first context is met. NULL: none. */
struct ct_context_hooks {
    bool (*streams_are_idle)(uint32_t context); /* then its entry can serve another context */
    void (*begins)(struct ct_context *c);       /* a new use of an entry, under the lock */
    void (*met)(void);                          /* behind that, in the thread that met it */
};
extern struct ct_context_hooks ct_context_hooks;

/* The entry of a context, made at first sight. NULL: no room, or the driver does not answer. */
struct ct_context *ct_context_get(CUcontext handle);
/* The current context's entry, made at first sight, also while a stream captures; NULL: none. */
struct ct_context *ct_context_current(void);
/* The entry of a context that is alive; NULL: there is none. */
struct ct_context *ct_context_find(CUcontext handle);
bool ct_context_is_alive(const struct ct_context *c);
/* An entry that has gone and is not forgotten; NULL: there is none. */
struct ct_context *ct_context_to_forget(void);

uint32_t ct_devices_count(void);
/* Index of the current context's device; the context need not have an entry. */
uint32_t ct_device_current(void);
const struct ct_device *ct_device(uint32_t index);
/* Index of an existing device, which is described at first sight. */
uint32_t ct_device_index(CUdevice handle);
/* The device's figures have been measured; they stay where they are. */
void ct_device_calibrated(uint32_t index, const struct ct_calibration *figures);

/* The program's name for a device, which need not have been used; NULL: none. Any thread. */
void ct_device_give_name(CUdevice device, const char *name);
const char *ct_device_given_name(CUdevice device);

/* The holder of the round's lock has given events back: now all threads can have them. */
void ct_contexts_flush(void);
/* Empties the cache of a thread that ends or is idle, by index of the context. Any thread. */
void ct_contexts_take_back(struct ct_event_cache cache[CT_CONTEXTS]);
/* Whether some context's events are all in use or kept by threads. */
bool ct_contexts_lack_events(void);

extern struct ct_context *ct_contexts;

static inline struct ct_context *ct_context(uint32_t index)
{
    return &ct_contexts[index];
}

static inline uint32_t ct_context_index(const struct ct_context *c)
{
    return (uint32_t)(c - ct_contexts);
}

static inline CUevent ct_event(const struct ct_context *c, uint32_t index)
{
    return c->events.event[index];
}

/* The thread's current context; NULL: there is none, or the driver does not say. */
static inline CUcontext ct_context_current_handle(void)
{
    CUcontext current = NULL;
    return CT_REAL(cuCtxGetCurrent)(&current) == CUDA_SUCCESS ? current : NULL;
}

/*
 * The drain thread stays out of a context that is being ended, even if its call took so long that
 * nobody waited for it: the state is looked at with the thread already known to be out.
 */
static inline bool ct_context_is_barred(const struct ct_context *c)
{
    uint32_t state = ct_is_drain_thread ? atomic_load(&c->state) : CT_CONTEXT_LIVE;
    return state == CT_CONTEXT_GONE || state == CT_CONTEXT_PAUSED;
}

/* CT_ASK() for a call that belongs to a context. */
#define CT_ASK_IN(c, fn, ...)                                                                      \
    ct_come_back((ct_go_out(CT_ID_##fn), ct_context_is_barred(c))                                  \
                     ? CUDA_ERROR_CONTEXT_IS_DESTROYED                                             \
                     : CT_REAL(fn)(__VA_ARGS__))

/* Attempts at a call that restores the program's own state. */
#define CT_RESTORE_TRIES 3

/*
 * Makes the thread one whose driver calls cannot break a stream capture; pairs with _leave, which
 * puts the program's own mode back. False: the driver refused, and nothing may be asked.
 */
static inline bool ct_relaxed_enter(CUstreamCaptureMode *mode)
{
    *mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return !CT_HAS(cuThreadExchangeStreamCaptureMode) ||
           CT_ASK(cuThreadExchangeStreamCaptureMode, mode) == CUDA_SUCCESS;
}

static inline void ct_relaxed_leave(CUstreamCaptureMode mode)
{
    for (unsigned i = 0; CT_HAS(cuThreadExchangeStreamCaptureMode) && i < CT_RESTORE_TRIES; i++)
        if (CT_ASK(cuThreadExchangeStreamCaptureMode, &mode) == CUDA_SUCCESS)
            return;
}

/*
 * Makes a context the thread's current one; pairs with _leave, which is given the context that was
 * current before. False: the driver refused.
 */
bool ct_context_enter(const struct ct_context *c, CUcontext *before);
void ct_context_leave(const struct ct_context *c, CUcontext before);

#endif
