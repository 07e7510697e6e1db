/* SPDX-License-Identifier: MIT */
/*
 * bench_loop NS STREAMS LAUNCHES: microseconds per kernel of a loop that does nothing but launch
 * kernels of NS nanoseconds (0: empty), in turn on STREAMS streams. The best of five loops.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>

static const int MOST_STREAMS = 64;

__global__ void nothing()
{
}

__global__ void spin(unsigned long long ns)
{
    unsigned long long start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

static double now_us()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static double loop_us(unsigned long long ns, int launches, cudaStream_t *streams, int count)
{
    double start = now_us();

    for (int i = 0; i < launches; i++) {
        if (ns)
            spin<<<1, 1, 0, streams[i % count]>>>(ns);
        else
            nothing<<<1, 1, 0, streams[i % count]>>>();
    }
    cudaDeviceSynchronize();
    return (now_us() - start) / launches;
}

int main(int argc, char **argv)
{
    unsigned long long ns = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    int count = argc > 2 ? atoi(argv[2]) : 1, launches = argc > 3 ? atoi(argv[3]) : 20000;
    cudaStream_t streams[MOST_STREAMS];
    double best = 1e30;

    if (count < 1 || count > MOST_STREAMS || launches < 1)
        return 2;
    for (int i = 0; i < count; i++)
        if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) != cudaSuccess)
            return 1;
    loop_us(ns, launches / 10 + 1, streams, count);
    for (int i = 0; i < 5; i++) {
        double us = loop_us(ns, launches, streams, count);

        best = us < best ? us : best;
    }
    printf("%.4f\n", best);
    return cudaGetLastError() != cudaSuccess;
}
