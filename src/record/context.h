/* SPDX-License-Identifier: MIT */
/*
 * Contexts of the program and their event pools.
 *
 * A context's pointer is no identity: after a reset the same pointer comes back. An entry here
 * lives from the first work seen in a context until the context goes; its index is used once its
 * last bracket has been dealt with.
 */
#ifndef CT_CONTEXT_H
#define CT_CONTEXT_H

#include <stdatomic.h>

#include "base/base.h"
#include "cuda/api.h"
#include "record/estimate.h"
#include "record/event.h"
#include "record/gpu_clock.h"

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

/* Each launch reads what comes first: nothing that is often written may lie beside it. */
struct ct_context {
    _Alignas(CT_CACHE_LINE) _Atomic(CUcontext) handle;
    _Atomic uint32_t state;  /* enum ct_context_state */
    _Atomic uint32_t device; /* index into the devices */
    _Atomic uint32_t users;  /* calibrations under way */
    _Atomic uint32_t turns;  /* see ct_stream_take_turn(); odd: the legacy default stream's */
    struct ct_event_pool pool;
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
    const struct ct_calibration *calibration; /* of the drain thread, or whoever has its lock */
};

bool ct_contexts_init(void);
void ct_contexts_forget(void);

/* The entry of a context; makes one at first sight. NULL: too many contexts. */
struct ct_context *ct_context_get(CUcontext handle);
/* The live entry if there is one. */
struct ct_context *ct_context_find(CUcontext handle);

uint32_t ct_devices_count(void);
const struct ct_device *ct_device(uint32_t index);
/* The device's figures have been measured; they stay where they are. */
void ct_device_calibrated(uint32_t index, const struct ct_calibration *figures);

/* Whoever holds the lock of the round has been giving events back: now all can have them. */
void ct_contexts_flush(void);
/* A thread ends; `cache` is by index of the context. */
void ct_contexts_take_back(struct ct_event_cache cache[CT_CONTEXTS]);

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
    return c->pool.event[index];
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
