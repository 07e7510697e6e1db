/* SPDX-License-Identifier: MIT */
/* A program that is linked with cutrace: whoever starts it, the loader has to load it. */
#include <cuda.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(void)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    int n = 0;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) ||
        cuModuleLoadData(&m, "image") || cuModuleGetFunction(&f, m, "bound"))
        return 3;
    for (int i = 0; i < 20; i++)
        n += cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
    printf("%d launches, %d, secure %lu\n", n, (int)cuCtxSynchronize(), getauxval(AT_SECURE));
    return 0;
}
