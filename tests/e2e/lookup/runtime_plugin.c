/* SPDX-License-Identifier: MIT */
/* Opened and closed several times; so is the runtime, which nothing else is linked with. */
#include <cuda_runtime_api.h>

int plugin_cuda(void);

int plugin_cuda(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : -1000;
}
