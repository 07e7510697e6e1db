/* SPDX-License-Identifier: MIT */
/* Contexts: the stack of each thread, primary contexts that keep their address, lifetimes. */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>

static CUcontext primaries[SIM_DEVICES];
static uint64_t last_id;

CUcontext sim_current(void)
{
    return sim_self.depth ? sim_self.stack[sim_self.depth - 1] : NULL;
}

CUcontext sim_root(CUcontext c)
{
    return c && c->green && c->green->context == c ? c->green->primary : c;
}

CUresult sim_need_context(CUcontext *out)
{
    CUcontext c = sim_current();
    *out = NULL;
    if (!c)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!c->object.alive || !sim_root(c)->active)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *out = sim_root(c);
    return CUDA_SUCCESS;
}

static void bring_up(CUcontext c)
{
    c->active = true;
    c->id = ++last_id;
    c->legacy = sim_stream_new(c, SIM_STREAM_LEGACY, CU_STREAM_DEFAULT, 0);
}

CUcontext sim_primary(int device)
{
    if (!primaries[device]) {
        CUcontext c = sim_take(SIM_CONTEXT);
        c->device = device;
        c->primary = true;
        primaries[device] = c;
    }
    return primaries[device];
}

static bool end_event(void *object, void *context)
{
    if (((CUevent)object)->context == context)
        sim_cuEventDestroy_v2(object);
    return false;
}

static bool end_array(void *object, void *context)
{
    if (((CUarray)object)->context == context)
        sim_cuArrayDestroy(object);
    return false;
}

/* Everything in the context goes with it; work that waits behind a gate is waited for. */
void sim_context_end(CUcontext c)
{
    sim_wait_context(c);
    sim_each(SIM_EVENT, end_event, c);
    sim_each(SIM_ARRAY, end_array, c);
    while (c->streams)
        sim_stream_end(c->streams);
    c->legacy = NULL;
    sim_modules_of_context_gone(c);
    sim_memory_of_context_gone(c);
    c->active = false;
    c->references = 0;
}

static CUresult push(CUcontext c)
{
    if (sim_self.depth == SIM_STACK)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_self.stack[sim_self.depth++] = c;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *out, unsigned int flags, CUdevice device)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext c = sim_take(SIM_CONTEXT);
    c->device = device;
    c->flags = flags;
    bring_up(c);
    *out = c;
    return push(c);
}

CUresult sim_cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice device)
{
    return create(out, flags, device);
}

CUresult sim_cuCtxCreate(CUcontext *out, unsigned int flags, CUdevice device)
{
    return create(out, flags, device);
}

CUresult sim_cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int count,
                            unsigned int flags, CUdevice device)
{
    (void)affinity;
    (void)count;
    return create(out, flags, device);
}

CUresult sim_cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *parameters, unsigned int flags,
                            CUdevice device)
{
    (void)parameters;
    return create(out, flags, device);
}

CUresult sim_cuCtxDestroy_v2(CUcontext c)
{
    CUresult r = sim_check(SIM_CONTEXT, c);
    if (r != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (c->primary || c->green)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_context_end(c);
    if (sim_current() == c)
        sim_self.depth--;
    sim_give(SIM_CONTEXT, c);
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxDestroy(CUcontext c)
{
    return sim_cuCtxDestroy_v2(c);
}

CUresult sim_cuCtxAttach(CUcontext *out, unsigned int flags)
{
    CUcontext c;
    CUresult r = flags || !out ? CUDA_ERROR_INVALID_VALUE : sim_need_context(&c);
    if (r == CUDA_SUCCESS) {
        c->references++;
        *out = c;
    }
    return r;
}

CUresult sim_cuCtxDetach(CUcontext c)
{
    if (sim_check(SIM_CONTEXT, c) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (c->references-- > 0)
        return CUDA_SUCCESS;
    return sim_cuCtxDestroy_v2(c);
}

CUresult sim_cuCtxPushCurrent_v2(CUcontext c)
{
    return sim_check(SIM_CONTEXT, c) == CUDA_SUCCESS ? push(c) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxPushCurrent(CUcontext c)
{
    return sim_cuCtxPushCurrent_v2(c);
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *out)
{
    if (!sim_self.depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUcontext c = sim_self.stack[--sim_self.depth];
    if (out)
        *out = c;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxPopCurrent(CUcontext *out)
{
    return sim_cuCtxPopCurrent_v2(out);
}

CUresult sim_cuCtxSetCurrent(CUcontext c)
{
    if (!c) {
        sim_self.depth -= sim_self.depth > 0;
        return CUDA_SUCCESS;
    }
    if (sim_check(SIM_CONTEXT, c) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_self.depth -= sim_self.depth > 0;
    return push(c);
}

CUresult sim_cuCtxGetCurrent(CUcontext *out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_current();
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice(CUdevice *out)
{
    CUcontext c = sim_current();
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!c)
        return CUDA_ERROR_INVALID_CONTEXT;
    *out = c->device;
    return CUDA_SUCCESS;
}

/* The context asked about, NULL meaning the current one. */
static CUresult named(CUcontext *c)
{
    if (!*c)
        *c = sim_current();
    if (!*c || sim_check(SIM_CONTEXT, *c) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice_v2(CUdevice *out, CUcontext c)
{
    CUresult r = named(&c);
    if (r == CUDA_SUCCESS)
        *out = c->device;
    return r;
}

CUresult sim_cuCtxGetApiVersion(CUcontext c, unsigned int *out)
{
    CUresult r = named(&c);
    if (r == CUDA_SUCCESS)
        *out = 3020;
    return r;
}

CUresult sim_cuCtxGetId(CUcontext c, unsigned long long *out)
{
    CUresult r = named(&c);
    if (r == CUDA_SUCCESS && !c->active && !c->green)
        r = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (r == CUDA_SUCCESS)
        *out = c->id;
    return r;
}

CUresult sim_cuCtxGetFlags(unsigned int *out)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS)
        *out = c->flags;
    return r;
}

CUresult sim_cuCtxSetFlags(unsigned int flags)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS)
        c->flags = flags;
    return r;
}

CUresult sim_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS && least)
        *least = 0;
    if (r == CUDA_SUCCESS && greatest)
        *greatest = -5;
    return r;
}

CUresult sim_cuCtxGetLimit(size_t *out, CUlimit limit)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS && (!out || limit >= CU_LIMIT_MAX))
        r = CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (r == CUDA_SUCCESS)
        *out = limit == CU_LIMIT_STACK_SIZE ? 1024 : (size_t)8 << 20;
    return r;
}

static CUresult accept(void)
{
    CUcontext c;
    return sim_need_context(&c);
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value)
{
    (void)value;
    return limit >= CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : accept();
}

CUresult sim_cuCtxGetCacheConfig(CUfunc_cache *out)
{
    CUresult r = accept();
    if (r == CUDA_SUCCESS)
        *out = CU_FUNC_CACHE_PREFER_NONE;
    return r;
}

CUresult sim_cuCtxSetCacheConfig(CUfunc_cache config)
{
    (void)config;
    return accept();
}

CUresult sim_cuCtxGetSharedMemConfig(CUsharedconfig *out)
{
    CUresult r = accept();
    if (r == CUDA_SUCCESS)
        *out = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return r;
}

CUresult sim_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    (void)config;
    return accept();
}

CUresult sim_cuCtxResetPersistingL2Cache(void)
{
    return accept();
}

static CUresult peer(CUcontext c)
{
    if (sim_check(SIM_CONTEXT, c) != CUDA_SUCCESS || c == sim_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    return accept();
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext c, unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : peer(c);
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext c)
{
    return peer(c);
}

static CUresult synchronise(CUcontext c)
{
    CUresult r = sim_legacy_use(c, true);
    if (r == CUDA_SUCCESS)
        r = sim_unsafe();
    if (r == CUDA_SUCCESS)
        sim_wait_context(c);
    return r;
}

CUresult sim_cuCtxSynchronize(void)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    return r == CUDA_SUCCESS ? synchronise(c) : r;
}

CUresult sim_cuCtxSynchronize_v2(CUcontext c)
{
    CUresult r = named(&c);
    return r == CUDA_SUCCESS ? synchronise(sim_root(c)) : r;
}

/* ---- primary contexts ---- */

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext c = sim_primary(device);
    if (!c->active)
        bring_up(c);
    c->references++;
    *out = c;
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext c = sim_primary(device);
    if (c->active)
        sim_context_end(c);
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxReset(CUdevice device)
{
    return sim_cuDevicePrimaryCtxReset_v2(device);
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext c = sim_primary(device);
    if (!c->references)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!--c->references)
        sim_context_end(c);
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRelease(CUdevice device)
{
    return sim_cuDevicePrimaryCtxRelease_v2(device);
}

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *is_active)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = sim_primary(device)->flags;
    *is_active = sim_primary(device)->active;
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_primary(device)->flags = flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    return sim_cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
