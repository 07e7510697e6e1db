/* SPDX-License-Identifier: MIT */
#include "launch/selftimed.h"

#include "state/context.h"

#define USUAL_KHZ 1000000 /* for a device that does not tell its clock's rate */

bool ct_selftimed_is_possible(void)
{
    return CT_HAS(cuModuleLoadData) && CT_HAS(cuModuleGetFunction) && CT_HAS(cuLaunchKernel) &&
           CT_HAS(cuMemHostAlloc) && CT_HAS(cuMemHostGetDevicePointer_v2);
}

static bool share_memory(struct ct_selftimed *k)
{
    void *p = NULL;
    if (CT_ASK_IN(k->context, cuMemHostAlloc, &p, CT_SELFTIMED_WORDS * sizeof(*k->words),
                  CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS ||
        !p)
        return false;
    k->words = p;
    return CT_ASK_IN(k->context, cuMemHostGetDevicePointer_v2, &k->words_on_device, p, 0) ==
           CUDA_SUCCESS;
}

bool ct_selftimed_load(struct ct_selftimed *k, const struct ct_context *c)
{
    CUmodule module = NULL;
    k->context = c;
    return CT_ASK_IN(c, cuModuleLoadData, &module, ct_selftimed_ptx) == CUDA_SUCCESS &&
           CT_ASK_IN(c, cuModuleGetFunction, &k->kernel, module, CT_SELFTIMED_KERNEL) ==
               CUDA_SUCCESS &&
           CT_ASK_IN(c, cuModuleGetFunction, &k->read, module, CT_SELFTIMED_READ) == CUDA_SUCCESS &&
           share_memory(k);
}

static CUresult launch(const struct ct_selftimed *k, CUfunction f, unsigned threads,
                       CUstream stream, uint64_t a, uint64_t b)
{
    void *arguments[] = {&a, &b};
    return CT_ASK_IN(k->context, cuLaunchKernel, f, 1, 1, 1, threads, 1, 1, 0, stream, arguments,
                     NULL);
}

CUresult ct_selftimed_launch(const struct ct_selftimed *k, CUstream stream, uint64_t ns,
                             uint32_t slot)
{
    uint64_t khz = ct_device(k->context->device)->clock_khz;
    return launch(k, k->kernel, CT_SELFTIMED_THREADS, stream,
                  ns * (khz ? khz : USUAL_KHZ) / 1000000, slot);
}

CUresult ct_selftimed_launch_read(const struct ct_selftimed *k, CUstream stream, uint32_t slots)
{
    return launch(k, k->read, 1, stream, k->words_on_device, slots);
}
