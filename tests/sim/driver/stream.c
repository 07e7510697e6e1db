/* SPDX-License-Identifier: MIT */
/* Streams: handles, lifetimes and what they say about themselves. */
#include "driver/model.h"

#include <pthread.h>
#include <stdlib.h>

static uint64_t last_id;

bool sim_stream_blocking(CUstream s)
{
    return s->kind != SIM_STREAM_LEGACY && !(s->flags & CU_STREAM_NON_BLOCKING);
}

CUstream sim_stream_new(CUcontext c, enum sim_stream_kind kind, unsigned flags, int priority)
{
    CUstream s = sim_take(SIM_STREAM);
    if (!s)
        return NULL;
    s->kind = kind;
    s->context = c;
    s->flags = flags;
    s->priority = priority;
    s->id = ++last_id;
    s->next = c->streams;
    if (s->next)
        s->next->previous = s;
    c->streams = s;
    return s;
}

void sim_stream_end(CUstream s)
{
    sim_capture_stream_ends(s);
    if (s->previous)
        s->previous->next = s->next;
    else
        s->context->streams = s->next;
    if (s->next)
        s->next->previous = s->previous;
    s->id = 0; /* marks that point here are reached */
    sim_give(SIM_STREAM, s);
}

/* When what was given to it is done. */
static void doom(CUstream s)
{
    s->doomed = true;
    if (!s->first)
        sim_stream_end(s);
}

static bool doom_if_own(void *object, void *unused)
{
    CUstream s = object;
    (void)unused;
    if (s->kind == SIM_STREAM_PER_THREAD && s->thread == sim_self.id && !s->doomed && !s->capture)
        doom(s);
    return false;
}

static pthread_key_t own_key;

/* A thread's own streams go with it. */
static void end_own(void *unused)
{
    (void)unused;
    sim_lock();
    sim_each(SIM_STREAM, doom_if_own, NULL);
    sim_unlock();
}

static void make_own_key(void)
{
    pthread_key_create(&own_key, end_own);
}

static CUstream per_thread(CUcontext c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    for (CUstream s = c->streams; s; s = s->next)
        if (s->kind == SIM_STREAM_PER_THREAD && s->thread == sim_self.id)
            return s;
    CUstream s = sim_stream_new(c, SIM_STREAM_PER_THREAD, CU_STREAM_DEFAULT, 0);
    if (!s)
        return NULL;
    s->thread = sim_self.id;
    pthread_once(&once, make_own_key);
    pthread_setspecific(own_key, &sim_self);
    return s;
}

static CUresult of_context(bool own, CUstream *out)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS)
        *out = own ? per_thread(c) : c->legacy;
    return r;
}

CUresult sim_stream_of(CUstream handle, CUstream *out)
{
    *out = NULL;
    if (!handle)
        return of_context(sim_self.per_thread, out);
    if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return of_context(handle == CU_STREAM_PER_THREAD, out);
    CUresult r = sim_check(SIM_STREAM, handle);
    if (r == CUDA_SUCCESS && handle->doomed) {
        sim_breach("use of a destroyed stream");
        r = CUDA_ERROR_INVALID_HANDLE;
    }
    if (r == CUDA_SUCCESS)
        *out = handle;
    return r;
}

CUresult sim_cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority)
{
    CUcontext c;
    if (!out || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS && !(*out = sim_stream_new(c, SIM_STREAM_PLAIN, flags, priority)))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return r;
}

CUresult sim_cuStreamCreate(CUstream *out, unsigned int flags)
{
    return sim_cuStreamCreateWithPriority(out, flags, 0);
}

CUresult sim_cuStreamDestroy_v2(CUstream handle)
{
    CUstream s;
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult r = sim_stream_of(handle, &s);
    if (r != CUDA_SUCCESS)
        return r;
    doom(s);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamDestroy(CUstream s)
{
    return sim_cuStreamDestroy_v2(s);
}

/* Asking a capturing stream this invalidates its capture, whatever the thread's mode. */
static CUresult ask(CUstream handle, CUstream *s)
{
    CUresult r = sim_stream_of(handle, s);
    return r == CUDA_SUCCESS && (*s)->capture ? sim_capture_forbid(*s) : r;
}

CUresult sim_cuStreamGetId(CUstream handle, unsigned long long *out)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r == CUDA_SUCCESS)
        *out = s->id;
    return r;
}

CUresult sim_cuStreamGetDevice(CUstream handle, CUdevice *out)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r == CUDA_SUCCESS)
        *out = s->context->device;
    return r;
}

static CUcontext shown_context(CUstream s)
{
    return s->green ? s->green->context : s->context;
}

CUresult sim_cuStreamGetCtx(CUstream handle, CUcontext *out)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r == CUDA_SUCCESS)
        *out = shown_context(s);
    return r;
}

CUresult sim_cuStreamGetCtx_v2(CUstream handle, CUcontext *out, CUgreenCtx *green)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r != CUDA_SUCCESS)
        return r;
    *out = s->green ? NULL : s->context;
    *green = s->green;
    return r;
}

CUresult sim_cuStreamGetFlags(CUstream handle, unsigned int *out)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r == CUDA_SUCCESS)
        *out = s->flags;
    return r;
}

CUresult sim_cuStreamGetPriority(CUstream handle, int *out)
{
    CUstream s;
    CUresult r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS)
        *out = s->priority;
    return r;
}

static CUresult waitable(CUstream handle, CUstream *s)
{
    CUresult r = sim_stream_of(handle, s);
    if (r == CUDA_SUCCESS && (*s)->capture)
        return sim_capture_forbid(*s);
    if (r == CUDA_SUCCESS && (*s)->kind == SIM_STREAM_LEGACY)
        r = sim_legacy_use((*s)->context, true);
    return r == CUDA_SUCCESS ? sim_unsafe() : r;
}

CUresult sim_cuStreamQuery(CUstream handle)
{
    CUstream s;
    CUresult r = waitable(handle, &s);
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_mark m = sim_mark_of(s);
    return sim_reached(&m) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuStreamSynchronize(CUstream handle)
{
    CUstream s;
    CUresult r = waitable(handle, &s);
    if (r == CUDA_SUCCESS)
        sim_wait_stream(s);
    return r;
}

CUresult sim_cuStreamWaitEvent(CUstream handle, CUevent e, unsigned int flags)
{
    CUstream s;
    CUresult r =
        flags > CU_EVENT_WAIT_EXTERNAL ? CUDA_ERROR_INVALID_VALUE : sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS)
        r = sim_check(SIM_EVENT, e);
    if (r != CUDA_SUCCESS)
        return r;
    bool external = s->capture && flags == CU_EVENT_WAIT_EXTERNAL;
    if (!external && (e->captured || s->capture))
        return sim_capture_wait(s, e);
    if (external) {
        struct sim_work node = {.kind = SIM_WORK_WAIT, .event = e};
        return sim_submit(s, &node);
    }
    if (!e->recorded)
        return CUDA_SUCCESS;
    struct sim_work w = {.kind = SIM_WORK_WAIT, .event = e};
    return sim_submit(s, &w);
}

static CUresult submit_host(CUstream stream, struct sim_work w)
{
    return w.host.function || w.host.callback ? sim_submit_to(stream, &w)
                                              : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    return submit_host(stream, (struct sim_work){.kind = SIM_WORK_HOST,
                                                 .host = {.function = function, .data = data}});
}

/* How its thread waits for the next one is no matter here. */
CUresult sim_cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void *data, unsigned int mode)
{
    return mode > 1 ? CUDA_ERROR_INVALID_VALUE : sim_cuLaunchHostFunc(stream, function, data);
}

CUresult sim_cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                                 unsigned int flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    return submit_host(
        stream, (struct sim_work){.kind = SIM_WORK_CALLBACK,
                                  .host = {.callback = callback, .stream = stream, .data = data}});
}

static CUresult submit_value(CUstream stream, enum sim_work_kind kind, CUdeviceptr address,
                             uint64_t value, unsigned flags, unsigned bytes)
{
    struct sim_work w = {.kind = kind,
                         .value = {(volatile void *)(uintptr_t)address, value, flags, bytes}};
    return address ? sim_submit_to(stream, &w) : CUDA_ERROR_INVALID_VALUE;
}

#define VALUE_CALL(name, kind, type, bytes)                                                        \
    CUresult sim_##name(CUstream stream, CUdeviceptr address, type value, unsigned int flags)      \
    {                                                                                              \
        return submit_value(stream, kind, address, value, flags, bytes);                           \
    }
VALUE_CALL(cuStreamWaitValue32, SIM_WORK_WAIT_VALUE, cuuint32_t, 4)
VALUE_CALL(cuStreamWaitValue64, SIM_WORK_WAIT_VALUE, cuuint64_t, 8)
VALUE_CALL(cuStreamWriteValue32, SIM_WORK_WRITE_VALUE, cuuint32_t, 4)
VALUE_CALL(cuStreamWriteValue64, SIM_WORK_WRITE_VALUE, cuuint64_t, 8)
VALUE_CALL(cuStreamWaitValue32_v2, SIM_WORK_WAIT_VALUE, cuuint32_t, 4)
VALUE_CALL(cuStreamWaitValue64_v2, SIM_WORK_WAIT_VALUE, cuuint64_t, 8)
VALUE_CALL(cuStreamWriteValue32_v2, SIM_WORK_WRITE_VALUE, cuuint32_t, 4)
VALUE_CALL(cuStreamWriteValue64_v2, SIM_WORK_WRITE_VALUE, cuuint64_t, 8)

static CUresult submit_batch(CUstream stream, const CUstreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return submit_value(stream, SIM_WORK_WAIT_VALUE, p->waitValue.address, p->waitValue.value,
                            p->waitValue.flags, 4);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return submit_value(stream, SIM_WORK_WAIT_VALUE, p->waitValue.address, p->waitValue.value64,
                            p->waitValue.flags, 8);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return submit_value(stream, SIM_WORK_WRITE_VALUE, p->writeValue.address,
                            p->writeValue.value, p->writeValue.flags, 4);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return submit_value(stream, SIM_WORK_WRITE_VALUE, p->writeValue.address,
                            p->writeValue.value64, p->writeValue.flags, 8);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                                   CUstreamBatchMemOpParams *list, unsigned int flags)
{
    CUresult r = list && count && count <= 256 && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++)
        r = submit_batch(stream, &list[i]);
    return r;
}

CUresult sim_cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *list,
                                unsigned int flags)
{
    return sim_cuStreamBatchMemOp_v2(stream, count, list, flags);
}

/* What another interface counts up: a word of 8 bytes, whose address is the handle. */
CUresult sim_cuImportExternalSemaphore(CUexternalSemaphore *out,
                                       const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *d)
{
    if (!out || !d || d->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC ||
        !d->handle.nvSciSyncObj)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUexternalSemaphore)(uintptr_t)d->handle.nvSciSyncObj;
    return CUDA_SUCCESS;
}

CUresult sim_cuDestroyExternalSemaphore(CUexternalSemaphore semaphore)
{
    return semaphore ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *list,
                                           const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *p,
                                           unsigned int count, CUstream stream)
{
    CUresult r = list && p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++)
        r = submit_value(stream, SIM_WORK_WAIT_VALUE, (uintptr_t)list[i], p[i].params.fence.value,
                         CU_STREAM_WAIT_VALUE_GEQ, 8);
    return r;
}

CUresult sim_cuStreamAttachMemAsync(CUstream handle, CUdeviceptr p, size_t bytes,
                                    unsigned int flags)
{
    CUstream s;
    (void)bytes;
    (void)flags;
    return p ? sim_stream_of(handle, &s) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- green contexts ---- */

CUresult sim_cuDeviceGetDevResource(CUdevice device, CUdevResource *out, CUdevResourceType type)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!out || type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    __builtin_memset(out, 0, sizeof(*out));
    out->type = type;
    out->sm.smCount = 132;
    return CUDA_SUCCESS;
}

CUresult sim_cuDevSmResourceSplitByCount(CUdevResource *out, unsigned int *groups,
                                         const CUdevResource *input, CUdevResource *remaining,
                                         unsigned int flags, unsigned int at_least)
{
    (void)flags;
    if (!groups || !input || !at_least || at_least > input->sm.smCount)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned most = input->sm.smCount / at_least;
    *groups = out && *groups < most ? *groups : most;
    for (unsigned i = 0; out && i < *groups; i++) {
        out[i] = *input;
        out[i].sm.smCount = at_least;
    }
    if (remaining) {
        *remaining = *input;
        remaining->sm.smCount -= *groups * at_least;
    }
    return CUDA_SUCCESS;
}

/* A description of resources is as many multiprocessors as it has, as a pointer. */
CUresult sim_cuDevResourceGenerateDesc(CUdevResourceDesc *out, CUdevResource *list,
                                       unsigned int count)
{
    uintptr_t sms = 0;
    for (unsigned i = 0; i < count; i++)
        sms += list[i].sm.smCount;
    *out = (CUdevResourceDesc)sms;
    return sms ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
}

CUresult sim_cuGreenCtxCreate(CUgreenCtx *out, CUdevResourceDesc resources, CUdevice device,
                              unsigned int flags)
{
    static uint64_t last_green;
    CUcontext primary;
    if (!out || !(flags & CU_GREEN_CTX_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = sim_cuDevicePrimaryCtxRetain(&primary, device);
    if (r != CUDA_SUCCESS)
        return r;
    CUgreenCtx g = sim_take(SIM_GREEN);
    g->primary = primary;
    g->sms = (unsigned)(uintptr_t)resources;
    g->id = ++last_green;
    g->context = sim_take(SIM_CONTEXT);
    g->context->device = device;
    g->context->green = g;
    *out = g;
    return CUDA_SUCCESS;
}

CUresult sim_cuGreenCtxDestroy(CUgreenCtx g)
{
    CUresult r = sim_check(SIM_GREEN, g);
    if (r != CUDA_SUCCESS)
        return r;
    for (CUstream s = g->primary->streams, next; s; s = next) {
        next = s->next;
        if (s->green == g)
            sim_cuStreamDestroy_v2(s);
    }
    sim_give(SIM_CONTEXT, g->context);
    CUdevice device = g->primary->device;
    sim_give(SIM_GREEN, g);
    return sim_cuDevicePrimaryCtxRelease_v2(device);
}

CUresult sim_cuCtxFromGreenCtx(CUcontext *out, CUgreenCtx g)
{
    CUresult r = sim_check(SIM_GREEN, g);
    if (r == CUDA_SUCCESS)
        *out = g->context;
    return r;
}

CUresult sim_cuGreenCtxStreamCreate(CUstream *out, CUgreenCtx g, unsigned int flags, int priority)
{
    CUresult r = sim_check(SIM_GREEN, g);
    if (r == CUDA_SUCCESS && flags != CU_STREAM_NON_BLOCKING)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    *out = sim_stream_new(g->primary, SIM_STREAM_PLAIN, flags, priority);
    (*out)->green = g;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetGreenCtx(CUstream handle, CUgreenCtx *out)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r == CUDA_SUCCESS)
        *out = s->green;
    return r;
}
