/* SPDX-License-Identifier: MIT */
/*
 * The simulated runtime: one source for libcudart.so.13, .12, .11.0 and the static library, which
 * differ in RT_VERSION. Like the real one it has the driver by dlopen, dlsym and cuGetProcAddress.
 *
 * rt_<name> is what the exported <name> and its per-thread-stream twin do. entry.c has a weak one
 * for every row of runtime_api.def, which answers NotSupported: to model a function, define it.
 */
#ifndef RT_RUNTIME_H
#define RT_RUNTIME_H

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

/* The driver's interface with all versions; the runtime's headers know its handles only. */
#include "cuda/newer_api.h"

#ifndef RT_VERSION
#define RT_VERSION 13000
#endif

/* A program with the static library in it exports nothing of it. */
#ifdef RT_STATIC
#define EXPORT __attribute__((visibility("hidden")))
#else
#define EXPORT __attribute__((visibility("default")))
#endif

struct rt_driver {
#define CALL(name, symbol) __typeof__(symbol) *name;
#define LATER(name, symbol, version) __typeof__(symbol) *name;
#include "runtime/driver_calls.def"
};

struct rt_thread {
    bool per_thread; /* the call in progress came through a twin */
    int device;      /* cudaSetDevice's */
    cudaError_t last_error;
};

extern __thread struct rt_thread rt_self;

/* The driver as the call in progress means it: with legacy or per-thread default streams. */
const struct rt_driver *rt_driver(void);
#define DRV(name, ...)                                                                             \
    (rt_driver()->name ? (cudaError_t)rt_driver()->name(__VA_ARGS__) : cudaErrorNotSupported)

/* The driver is there and the device's primary context is current. */
cudaError_t rt_need_context(void);
cudaError_t rt_need_driver(void);

/* Of a kernel's stub or a symbol's shadow in the program (register.c). */
cudaError_t rt_function_of(const void *stub, CUfunction *out);
cudaError_t rt_symbol_of(const void *shadow, CUdeviceptr *out, size_t *bytes);
void rt_forget_modules(void); /* the context was reset */

#endif
