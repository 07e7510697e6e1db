/* SPDX-License-Identifier: MIT */
/* What each program here does first with the driver that does nothing. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <cuda.h>

/* A kernel of device 0, whose primary context is made current and put into *context. */
static inline CUfunction bench_start_driver(CUcontext *context)
{
    CUmodule module;
    CUdevice device;
    CUfunction kernel;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(context, device);
    cuCtxSetCurrent(*context);
    cuModuleLoadData(&module, "image");
    cuModuleGetFunction(&kernel, module, "kernel");
    return kernel;
}

#endif
