/* SPDX-License-Identifier: MIT */
/* Prototypes of rt_<name> for every row of runtime_api.def. */
#ifndef RT_CALLS_H
#define RT_CALLS_H

#include "cuda/args.h"
#include "runtime/runtime.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
extern cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

#define CT_API(fn, ...) __typeof__(fn) rt_##fn;
#define CT_PTSZ(fn, ...) __typeof__(fn) rt_##fn;
#define CT_PTDS(fn, ...) __typeof__(fn) rt_##fn;
#define CT_OTHER(type, fn, ...) __typeof__(fn) rt_##fn;
#define CT_RAW(fn, words) uint64_t rt_##fn(CT_WORDS(words));
#define CT_RAW_PTSZ(fn, words) uint64_t rt_##fn(CT_WORDS(words));
#include "cuda/runtime_api.def"

#endif
