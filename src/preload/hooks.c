/* SPDX-License-Identifier: MIT */
#include "preload/hooks.h"

#include "cutrace/format.h"
#include "drain/drain.h"
#include "launch/bracket.h"
#include "launch/depth.h"
#include "launch/replica.h"
#include "launch/witness.h"
#include "preload/driver.h"
#include "preload/init.h"
#include "state/capture.h"
#include "state/context.h"
#include "state/host_wait.h"
#include "state/note.h"
#include "state/program_event.h"
#include "state/stream.h"
#include "system/clock.h"
#include "work/kernel.h"

void ct_hook_driver_ready(const struct ct_hook *h)
{
    if (ct_hook_failed(h))
        ct_cuda_refused((unsigned)h->result);
    else
        ct_cuda_started();
}

/* The driver says which function a version and a default stream mean; its address tells us. */
void ct_hook_entry_point(const struct ct_hook *h, const char *name, void **function)
{
    if (!ct_hook_failed(h) && name && function && *function)
        *function = ct_driver_hand_out(name, *function);
}

/* Contexts that found no entry may have known kernels as well. */
static void context_gone(CUcontext context)
{
    struct ct_context *c = ct_context_find(context);
    if (c)
        ct_drain_context_gone(c);
    ct_kernels_unloaded();
}

void ct_hook_context_gone(const struct ct_hook *h, CUcontext context)
{
    (void)h;
    ct_allocations_end(context);
    context_gone(context);
}

static bool retain_primary(CUdevice device, CUcontext *context)
{
    if (!CT_HAS(cuDevicePrimaryCtxRelease_v2) ||
        CT_REAL(cuDevicePrimaryCtxRetain)(context, device) != CUDA_SUCCESS)
        return false;
    for (unsigned i = 0; i < CT_RESTORE_TRIES; i++)
        if (CT_REAL(cuDevicePrimaryCtxRelease_v2)(device) == CUDA_SUCCESS)
            break;
    return true;
}

/*
 * A device's primary context; NULL if it is not active: then it is not retained, which would make
 * the context. False: the driver does not tell.
 */
static bool primary_context(CUdevice device, CUcontext *context)
{
    unsigned flags;
    int active = 0;
    *context = NULL;
    if (!CT_HAS(cuDevicePrimaryCtxGetState) ||
        CT_REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) != CUDA_SUCCESS)
        return false;
    return !active || retain_primary(device, context);
}

/* Calls f for the primary context, or for all on the device where it is not known which that is. */
static void each_primary(CUdevice device, void (*f)(struct ct_context *c))
{
    CUcontext primary;
    bool known = primary_context(device, &primary);
    for (uint32_t i = 0; i < CT_CONTEXTS; i++) {
        struct ct_context *c = ct_context(i);
        if (ct_context_is_alive(c) && ct_device(c->device)->handle == device &&
            (!known || c->handle == primary))
            f(c);
    }
}

static void gone(struct ct_context *c)
{
    ct_allocations_end(c->handle);
    context_gone(c->handle);
}

void ct_hook_primary_context_gone(const struct ct_hook *h, CUdevice device)
{
    (void)h;
    each_primary(device, gone);
}

/*
 * Calls in progress that end a primary context if they give up the last hold on it. Until the last
 * call is back, one that came back before cannot say that the context lives.
 */
static _Atomic uint32_t releases;

static bool is_active(CUdevice device)
{
    unsigned flags;
    int active = 0;
    return CT_HAS(cuDevicePrimaryCtxGetState) &&
           CT_REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* A context that nobody knows to be alive is not touched again. */
static void resume(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < CT_CONTEXTS && !atomic_load(&releases); i++) {
        struct ct_context *c = ct_context(i);
        if (atomic_load(&c->state) != CT_CONTEXT_PAUSED)
            continue;
        bool active = is_active(ct_device(c->device)->handle);
        ct_drain_context_resume(c, active);
        if (active)
            continue;
        ct_allocations_end(c->handle);
        ct_streams_of_context_gone(i);
        ct_kernels_unloaded();
    }
}

static void is_released(void)
{
    atomic_fetch_sub(&releases, 1);
    if (!ct_drain_look(resume, NULL)) /* a context left paused has no brackets read */
        resume(NULL);
}

/* A release that is not the last one leaves the context, and its events, as they are. */
void ct_hook_primary_context_release_before(const struct ct_hook *h, CUdevice device)
{
    (void)h;
    atomic_fetch_add(&releases, 1);
    each_primary(device, ct_drain_context_pause);
}

void ct_hook_primary_context_release_after(const struct ct_hook *h, CUdevice device)
{
    (void)h;
    (void)device;
    is_released();
}

/* A green context holds a primary one, with its streams' brackets: of which device is not said. */
void ct_hook_green_context_end_before(const struct ct_hook *h, CUgreenCtx context)
{
    (void)h;
    CUcontext converted;
    if (CT_HAS(cuCtxFromGreenCtx) &&
        CT_REAL(cuCtxFromGreenCtx)(&converted, context) == CUDA_SUCCESS)
        context_gone(converted);
    atomic_fetch_add(&releases, 1);
    for (uint32_t i = 0; i < ct_devices_count(); i++)
        each_primary(ct_device(i)->handle, ct_drain_context_pause);
}

void ct_hook_green_context_end_after(const struct ct_hook *h, CUgreenCtx context)
{
    (void)h;
    (void)context;
    is_released();
}

void ct_hook_module_gone(const struct ct_hook *h)
{
    (void)h;
    ct_kernels_unloaded();
    ct_replicas_unloaded();
}

void ct_hook_function_named(const struct ct_hook *h, CUfunction *f, const char *name)
{
    if (!ct_hook_failed(h) && f)
        ct_kernel_named(*f, name);
}

void ct_hook_kernel_named(const struct ct_hook *h, CUkernel *k, const char *name)
{
    if (!ct_hook_failed(h) && k)
        ct_kernel_named(*k, name);
}

void ct_hook_stream_created(const struct ct_hook *h, CUstream *s, unsigned flags, int priority)
{
    if (!ct_hook_failed(h) && s)
        ct_stream_created(*s, flags, priority);
}

void ct_hook_stream_gone(const struct ct_hook *h, CUstream s)
{
    (void)h;
    ct_witness_end_group();
    ct_stream_destroyed(s);
}

/* Only a stream that was met can have a bracket before the call. */
static struct ct_stream *known_stream(const struct ct_hook *h, CUstream s)
{
    return ct_stream_known(h->thread, s ? s : h->null_stream);
}

/* Work in the stream that no bracket is around, and that takes its time. */
void ct_hook_stream_break(const struct ct_hook *h, CUstream s)
{
    struct ct_stream *known = known_stream(h, s);
    if (known)
        ct_stream_break(known);
}

void ct_hook_work_not_read(const struct ct_hook *h, const char *name, CUstream s)
{
    ct_note(CT_NOTE_NOT_WRAPPED, name);
    ct_hook_stream_break(h, s);
}

void ct_hook_streams_break(const struct ct_hook *h)
{
    (void)h;
    ct_streams_break();
}

static void stream_waits(const struct ct_hook *h, CUstream s)
{
    struct ct_stream *known = known_stream(h, s);
    if (!known)
        return;
    ct_stream_break(known);
    atomic_fetch_add_explicit(&known->waits, 1, memory_order_relaxed);
}

/* A default stream is met here: events recorded behind the gate carry it on. */
static struct ct_stream *gate(const struct ct_hook *h, CUstream s)
{
    CUstream meant = s ? s : h->null_stream;
    bool is_default = meant == CU_STREAM_LEGACY || meant == CU_STREAM_PER_THREAD;
    struct ct_stream *known = is_default ? ct_stream_get(h->thread, meant) : known_stream(h, meant);
    if (known)
        ct_depth_gate(known);
    stream_waits(h, s);
    return known;
}

void ct_hook_stream_gate(const struct ct_hook *h, CUstream s, enum ct_stop_kind kind)
{
    struct ct_stream *known = gate(h, s);
    if (known)
        ct_stream_stops(known, kind, 0);
}

void ct_hook_event_made(const struct ct_hook *h, CUevent *e, unsigned flags)
{
    if (!ct_hook_failed(h) && e)
        ct_program_event_made(*e, flags);
}

void ct_hook_event_gone(const struct ct_hook *h, CUevent e)
{
    (void)h;
    ct_program_event_gone(e);
}

void ct_hook_event_record(const struct ct_hook *h, CUevent e, CUstream s)
{
    struct ct_stream *known = known_stream(h, s);
    uint32_t number = known ? ct_stream_index(known) + 1 : 0;
    bool stamps = ct_program_event_recorded(e, known && ct_depth_is_gated(known), number);
    if (known && stamps)
        ct_stream_break(known);
}

void ct_hook_host_waited(const struct ct_hook *h)
{
    h->thread->waited_ticks = ct_ticks();
}

void ct_hook_stream_waits(const struct ct_hook *h, CUstream s)
{
    const struct ct_stream *known = known_stream(h, s);
    if (known)
        atomic_store_explicit(&h->thread->waiting.stream, ct_stream_index(known) + 1,
                              memory_order_relaxed);
}

void ct_hook_stream_waited(const struct ct_hook *h, CUstream s)
{
    CUstream stream = s ? s : h->null_stream;
    if (!ct_hook_failed(h)) {
        ct_host_wait_stream(h->thread, stream);
        ct_witness_waited(h->thread, stream, NULL);
    }
    ct_hook_host_waited(h);
}

void ct_hook_context_waited(const struct ct_hook *h, CUcontext c)
{
    if (!ct_hook_failed(h)) {
        ct_host_wait_context(h->thread, c);
        ct_witness_waited(h->thread, NULL, c);
    }
    ct_hook_host_waited(h);
}

void ct_hook_stream_wait_before(const struct ct_hook *h, CUstream s, CUevent e)
{
    ct_capture_spreads(h->thread);
    if (ct_program_event_is_behind_gate(e))
        gate(h, s);
    else
        stream_waits(h, s);
    struct ct_stream *known = known_stream(h, s);
    uint32_t from = ct_program_event_stream(e);
    if (known && from != ct_stream_index(known) + 1) /* else it is open when it is reached */
        ct_stream_stops(known, CT_STOP_EVENT, from);
}

void ct_hook_stream_wait_after(const struct ct_hook *h, CUstream s, CUevent e)
{
    (void)s;
    (void)e;
    ct_capture_spread(h->thread);
}

void ct_hook_capture_before(const struct ct_hook *h, CUstream s)
{
    ct_capture_begins();
    ct_hook_stream_break(h, s);
}

void ct_hook_capture_after(const struct ct_hook *h, CUstream s)
{
    (void)s;
    ct_capture_begun(h->result);
}

void ct_hook_capture_end(const struct ct_hook *h, CUstream s)
{
    ct_capture_ended(h->result);
    ct_hook_stream_break(h, s);
}

void ct_hook_profiler_start(const struct ct_hook *h)
{
    (void)h;
    ct_drain_record(true);
}

void ct_hook_profiler_stop(const struct ct_hook *h)
{
    (void)h;
    ct_drain_record(false);
}
