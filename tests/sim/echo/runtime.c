/* SPDX-License-Identifier: MIT */
/* A libcudart that does nothing but keep each call's arguments. */
#include <cuda_runtime_api.h>
#include <cuda_profiler_api.h>

#include "echo/echo.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
extern cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

enum echo_id {
#define CT_API(fn, ...) ID_##fn,
#define CT_PTSZ(fn, ...) ID_##fn, ID_##fn##_ptsz,
#define CT_PTDS(fn, ...) ID_##fn, ID_##fn##_ptds,
#define CT_OTHER(type, fn, ...) ID_##fn,
#define CT_RAW(fn, words) ID_##fn,
#define CT_RAW_PTSZ(fn, words) ID_##fn, ID_##fn##_ptsz,
#include "cuda/runtime_api.def"
};

/* clang-format off */
#define BODY(symbol, ...) \
        struct cudasim_echo *e = echo_begin(#symbol); \
        EACH(ECHO_KEEP, __VA_ARGS__) \
        e->result = ECHO_TOKEN + ID_##symbol;
#define CALL(symbol, ...) \
    ECHO_EXPORT cudaError_t symbol(CT_PARAMS(__VA_ARGS__)) \
    { \
        BODY(symbol, __VA_ARGS__) \
        return (cudaError_t)e->result; \
    }
#define CT_API(fn, ...) CALL(fn, __VA_ARGS__)
#define CT_PTSZ(fn, ...) CALL(fn, __VA_ARGS__) CALL(fn##_ptsz, __VA_ARGS__)
#define CT_PTDS(fn, ...) CALL(fn, __VA_ARGS__) CALL(fn##_ptds, __VA_ARGS__)
#define CT_OTHER(type, fn, ...) \
    ECHO_EXPORT type fn(CT_PARAMS(__VA_ARGS__)) \
    { \
        type result; \
        BODY(fn, __VA_ARGS__) \
        memset(&result, 0, sizeof(result)); \
        memcpy(&result, &e->result, sizeof(result) < sizeof(e->result) ? sizeof(result) : sizeof(e->result)); \
        return result; \
    }
#define WORD(i, t) echo_keep(e, &a##i, sizeof(a##i));
#define WORDS_1 WORD(1,)
#define WORDS_2 WORDS_1 WORD(2,)
#define WORDS_3 WORDS_2 WORD(3,)
#define WORDS_4 WORDS_3 WORD(4,)
#define WORDS_5 WORDS_4 WORD(5,)
#define WORDS_6 WORDS_5 WORD(6,)
#define WORDS_7 WORDS_6 WORD(7,)
#define WORDS_8 WORDS_7 WORD(8,)
#define WORDS_9 WORDS_8 WORD(9,)
#define RAW(symbol, words) \
    uint64_t raw_##symbol(CT_WORDS(words)) __asm__(#symbol); \
    ECHO_EXPORT uint64_t raw_##symbol(CT_WORDS(words)) \
    { \
        struct cudasim_echo *e = echo_begin(#symbol); \
        WORDS_##words \
        e->result = ECHO_TOKEN + ID_##symbol; \
        return (uint64_t)e->result; \
    }
#define CT_RAW(fn, words) RAW(fn, words)
#define CT_RAW_PTSZ(fn, words) RAW(fn, words) RAW(fn##_ptsz, words)
#include "cuda/runtime_api.def"
/* clang-format on */

/* By which a runtime is recognised, beside the functions above. */
ECHO_EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
    return wrapper;
}

ECHO_EXPORT cudasim_echo_find_fn cudasim_echo_rt_find;
const struct cudasim_echo *cudasim_echo_rt_find(const char *name)
{
    return echo_find(name);
}

ECHO_EXPORT cudasim_echo_count_fn cudasim_echo_rt_count;
uint64_t cudasim_echo_rt_count(void)
{
    return echo_calls;
}

ECHO_EXPORT cudasim_echo_forget_fn cudasim_echo_rt_forget;
void cudasim_echo_rt_forget(void)
{
    memset(echo_kept, 0, sizeof(echo_kept));
}
