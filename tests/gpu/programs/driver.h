/* SPDX-License-Identifier: MIT */
/* What the driver API programs share: error checks, one context, one module, checksums. */
#ifndef DRIVER_H
#define DRIVER_H

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) driver_check((call), #call, __LINE__)
#define UNUSED __attribute__((unused))
#define ELEMENTS 65536u
#define BYTES ((size_t)ELEMENTS * sizeof(int))
#define THREADS 256u

static inline void driver_check(CUresult result, const char *call, int line)
{
    const char *text = "unknown";

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &text);
    fprintf(stderr, "line %d: %s: %s\n", line, call, text);
    exit(1);
}

struct driver {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction add_one, scale;
    CUdeviceptr data, other;
    int *host;
};

static inline UNUSED void driver_open(struct driver *d, const char *image)
{
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&d->device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&d->context, d->device));
    CHECK(cuCtxSetCurrent(d->context));
    CHECK(cuModuleLoad(&d->module, image));
    CHECK(cuModuleGetFunction(&d->add_one, d->module, "add_one"));
    CHECK(cuModuleGetFunction(&d->scale, d->module, "scale"));
    CHECK(cuMemAlloc(&d->data, BYTES));
    CHECK(cuMemAlloc(&d->other, BYTES));
    CHECK(cuMemHostAlloc((void **)&d->host, BYTES, 0));
    for (unsigned int i = 0; i < ELEMENTS; i++)
        d->host[i] = (int)i;
    CHECK(cuMemcpyHtoD(d->data, d->host, BYTES));
    CHECK(cuMemcpyDtoD(d->other, d->data, BYTES));
    CHECK(cuCtxSynchronize());
}

static inline UNUSED void driver_close(struct driver *d)
{
    CHECK(cuCtxSynchronize());
    CHECK(cuMemFree(d->data));
    CHECK(cuMemFree(d->other));
    CHECK(cuMemFreeHost(d->host));
    CHECK(cuModuleUnload(d->module));
    CHECK(cuDevicePrimaryCtxRelease(d->device));
}

/* Starts the kernel f(int *data, unsigned int elements) on `stream`. */
static inline UNUSED void driver_launch(CUfunction f, CUdeviceptr data, CUstream stream)
{
    unsigned int elements = ELEMENTS;
    void *arguments[] = {&data, &elements};

    CHECK(cuLaunchKernel(f, ELEMENTS / THREADS, 1, 1, THREADS, 1, 1, 0, stream, arguments, NULL));
}

static inline UNUSED unsigned int driver_sum(const void *memory, size_t bytes)
{
    unsigned int sum = 1;

    for (size_t i = 0; i < bytes; i++)
        sum = sum * 31 + ((const unsigned char *)memory)[i];
    return sum;
}

static inline UNUSED void driver_print(struct driver *d, const char *what)
{
    CHECK(cuMemcpyDtoH(d->host, d->data, BYTES));
    printf("%s: %08x\n", what, driver_sum(d->host, BYTES));
}

struct driver_group {
    const char *name;
    void (*run)(struct driver *d, const char *image);
};

/* A program of several groups: main's arguments are the image and the group to run. */
static inline UNUSED int driver_main(int argc, char **argv, const struct driver_group *groups,
                                     size_t count)
{
    struct driver d;

    if (argc != 3)
        return 2;
    driver_open(&d, argv[1]);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(groups[i].name, argv[2]))
            groups[i].run(&d, argv[1]);
    driver_print(&d, argv[2]);
    driver_close(&d);
    return 0;
}

#endif
