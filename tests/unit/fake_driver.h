/* SPDX-License-Identifier: MIT */
/* A driver of a few functions, for tests of what calls it. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include "cuda/api.h"

#define FAKE(name, function) ct_driver_real[CT_ID_##name] = (ct_function)(function)

static CUresult fake_push(CUcontext c)
{
    return c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult fake_device(CUdevice *out)
{
    *out = 0;
    return CUDA_SUCCESS;
}

/* One context, which `current` tells, on device 0. */
static void fake_context(CUresult (*current)(CUcontext *))
{
    FAKE(cuCtxGetCurrent, current);
    FAKE(cuCtxPushCurrent_v2, fake_push);
    FAKE(cuCtxPopCurrent_v2, current);
    FAKE(cuCtxGetDevice, fake_device);
}

#endif
