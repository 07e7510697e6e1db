// SPDX-License-Identifier: MIT
//
// What a grid takes by the GPU's own clock, and how many of its blocks are on a multiprocessor at once, by
// the size and number of its blocks. Run it alone and under a profiler: what differs is what the profiler
// does to the kernel. Each launch finds the GPU idle. And what a kernel of many large blocks that write takes, in
// a row of launches between two events: one like that with which XLA fills what is around its buffers.
//
//   probe_blocks
#include <algorithm>
#include <cstdio>
#include <vector>

#include "programs/global_ns.h"
#include "programs/pause.h"
#include "programs/runtime.h"

static const int LAUNCHES = 200, MOST_BLOCKS = 8192, SPIN_CYCLES = 800, MULTIPROCESSORS = 256;

struct Notes {
    unsigned long long first, last;
    int most, now[MULTIPROCESSORS];
};

__device__ unsigned multiprocessor()
{
    unsigned id;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id % MULTIPROCESSORS;
}

template <int THREADS, bool WRITES> __global__ void grid(Notes *notes, float *to)
{
    unsigned here = multiprocessor();
    if (!threadIdx.x) {
        atomicMin(&notes->first, global_ns());
        atomicMax(&notes->most, atomicAdd(&notes->now[here], 1) + 1);
    }
    long long from = clock64();
    while (clock64() - from < SPIN_CYCLES)
        ;
    if (WRITES)
        to[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (!threadIdx.x) {
        atomicAdd(&notes->now[here], -1);
        atomicMax(&notes->last, global_ns());
    }
}

template <int THREADS, bool WRITES> static void measure(int blocks, Notes *notes, float *to)
{
    std::vector<unsigned long long> took;
    int most = 0;

    for (int i = 0; i < LAUNCHES; i++) {
        Notes n = {~0ull, 0};
        RT(cudaMemcpy(notes, &n, sizeof(n), cudaMemcpyHostToDevice));
        pause_ns(15000);
        grid<THREADS, WRITES><<<blocks, THREADS>>>(notes, to);
        RT(cudaMemcpy(&n, notes, sizeof(n), cudaMemcpyDeviceToHost));
        took.push_back(n.last - n.first);
        most = std::max(most, n.most);
    }
    std::sort(took.begin(), took.end());
    printf("%5d blocks of %4d threads%-11s %6.2f us, %d at once\n", blocks, THREADS,
           WRITES ? " that write:" : ":", took[LAUNCHES / 2] / 1e3, most);
}

__global__ void fill(unsigned char *to)
{
    to[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

static void measure_row(unsigned char *to)
{
    cudaEvent_t begin, end;
    float ms;

    RT(cudaEventCreate(&begin));
    RT(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) { /* the first row is the warm-up */
        RT(cudaEventRecord(begin));
        for (int k = 0; k < LAUNCHES; k++)
            fill<<<MOST_BLOCKS, 1024>>>(to);
        RT(cudaEventRecord(end));
        RT(cudaEventSynchronize(end));
    }
    RT(cudaEventElapsedTime(&ms, begin, end));
    printf("%5d blocks of %4d threads in a row, a byte each: %6.2f us\n", MOST_BLOCKS, 1024,
           ms * 1e3 / LAUNCHES);
}

int main()
{
    Notes *notes;
    float *to;

    RT(cudaMalloc(&notes, sizeof(*notes)));
    RT(cudaMalloc(&to, sizeof(*to) * MOST_BLOCKS * 1024));
    for (int blocks : {132, 264, 528, 1056, 4224}) {
        measure<128, false>(blocks, notes, to);
        measure<256, false>(blocks, notes, to);
        measure<512, false>(blocks, notes, to);
        measure<512, true>(blocks, notes, to);
        measure<1024, false>(blocks, notes, to);
    }
    measure<1024, true>(MOST_BLOCKS, notes, to);
    measure_row((unsigned char *)to);
    return 0;
}
