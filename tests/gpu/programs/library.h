/* SPDX-License-Identifier: MIT */
/* What the programs that use NVIDIA's libraries share. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) library_check((int)(call), #call, __LINE__)

/* Every one of the libraries, and the runtime, returns 0 for success. */
static inline void library_check(int status, const char *call, int line)
{
    if (!status)
        return;
    fprintf(stderr, "line %d: %s: status %d\n", line, call, status);
    exit(1);
}

/* `count` floats on the device: small numbers that repeat. */
static inline float *library_floats(size_t count)
{
    float *host = (float *)malloc(count * sizeof(float)), *device = NULL;

    for (size_t i = 0; i < count; i++)
        host[i] = (float)(i % 13) - 6.0f;
    OK(cudaMalloc((void **)&device, count * sizeof(float)));
    OK(cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice));
    free(host);
    return device;
}

/* Prints the sum of `count` floats to three digits, so that the order of additions is no matter. */
static inline void library_print(const char *what, const float *device, size_t count)
{
    float *host = (float *)malloc(count * sizeof(float));
    double sum = 0;

    OK(cudaDeviceSynchronize()); /* the stream may be a non-blocking one */
    OK(cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        sum += fabs((double)host[i]);
    printf("%s: %.3g\n", what, sum);
    free(host);
}

#endif
