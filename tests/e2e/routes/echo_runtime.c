/* SPDX-License-Identifier: MIT */
/*
 * Calls each function of the runtime and compares what arrived bit by bit; linked with the echo of
 * one major version. Argument: linked, or dlsym with that library's handle.
 */
#include <cuda_runtime_api.h>
#include <cuda_profiler_api.h>

#include "routes/echo_call.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
extern cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

static cudasim_echo_find_fn *find;
static cudasim_echo_forget_fn *forget;

static const struct cudasim_echo *arrived(const char *name, unsigned count)
{
    const struct cudasim_echo *e = find(name);
    static const struct cudasim_echo none;
    echo_checks++;
    if (!e)
        echo_fail(name, "did not arrive");
    else if (e->count != count)
        echo_fail(name, "another number of arguments");
    return e ? e : &none;
}

/* clang-format off */
#define CALLER(symbol, result_type, type_of, ...) \
    static void call_##symbol(void *function) \
    { \
        const char *name = #symbol; \
        echo_about(#symbol); \
        EACH(ECHO_ARGUMENT, __VA_ARGS__) \
        forget(); \
        result_type result = ((__typeof__(type_of) *)function)(CT_ARGS(__VA_ARGS__)); \
        const struct cudasim_echo *e = arrived(name, ECHO_COUNT(__VA_ARGS__)); \
        EACH(ECHO_COMPARE, __VA_ARGS__) \
        if (memcmp(&result, &e->result, sizeof(e->result))) \
            echo_fail(name, "another result"); \
    }
#define TWIN(symbol, type_of, ...) \
    extern __typeof__(type_of) symbol; CALLER(symbol, cudaError_t, type_of, __VA_ARGS__)
#define CT_API(fn, ...) CALLER(fn, cudaError_t, fn, __VA_ARGS__)
#define CT_PTSZ(fn, ...) CT_API(fn, __VA_ARGS__) TWIN(fn##_ptsz, fn, __VA_ARGS__)
#define CT_PTDS(fn, ...) CT_API(fn, __VA_ARGS__) TWIN(fn##_ptds, fn, __VA_ARGS__)
#define CT_OTHER(type, fn, ...) CALLER(fn, type, fn, __VA_ARGS__)
#define W1 uint64_t
#define W2 W1, uint64_t
#define W3 uint64_t, uint64_t, uint64_t
#define W4 W3, uint64_t
#define W5 W4, uint64_t
#define W6 W5, uint64_t
#define W7 W6, uint64_t
#define W8 W7, uint64_t
#define W9 W8, uint64_t
/* Words that are pointers may be read: all of them are addresses. */
#define WORD(i, t) uint64_t a##i = (uint64_t)(uintptr_t)echo_zeros[i] + ((uint64_t)i << 52);
#define RAW_(symbol, words, ...) \
    extern uint64_t raw_##symbol(CT_WORDS(words)) __asm__(#symbol); \
    static void call_##symbol(void *function) \
    { \
        const char *name = #symbol; \
        EACH(WORD, __VA_ARGS__) \
        forget(); \
        uint64_t result = ((__typeof__(raw_##symbol) *)function)(CT_WORD_ARGS(words)); \
        const struct cudasim_echo *e = arrived(name, words); \
        EACH(ECHO_COMPARE, __VA_ARGS__) \
        if ((int)result != e->result) \
            echo_fail(name, "another result"); \
    }
#define RAW(symbol, words, list) RAW_(symbol, words, list)
#define CT_RAW(fn, words) RAW(fn, words, W##words)
#define CT_RAW_PTSZ(fn, words) RAW(fn, words, W##words) RAW(fn##_ptsz, words, W##words)
#include "cuda/runtime_api.def"

static const struct caller {
    const char *symbol;
    void (*call)(void *function);
    void *linked;
} callers[] = {
#define ENTRY(symbol) {#symbol, call_##symbol, (void *)symbol},
#define RAW_ENTRY(symbol) {#symbol, call_##symbol, (void *)raw_##symbol},
#define CT_API(fn, ...) ENTRY(fn)
#define CT_PTSZ(fn, ...) ENTRY(fn) ENTRY(fn##_ptsz)
#define CT_PTDS(fn, ...) ENTRY(fn) ENTRY(fn##_ptds)
#define CT_OTHER(type, fn, ...) ENTRY(fn)
#define CT_RAW(fn, words) RAW_ENTRY(fn)
#define CT_RAW_PTSZ(fn, words) RAW_ENTRY(fn) RAW_ENTRY(fn##_ptsz)
#include "cuda/runtime_api.def"
};
/* clang-format on */

int main(int argc, char **argv)
{
    void *library = dlopen(ECHO_RUNTIME, RTLD_NOW);
    if (argc != 2 || !library)
        return 2;
    find = (cudasim_echo_find_fn *)dlsym(library, "cudasim_echo_rt_find");
    forget = (cudasim_echo_forget_fn *)dlsym(library, "cudasim_echo_rt_forget");
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        void *p = callers[i].linked;
        if (!strcmp(argv[1], "dlsym"))
            p = dlsym(library, callers[i].symbol);
        const char *expected = getenv("LD_PRELOAD") ? "libcutrace.so" : ECHO_RUNTIME;
        if (strcmp(echo_owner(p), expected))
            echo_fail(callers[i].symbol, echo_owner(p));
        callers[i].call(p);
    }
    printf("%u calls, %u wrong\n", echo_checks, echo_failures);
    return echo_failures != 0;
}
