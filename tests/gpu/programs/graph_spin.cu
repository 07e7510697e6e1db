// SPDX-License-Identifier: MIT
// graph_spin [LAUNCHES]: a graph of kernels that spin and write memory, one behind the other and side
// by side, with a copy between, launched again and again in two streams. What it computes is the
// same each time. spin_only writes next to nothing, in one block.
//
// Launches are timed in turns with those of a second executable graph of the same, which the program
// has changed (into what it was): cutrace leaves that alone. Then LAUNCHES / 4 from the call until the
// graph is through, on a device that has nothing else to do.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime.h"

#define BLOCKS 264
#define THREADS 256
#define TURN 200 // launches of one executable graph, then as many of the other

static __device__ void spin(uint64_t ns)
{
    uint64_t start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - start < ns);
}

static __device__ void spin_and_write(uint64_t ns, unsigned *cells)
{
    spin(ns);
    cells[blockIdx.x * blockDim.x + threadIdx.x]++;
}

__global__ void write_only(uint64_t, unsigned *cells) { spin_and_write(0, cells); }
__global__ void spin_2(uint64_t ns, unsigned *cells) { spin_and_write(ns, cells); }
__global__ void spin_5(uint64_t ns, unsigned *cells) { spin_and_write(ns, cells); }
__global__ void spin_10(uint64_t ns, unsigned *cells) { spin_and_write(ns, cells); }
__global__ void spin_50(uint64_t ns, unsigned *cells) { spin_and_write(ns, cells); }
__global__ void spin_beside(uint64_t ns, unsigned *cells) { spin_and_write(ns, cells); }
__global__ void spin_only(uint64_t ns, unsigned *cells)
{
    spin(ns);
    if (!threadIdx.x)
        ++*cells;
}

static unsigned *cells, *copy, *others;

static cudaGraph_t capture(cudaStream_t s, cudaStream_t other)
{
    cudaGraph_t g;
    cudaEvent_t forked, joined;
    RT(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    RT(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    RT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 4; i++) {
        write_only<<<BLOCKS, THREADS, 0, s>>>(0, cells);
        spin_2<<<BLOCKS, THREADS, 0, s>>>(2000, cells);
        spin_5<<<BLOCKS, THREADS, 0, s>>>(5000, cells);
        spin_10<<<BLOCKS, THREADS, 0, s>>>(10000, cells);
    }
    spin_only<<<1, 32, 0, s>>>(5000, cells);
    RT(cudaMemcpyAsync(copy, cells, sizeof(*cells), cudaMemcpyDeviceToDevice, s));
    spin_50<<<BLOCKS, THREADS, 0, s>>>(50000, cells);
    RT(cudaEventRecord(forked, s));
    RT(cudaStreamWaitEvent(other, forked, 0));
    spin_beside<<<BLOCKS / 2, THREADS, 0, other>>>(20000, others);
    spin_beside<<<BLOCKS / 2, THREADS, 0, s>>>(20000, cells);
    RT(cudaEventRecord(joined, other));
    RT(cudaStreamWaitEvent(s, joined, 0));
    RT(cudaStreamEndCapture(s, &g));
    return g;
}

static double median(std::vector<double> &us)
{
    std::sort(us.begin(), us.end());
    return us.empty() ? 0 : us[us.size() / 2];
}

static double launch(cudaGraphExec_t exec, cudaStream_t s, bool wait = false)
{
    const auto start = std::chrono::steady_clock::now();
    RT(cudaGraphLaunch(exec, s));
    if (wait)
        RT(cudaStreamSynchronize(s));
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::micro>(end - start).count();
}

int main(int argc, char **argv)
{
    const int launches = argc > 1 ? atoi(argv[1]) : 4000;
    const size_t count = BLOCKS * THREADS;
    std::vector<unsigned> result(2 * count + 1);
    std::vector<double> us[2], through_us;
    cudaStream_t s, other;
    cudaGraphExec_t exec[2];
    CUgraphExecUpdateResultInfo info;
    RT(cudaMalloc(&cells, result.size() * sizeof(*cells)));
    RT(cudaMemset(cells, 0, result.size() * sizeof(*cells)));
    others = cells + count, copy = cells + 2 * count;
    RT(cudaStreamCreate(&s));
    RT(cudaStreamCreate(&other));
    cudaGraph_t g = capture(s, other);
    for (int i = 0; i < 2; i++)
        RT(cudaGraphInstantiate(&exec[i], g, 0));
    if (cuGraphExecUpdate(exec[1], g, &info) != CUDA_SUCCESS)
        return 1;
    RT(cudaGraphDestroy(g));
    for (int i = 0; i < launches; i++) {
        const int which = i / TURN % 2;
        const double took_us = launch(exec[which], i % 50 < 40 ? s : other);
        if (i >= 2 * TURN)
            us[which].push_back(took_us);
        if (i % 4 == 3)
            RT(cudaDeviceSynchronize());
    }
    for (int i = 0; i < launches / 4; i++)
        through_us.push_back(launch(exec[0], s, true));
    RT(cudaMemcpy(result.data(), cells, result.size() * sizeof(*cells), cudaMemcpyDeviceToHost));
    uint64_t sum = 0;
    for (unsigned cell : result)
        sum = sum * 1099511628211u + cell;
    printf("result %u %u %llx\n", result[0], result[2 * count], (unsigned long long)sum);
    printf("figure launch %.3f\n", median(us[0]));
    printf("figure changed %.3f\n", median(us[1]));
    printf("figure through %.3f\n", median(through_us));
    return 0;
}
