// SPDX-License-Identifier: MIT
//
// Managed memory that moves: by page faults of the GPU, by page faults of the CPU, and by prefetches
// both ways. Prints how many bytes went each way. A megabyte argument says how much memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void increment(unsigned char *p, size_t bytes)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < bytes; i += step)
        p[i]++;
}

static void prefetch(unsigned char *p, size_t bytes, bool to_device)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation where = {};
    where.type = to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    CHECK(cudaMemPrefetchAsync(p, bytes, where, 0, 0));
#else
    CHECK(cudaMemPrefetchAsync(p, bytes, to_device ? 0 : cudaCpuDeviceId));
#endif
    CHECK(cudaDeviceSynchronize());
}

static unsigned long sum(const unsigned char *p, size_t bytes)
{
    unsigned long total = 0;
    for (size_t i = 0; i < bytes; i++)
        total += p[i];
    return total;
}

int main(int argc, char **argv)
{
    size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 16) << 20;
    unsigned char *p;
    CHECK(cudaMallocManaged(&p, bytes));
    memset(p, 1, bytes); // where it is touched first it is made, nothing moves
    increment<<<64, 256>>>(p, bytes);
    CHECK(cudaDeviceSynchronize());
    bool good = sum(p, bytes) == 2 * bytes;
    prefetch(p, bytes, true);
    prefetch(p, bytes, false);
    good &= sum(p, bytes) == 2 * bytes;
    printf("%s, %zu each way\n", good ? "right" : "wrong", 2 * bytes);
    CHECK(cudaFree(p));
    return !good;
}
