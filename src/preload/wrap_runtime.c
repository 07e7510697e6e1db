/* SPDX-License-Identifier: MIT */
/*
 * The runtime API's wrappers: one exported function for each row of runtime_api.def. They count
 * the call under its name, if anybody wants to know; the driver calls inside are bracketed, but
 * are no API rows.
 */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "counts/api_call.h"
#include "counts/api_count.h"
#include "cuda/args.h"
#include "preload/runtime.h"
#include "preload/wrap.h"
#include "state/recording.h"

/* Declared in crt/device_functions.h, which only nvcc can read. */
extern cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
extern cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
extern cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

/* Questions for the last error, or whether work is done, do not fail. */
static inline bool is_failure(uint32_t id, uint64_t r)
{
    return r != cudaSuccess && (uint32_t)r != cudaErrorNotReady && id != CT_ID_cudaGetLastError &&
           id != CT_ID_cudaPeekAtLastError;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* clang-format off */
/* `missing` is the result of a call that no runtime library is there for. */
#define WRAP_TYPE(type, fn, prototype, failure, result, missing, parameters, arguments) \
    CT_EXPORT type fn(parameters) \
    { \
        prototype *ct_f = (prototype *)ct_runtime_real(CT_ID_##fn, __builtin_return_address(0)); \
        if (ct_unlikely(!ct_f)) \
            return missing; \
        if (atomic_load_explicit(&ct_calls_are_off, memory_order_relaxed)) \
            return ct_f(arguments); \
        struct ct_thread *ct_t = ct_wrap_enter(); \
        if (ct_unlikely(!ct_t || ct_t->runtime_depth)) \
            return ct_f(arguments); \
        ct_t->runtime_depth++; \
        const bool ct_due = ct_thread_times_call(ct_t, CT_ID_##fn); \
        const uint64_t ct_t0 = ct_due ? ct_ticks() : 0; \
        type const ct_r = ct_f(arguments); \
        const uint64_t ct_t1 = ct_due ? ct_ticks() : 0; \
        ct_t->runtime_depth--; \
        ct_thread_count(ct_t, CT_ID_##fn, ct_due, ct_t0, ct_t1, failure, result); \
        return ct_r; \
    }
#define PACK(...) __VA_ARGS__
#define WRAP(fn, prototype, ...) \
    WRAP_TYPE(cudaError_t, fn, prototype, is_failure(CT_ID_##fn, ct_r), (int32_t)ct_r, \
              cudaErrorSharedObjectSymbolNotFound, PACK(CT_PARAMS(__VA_ARGS__)), \
              PACK(CT_ARGS(__VA_ARGS__)))
#define CT_API(fn, ...) WRAP(fn, __typeof__(fn), __VA_ARGS__)
#define CT_PTSZ(fn, ...) CT_API(fn, __VA_ARGS__) \
    extern __typeof__(fn) fn##_ptsz; WRAP(fn##_ptsz, __typeof__(fn), __VA_ARGS__)
#define CT_PTDS(fn, ...) CT_API(fn, __VA_ARGS__) \
    extern __typeof__(fn) fn##_ptds; WRAP(fn##_ptds, __typeof__(fn), __VA_ARGS__)
#define CT_OTHER(type, fn, ...) \
    WRAP_TYPE(type, fn, __typeof__(fn), false, 0, (type){0}, PACK(CT_PARAMS(__VA_ARGS__)), PACK(CT_ARGS(__VA_ARGS__)))

/*
 * Raw rows: a prototype of ours under the header's symbol name, which this file therefore must not
 * use as an identifier.
 */
#define RAW(fn, words) \
    uint64_t ct_raw_##fn(CT_WORDS(words)) __asm__(#fn); \
    CT_EXPORT uint64_t ct_raw_##fn(CT_WORDS(words)) \
    { \
        uint64_t (*ct_f)(CT_WORDS(words)) = (__typeof__(ct_f))ct_runtime_real(CT_ID_##fn, __builtin_return_address(0)); \
        if (ct_unlikely(!ct_f)) \
            return cudaErrorSharedObjectSymbolNotFound; \
        if (atomic_load_explicit(&ct_calls_are_off, memory_order_relaxed)) \
            return ct_f(CT_WORD_ARGS(words)); \
        struct ct_thread *ct_t = ct_wrap_enter(); \
        if (ct_unlikely(!ct_t || ct_t->runtime_depth)) \
            return ct_f(CT_WORD_ARGS(words)); \
        ct_t->runtime_depth++; \
        const bool ct_due = ct_thread_times_call(ct_t, CT_ID_##fn); \
        const uint64_t ct_t0 = ct_due ? ct_ticks() : 0; \
        const uint64_t ct_r = ct_f(CT_WORD_ARGS(words)); \
        const uint64_t ct_t1 = ct_due ? ct_ticks() : 0; \
        ct_t->runtime_depth--; \
        ct_thread_count(ct_t, CT_ID_##fn, ct_due, ct_t0, ct_t1, is_failure(CT_ID_##fn, (uint32_t)ct_r), \
                        (int32_t)ct_r); \
        return ct_r; \
    }
#define CT_RAW(fn, words) RAW(fn, words)
#define CT_RAW_PTSZ(fn, words) RAW(fn, words) RAW(fn##_ptsz, words)
#include "cuda/runtime_api.def"

const ct_function ct_runtime_wrappers[CT_RUNTIME_COUNT] = {
#define CT_API(fn, ...) (ct_function)fn,
#define CT_PTSZ(fn, ...) (ct_function)fn, (ct_function)fn##_ptsz,
#define CT_PTDS(fn, ...) (ct_function)fn, (ct_function)fn##_ptds,
#define CT_OTHER(type, fn, ...) (ct_function)fn,
#define CT_RAW(fn, words) (ct_function)ct_raw_##fn,
#define CT_RAW_PTSZ(fn, words) (ct_function)ct_raw_##fn, (ct_function)ct_raw_##fn##_ptsz,
#include "cuda/runtime_api.def"
};
/* clang-format on */
