/* SPDX-License-Identifier: MIT */
/*
 * streams PATTERN STREAMS ROUNDS US: kernels of one block in many streams, in ways in which programs
 * have them side by side. Prints "figure wall MS", "figure kernels COUNT" and "figure busy MS", the
 * sum of what the kernels took by the GPU's own clock.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#include "runtime.h"

static const size_t COPY_BYTES = 1 << 16;

static __device__ long global_ns()
{
    long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void spin(long ns, long *took)
{
    long start = global_ns(), now;
    do
        now = global_ns();
    while (now - start < ns);
    if (!threadIdx.x)
        *took = now - start;
}

struct lane {
    cudaStream_t stream;
    cudaEvent_t join;
    char *host, *device;
};

struct work {
    std::vector<struct lane> lanes;
    cudaStream_t main;
    cudaEvent_t fork;
    long us, launched;
    long *took;
};

/* A kernel of every length from a quarter to seven quarters, in the same order in each run. */
static long mixed_us(const struct work *w)
{
    return w->us / 4 + w->launched * 7919 % 97 * w->us * 3 / 2 / 96;
}

static void launch(struct work *w, const struct lane *l, long us)
{
    spin<<<1, 32, 0, l->stream>>>(us * 1000, w->took + w->launched++);
}

static void turns(struct work *w)
{
    for (const auto &l : w->lanes)
        launch(w, &l, w->us);
}

static void mixed(struct work *w)
{
    for (const auto &l : w->lanes)
        launch(w, &l, mixed_us(w));
}

static void fork_join(struct work *w)
{
    RT(cudaEventRecord(w->fork, w->main));
    for (const auto &l : w->lanes) {
        RT(cudaStreamWaitEvent(l.stream, w->fork, 0));
        launch(w, &l, w->us);
        RT(cudaEventRecord(l.join, l.stream));
        RT(cudaStreamWaitEvent(w->main, l.join, 0));
    }
}

static void pipeline(struct work *w)
{
    for (const auto &l : w->lanes) {
        RT(cudaMemcpyAsync(l.device, l.host, COPY_BYTES, cudaMemcpyHostToDevice, l.stream));
        launch(w, &l, w->us);
        RT(cudaMemcpyAsync(l.host, l.device, COPY_BYTES, cudaMemcpyDeviceToHost, l.stream));
    }
}

static void begin(struct work *w, long streams, long kernels)
{
    RT(cudaStreamCreateWithFlags(&w->main, cudaStreamNonBlocking));
    RT(cudaEventCreateWithFlags(&w->fork, cudaEventDisableTiming));
    RT(cudaMalloc((void **)&w->took, (kernels + streams) * sizeof(long)));
    w->lanes.resize(streams);
    for (auto &l : w->lanes) {
        RT(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
        RT(cudaEventCreateWithFlags(&l.join, cudaEventDisableTiming));
        RT(cudaMallocHost((void **)&l.host, COPY_BYTES));
        RT(cudaMalloc((void **)&l.device, COPY_BYTES));
        launch(w, &l, 1);
    }
    RT(cudaDeviceSynchronize());
}

static double busy_ms(const struct work *w)
{
    std::vector<long> took(w->launched);
    double sum = 0;
    RT(cudaMemcpy(took.data(), w->took, took.size() * sizeof(long), cudaMemcpyDeviceToHost));
    for (long ns : took)
        sum += ns / 1e6;
    return sum;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*round)(struct work *w);
    } patterns[] = {
        {"turns", turns}, {"mixed", mixed}, {"fork-join", fork_join}, {"pipeline", pipeline}};
    struct work w = {};
    if (argc != 5)
        return 2;
    long streams = atol(argv[2]), rounds = atol(argv[3]);
    w.us = atol(argv[4]);
    begin(&w, streams, streams * rounds);
    auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < rounds; i++)
        for (const auto &p : patterns)
            if (!strcmp(p.name, argv[1]))
                p.round(&w);
    RT(cudaDeviceSynchronize());
    std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    printf("figure wall %.3f\nfigure kernels %ld\nfigure busy %.3f\n", wall.count(), w.launched,
           busy_ms(&w));
    return 0;
}
