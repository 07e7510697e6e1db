/* SPDX-License-Identifier: MIT */
/* The exported functions: each notes which default stream is meant, calls rt_<name>, and keeps the
 * error for cudaGetLastError. */
#include "runtime/runtime.h"

#include "cuda/args.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

__thread struct rt_thread rt_self;

extern cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
extern cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

static cudaError_t leave(cudaError_t r)
{
    if (r != cudaSuccess)
        rt_self.last_error = r;
    return r;
}

/* These answer with the last error; keeping it again would make it stick. */
static bool tells_last_error(const char *name)
{
    return !__builtin_strcmp(name, "cudaGetLastError");
}

/* clang-format off */
#define ENTRY(symbol, twin, fn, ...) \
    EXPORT cudaError_t symbol(CT_PARAMS(__VA_ARGS__)) \
    { \
        rt_self.per_thread = twin; \
        cudaError_t r = rt_##fn(CT_ARGS(__VA_ARGS__)); \
        return tells_last_error(#fn) ? r : leave(r); \
    }
#define STUB(fn, ...) \
    __attribute__((weak)) cudaError_t rt_##fn(CT_PARAMS(__VA_ARGS__)) { return cudaErrorNotSupported; }
#define CT_API(fn, ...) STUB(fn, __VA_ARGS__) ENTRY(fn, false, fn, __VA_ARGS__)
#define CT_PTSZ(fn, ...) CT_API(fn, __VA_ARGS__) ENTRY(fn##_ptsz, true, fn, __VA_ARGS__)
#define CT_PTDS(fn, ...) CT_API(fn, __VA_ARGS__) ENTRY(fn##_ptds, true, fn, __VA_ARGS__)
#define CT_OTHER(type, fn, ...) \
    __attribute__((weak)) type rt_##fn(CT_PARAMS(__VA_ARGS__)) { return (type){0}; } \
    EXPORT type fn(CT_PARAMS(__VA_ARGS__)) { return rt_##fn(CT_ARGS(__VA_ARGS__)); }

/* Functions whose signature depends on the version take words; see versioned.c. */
#define RAW(symbol, twin, fn, words) \
    uint64_t raw_##symbol(CT_WORDS(words)) __asm__(#symbol); \
    EXPORT uint64_t raw_##symbol(CT_WORDS(words)) \
    { \
        rt_self.per_thread = twin; \
        return leave((cudaError_t)rt_##fn(CT_WORD_ARGS(words))); \
    }
#define CT_RAW(fn, words) \
    __attribute__((weak)) uint64_t rt_##fn(CT_WORDS(words)) { return cudaErrorNotSupported; } \
    RAW(fn, false, fn, words)
#define CT_RAW_PTSZ(fn, words) CT_RAW(fn, words) RAW(fn##_ptsz, true, fn, words)
#include "cuda/runtime_api.def"
/* clang-format on */
