/* SPDX-License-Identifier: MIT */
/* Devices, errors, the profiler switch, entry points. */
#include "runtime/calls.h"

#include <stdio.h>
#include <string.h>

cudaError_t rt_cudaGetDeviceCount(int *count)
{
    cudaError_t r = rt_need_driver();
    return r == cudaSuccess ? DRV(cuDeviceGetCount, count) : r;
}

cudaError_t rt_cudaSetDevice(int device)
{
    int count = 0;
    CUcontext context = NULL;
    cudaError_t r = rt_cudaGetDeviceCount(&count);
    if (r == cudaSuccess && (device < 0 || device >= count))
        r = cudaErrorInvalidDevice;
    if (r == cudaSuccess)
        r = DRV(cuDevicePrimaryCtxRetain, &context, device);
    if (r != cudaSuccess)
        return r;
    rt_self.device = device;
    return DRV(cuCtxSetCurrent, context);
}

cudaError_t rt_cudaGetDevice(int *out)
{
    CUcontext current = NULL;
    cudaError_t r = rt_need_driver();
    if (r != cudaSuccess)
        return r;
    DRV(cuCtxGetCurrent, &current);
    if (current)
        return DRV(cuCtxGetDevice, out);
    *out = rt_self.device;
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceSynchronize(void)
{
    cudaError_t r = rt_need_context();
    return r == cudaSuccess ? DRV(cuCtxSynchronize) : r;
}

cudaError_t rt_cudaDeviceReset(void)
{
    int device = 0;
    cudaError_t r = rt_cudaGetDevice(&device);
    if (r == cudaSuccess)
        r = DRV(cuDevicePrimaryCtxReset, device);
    rt_forget_modules();
    if (r == cudaSuccess)
        r = DRV(cuCtxSetCurrent, NULL);
    return r;
}

static int attribute(int device, CUdevice_attribute which)
{
    int value = 0;
    DRV(cuDeviceGetAttribute, &value, which, device);
    return value;
}

cudaError_t rt_cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr which, int device)
{
    cudaError_t r = rt_need_driver();
    return r == cudaSuccess ? DRV(cuDeviceGetAttribute, out, (CUdevice_attribute)which, device) : r;
}

cudaError_t rt_cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    cudaError_t r = rt_need_driver();
    memset(p, 0, sizeof(*p));
    if (r == cudaSuccess)
        r = DRV(cuDeviceGetName, p->name, sizeof(p->name), device);
    if (r != cudaSuccess)
        return r;
    DRV(cuDeviceTotalMem, &p->totalGlobalMem, device);
    p->major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    p->minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    p->multiProcessorCount = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p->warpSize = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p->maxThreadsPerBlock = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    p->canMapHostMemory = attribute(device, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    p->unifiedAddressing = attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    p->concurrentKernels = attribute(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
    p->asyncEngineCount = attribute(device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceCanAccessPeer(int *out, int device, int peer)
{
    cudaError_t r = rt_need_driver();
    return r == cudaSuccess ? DRV(cuDeviceCanAccessPeer, out, device, peer) : r;
}

cudaError_t rt_cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    CUcontext context;
    cudaError_t r = rt_need_context();
    if (r == cudaSuccess)
        r = DRV(cuDevicePrimaryCtxRetain, &context, peer);
    return r == cudaSuccess ? DRV(cuCtxEnablePeerAccess, context, flags) : r;
}

cudaError_t rt_cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t r = rt_need_context();
    return r == cudaSuccess ? DRV(cuCtxGetStreamPriorityRange, least, greatest) : r;
}

cudaError_t rt_cudaDriverGetVersion(int *out)
{
    *out = 0; /* success without a driver, too */
    if (rt_need_driver() == cudaSuccess)
        DRV(cuDriverGetVersion, out);
    return cudaSuccess;
}

cudaError_t rt_cudaRuntimeGetVersion(int *out)
{
    *out = RT_VERSION;
    return cudaSuccess;
}

cudaError_t rt_cudaPeekAtLastError(void)
{
    return rt_self.last_error;
}

cudaError_t rt_cudaGetLastError(void)
{
    cudaError_t r = rt_self.last_error;
    rt_self.last_error = cudaSuccess;
    return r;
}

const char *rt_cudaGetErrorName(cudaError_t e)
{
    const char *text = NULL;
    if (rt_need_driver() == cudaSuccess)
        DRV(cuGetErrorName, (CUresult)e, &text);
    return text ? text : "unrecognized error code";
}

const char *rt_cudaGetErrorString(cudaError_t e)
{
    const char *text = NULL;
    if (rt_need_driver() == cudaSuccess)
        DRV(cuGetErrorString, (CUresult)e, &text);
    return text ? text : "unrecognized error code";
}

cudaError_t rt_cudaProfilerStart(void)
{
    cudaError_t r = rt_need_context();
    return r == cudaSuccess ? DRV(cuProfilerStart) : r;
}

cudaError_t rt_cudaProfilerStop(void)
{
    cudaError_t r = rt_need_context();
    return r == cudaSuccess ? DRV(cuProfilerStop) : r;
}

static cudaError_t entry_point(const char *name, void **out, int version, unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *status)
{
    cudaError_t r = rt_need_driver();
    if (r != cudaSuccess || !rt_driver()->cuGetProcAddress)
        return r != cudaSuccess ? r : cudaErrorNotSupported;
    if (rt_self.per_thread && !flags)
        flags = cudaEnablePerThreadDefaultStream;
    r = DRV(cuGetProcAddress, name, out, version, flags, NULL); /* NULL: no matter to the first form */
    if (status)
        *status = r == cudaSuccess && *out ? cudaDriverEntryPointSuccess
                                           : cudaDriverEntryPointSymbolNotFound;
    return r == cudaErrorSymbolNotFound ? cudaSuccess : r;
}

cudaError_t rt_cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned int version,
                                                unsigned long long flags,
                                                enum cudaDriverEntryPointQueryResult *status)
{
    return entry_point(name, out, (int)version, flags, status);
}

uint64_t rt_cudaGetDriverEntryPoint(uint64_t name, uint64_t out, uint64_t flags, uint64_t status)
{
    return entry_point((const char *)name, (void **)out, RT_VERSION, flags,
                       RT_VERSION >= 12000 ? (enum cudaDriverEntryPointQueryResult *)status : NULL);
}
