/* SPDX-License-Identifier: MIT */
/* The functions of the null driver that have something to say. */
#include "cuda/newer_api.h"
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/entry_points.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))
#define VERSION 13000

static char context[64], handles[1 << 16];
static atomic_uint next_handle, next_memory;

/* Handles differ from each other; nothing is behind them. */
static void *handle(void)
{
    return &handles[atomic_fetch_add_explicit(&next_handle, 1, memory_order_relaxed) %
                    sizeof(handles)];
}

#define MAKES(call, type)                                                                          \
    EXPORT CUresult call                                                                           \
    {                                                                                              \
        *out = (type)handle();                                                                     \
        return CUDA_SUCCESS;                                                                       \
    }
MAKES(cuEventCreate(CUevent *out, unsigned flags __attribute__((unused))), CUevent)
MAKES(cuStreamCreate(CUstream *out, unsigned flags __attribute__((unused))), CUstream)
MAKES(cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g __attribute__((unused)),
                                  unsigned long long flags __attribute__((unused))),
      CUgraphExec)
MAKES(cuModuleLoadData(CUmodule *out, const void *image __attribute__((unused))), CUmodule)
MAKES(cuModuleGetFunction(CUfunction *out, CUmodule m __attribute__((unused)),
                          const char *name __attribute__((unused))),
      CUfunction)

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    (void)bytes;
    *out = 0x700000000000ull + 4096ull * atomic_fetch_add(&next_memory, 1);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *which, void **out,
                                       CUdeviceptr p)
{
    for (unsigned i = 0; i < n; i++)
        *(unsigned *)out[i] = which[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ? 0
                              : p >= 0x700000000000ull                    ? CU_MEMORYTYPE_DEVICE
                                                                          : CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
}

#define SAYS_CONTEXT(call)                                                                         \
    EXPORT CUresult call                                                                           \
    {                                                                                              \
        *out = (CUcontext)context;                                                                 \
        return CUDA_SUCCESS;                                                                       \
    }
SAYS_CONTEXT(cuCtxGetCurrent(CUcontext *out))
SAYS_CONTEXT(cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device __attribute__((unused))))
SAYS_CONTEXT(cuCtxCreate_v2(CUcontext *out, unsigned flags __attribute__((unused)),
                            CUdevice device __attribute__((unused))))
SAYS_CONTEXT(cuCtxPopCurrent_v2(CUcontext *out))
SAYS_CONTEXT(cuStreamGetCtx(CUstream s __attribute__((unused)), CUcontext *out))

#define SAYS(call, value)                                                                          \
    EXPORT CUresult call                                                                           \
    {                                                                                              \
        *out = value;                                                                              \
        return CUDA_SUCCESS;                                                                       \
    }
SAYS(cuDriverGetVersion(int *out), VERSION)
SAYS(cuDeviceGetCount(int *out), 1)
SAYS(cuDeviceGet(CUdevice *out, int ordinal), ordinal)
SAYS(cuCtxGetDevice(CUdevice *out), 0)
SAYS(cuDeviceGetAttribute(int *out, CUdevice_attribute which __attribute__((unused)),
                          CUdevice device __attribute__((unused))),
     1)
SAYS(cuStreamIsCapturing(CUstream s __attribute__((unused)), CUstreamCaptureStatus *out),
     CU_STREAM_CAPTURE_STATUS_NONE)
SAYS(cuEventElapsedTime(float *out, CUevent from __attribute__((unused)),
                        CUevent to __attribute__((unused))),
     0.01f)
SAYS(cuEventElapsedTime_v2(float *out, CUevent from __attribute__((unused)),
                           CUevent to __attribute__((unused))),
     0.01f)
SAYS(cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *out), CU_STREAM_CAPTURE_MODE_GLOBAL)

EXPORT CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)bytes, "no device");
    return CUDA_SUCCESS;
}

/* A name for each function, as long as a template's. */
EXPORT CUresult cuFuncGetName(const char **out, CUfunction f)
{
    static __thread char name[96];
    snprintf(name, sizeof(name), "_ZN4bench6kernelILi%uEfEEvPT0_PKS1_m",
             (unsigned)((char *)f - handles) % 65536);
    *out = name;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status)
{
    int found;
    *out = sim_entry_point(name, version, flags, VERSION, &found);
    if (status)
        *status = (CUdriverProcAddressQueryResult)found;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    CUresult r = cuGetProcAddress_v2(name, out, version, flags, NULL);
    return r == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : r;
}
