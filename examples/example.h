/* SPDX-License-Identifier: MIT */
/*
 * What the examples share. Each is one file in the part of CUDA that is C as well:
 *
 *   nvcc   makes a program for the GPU, which checks its results;
 *   cc     makes a program for the simulated device. It registers the same kernels and makes the
 *          same calls, but no kernel body ever runs there, so results are not checked.
 *
 * A kernel is written KERNEL(name, parameters...) { body } and started with LAUNCH. What a program
 * prints to stdout is the same in every run; measured figures go to stderr.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <cuda_runtime_api.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call) example_check((call), #call, __FILE__, __LINE__)
#define EXAMPLE_UNUSED __attribute__((unused))

static inline void example_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    exit(1);
}

#ifdef __CUDACC__

#define EXAMPLE_ON_GPU 1
#define KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
    do {                                                                                           \
        kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__);                                \
        CHECK(cudaGetLastError());                                                                 \
    } while (0)

#else

#include <fatbinary_section.h>

#define EXAMPLE_ON_GPU 0

/* Of the interface between nvcc's output and the runtime, which no public header declares. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *name, int thread_limit, uint3 *thread, uint3 *block,
                            dim3 *block_dim, dim3 *grid_dim, int *warp_bytes);

/* Registers one kernel as a module of its own, as nvcc's start-up code does for a source file. */
static inline void example_register(void (*host_function)(void), const char *name)
{
    static const unsigned long long image[2] = {0x00100001ba55ed50ull, 0};
    static __fatBinC_Wrapper_t wrapper = {FATBINC_MAGIC, FATBINC_VERSION, image, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);

    __cudaRegisterFunction(handle, (const char *)(uintptr_t)host_function, (char *)(uintptr_t)name,
                           name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

#define KERNEL(name, ...)                                                                          \
    static void name(__VA_ARGS__);                                                                 \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        example_register((void (*)(void))(name), #name);                                           \
    }                                                                                              \
    static void name(__VA_ARGS__)

/* clang-format off */
#define EXAMPLE_ADDRESS(x) (void *)&(__typeof__((x) + 0)){(x)}
#define EXAMPLE_A1(x) EXAMPLE_ADDRESS(x)
#define EXAMPLE_A2(x, ...) EXAMPLE_ADDRESS(x), EXAMPLE_A1(__VA_ARGS__)
#define EXAMPLE_A3(x, ...) EXAMPLE_ADDRESS(x), EXAMPLE_A2(__VA_ARGS__)
#define EXAMPLE_A4(x, ...) EXAMPLE_ADDRESS(x), EXAMPLE_A3(__VA_ARGS__)
#define EXAMPLE_A5(x, ...) EXAMPLE_ADDRESS(x), EXAMPLE_A4(__VA_ARGS__)
#define EXAMPLE_A6(x, ...) EXAMPLE_ADDRESS(x), EXAMPLE_A5(__VA_ARGS__)
#define EXAMPLE_NTH(_1, _2, _3, _4, _5, _6, n, ...) n
#define EXAMPLE_ADDRESSES(...)                                                                     \
    EXAMPLE_NTH(__VA_ARGS__, EXAMPLE_A6, EXAMPLE_A5, EXAMPLE_A4, EXAMPLE_A3, EXAMPLE_A2, EXAMPLE_A1)(__VA_ARGS__)
/* clang-format on */

#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
    do {                                                                                           \
        void *example_arguments[] = {EXAMPLE_ADDRESSES(__VA_ARGS__)};                              \
        CHECK(cudaLaunchKernel((const void *)(uintptr_t)(kernel), grid, block, example_arguments,  \
                               shared_bytes, stream));                                             \
    } while (0)

/* For the kernel bodies, which are compiled and never run. */
static const uint3 threadIdx EXAMPLE_UNUSED, blockIdx EXAMPLE_UNUSED;
static const struct dim3 blockDim EXAMPLE_UNUSED = {1, 1, 1}, gridDim EXAMPLE_UNUSED = {1, 1, 1};

#define __syncthreads() ((void)0)

static inline float atomicAdd(float *where, float value)
{
    float old = *where;

    *where += value;
    return old;
}

#endif

static inline dim3 example_dim(unsigned int x, unsigned int y)
{
    dim3 dim;

    dim.x = x;
    dim.y = y;
    dim.z = 1;
    return dim;
}

static inline unsigned int example_blocks(size_t items, unsigned int per_block)
{
    return (unsigned int)((items + per_block - 1) / per_block);
}

static inline void *example_malloc(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory) {
        fprintf(stderr, "out of memory (%zu bytes)\n", bytes);
        exit(1);
    }
    return memory;
}

static inline void *example_device_malloc(size_t bytes)
{
    void *memory = NULL;

    CHECK(cudaMalloc(&memory, bytes));
    return memory;
}

static inline double example_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* A measured figure: to stderr, since no two runs agree on it. */
__attribute__((format(printf, 1, 2))) static inline void example_figure(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* Prints the verdict on a result, and returns the program's exit status. */
static inline int example_verdict(const char *what, int correct)
{
    if (!EXAMPLE_ON_GPU) {
        printf("%s: simulated device: results not checked\n", what);
        return 0;
    }
    printf("%s: %s\n", what, correct ? "correct" : "WRONG");
    return !correct;
}

#endif
