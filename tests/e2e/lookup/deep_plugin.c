/* SPDX-License-Identifier: MIT */
/* Linked with the driver and opened RTLD_DEEPBIND: its calls pass every preloaded library by. */
#include <cuda.h>

int plugin_cuda(void);

int plugin_cuda(void)
{
    int count = 0;
    return cuInit(0) || cuDeviceGetCount(&count) ? -1 : count;
}
