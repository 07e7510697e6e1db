/* SPDX-License-Identifier: MIT */
/*
 * Contexts of the program and their event pools.
 *
 * A context's pointer is no identity: after a reset the same pointer comes back. An entry here
 * lives from the first work seen in a context until the context goes; its index is used once its
 * last bracket has been dealt with.
 *
 * The pool: events are made on demand up to a limit, taken by launching threads, given back by the
 * drain thread, and never destroyed before the context: cuEventDestroy has been seen to deadlock.
 */
#ifndef CT_CONTEXT_H
#define CT_CONTEXT_H

#include <stdatomic.h>

#include "base/base.h"
#include "cuda/api.h"
#include "record/estimate.h"
#include "record/gpu_clock.h"

#define CT_CONTEXTS 256
#define CT_DEVICES 64

struct ct_event {
    CUevent event;
    _Atomic uint32_t next; /* the free event below this one */
};

enum ct_context_state {
    CT_CONTEXT_FREE,
    CT_CONTEXT_NEW, /* alive; no work of the program was bracketed in it */
    CT_CONTEXT_LIVE,
    CT_CONTEXT_BROKEN, /* alive, but its calls fail: bracket nothing, touch nothing */
    CT_CONTEXT_PAUSED, /* may be about to go: the drain thread stays out */
    CT_CONTEXT_GONE,   /* destroyed; the entry waits for its last users */
};

struct ct_context {
    _Atomic(CUcontext) handle;
    _Atomic uint32_t state;  /* enum ct_context_state */
    _Atomic uint32_t device; /* index into the devices */
    _Atomic uint32_t users;  /* brackets open or pending */
    _Atomic uint32_t turns;  /* see ct_stream_take_turn(); odd: the legacy default stream's */
    struct ct_event *events; /* ct_config.events of them */
    uint32_t event_limit;
    struct ct_gpu_clock clock;
    _Atomic uint32_t made;                         /* events that exist */
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t free; /* tag << 32 | index + 1 of the first free */
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
    const struct ct_calibration *calibration; /* of the drain thread, or whoever has its lock */
};

bool ct_contexts_init(void);
void ct_contexts_forget(void);

/* The entry of a context; makes one at first sight. NULL: too many contexts. */
struct ct_context *ct_context_get(CUcontext handle);
/* The live entry if there is one. */
struct ct_context *ct_context_find(CUcontext handle);
struct ct_context *ct_context(uint32_t index);
uint32_t ct_context_index(const struct ct_context *c);

uint32_t ct_devices_count(void);
const struct ct_device *ct_device(uint32_t index);
/* The device's figures have been measured; they stay where they are. */
void ct_device_calibrated(uint32_t index, const struct ct_calibration *figures);

/*
 * An event of the pool, made if none is free and the limit allows; CT_EVENT_NONE otherwise. Any
 * thread, with the context current or not.
 */
uint32_t ct_event_take(struct ct_context *c);
void ct_event_give(struct ct_context *c, uint32_t index);

static inline CUevent ct_event(const struct ct_context *c, uint32_t index)
{
    return c->events[index].event;
}

/*
 * Runs driver calls of ours as a thread that cannot break a stream capture; pairs with _leave. The
 * program's own mode is put back.
 */
static inline CUstreamCaptureMode ct_relaxed_enter(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (CT_HAS(cuThreadExchangeStreamCaptureMode))
        CT_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return mode;
}

static inline void ct_relaxed_leave(CUstreamCaptureMode mode)
{
    if (CT_HAS(cuThreadExchangeStreamCaptureMode))
        CT_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
}

#endif
