// SPDX-License-Identifier: MIT
//
// Kernels that time themselves, alike but for their registers, threads and parameters: what a bracket has more
// of them is what these cost. In an idle stream each launch finds the GPU idle, in a busy one 20 follow each other.
//
//   probe_sizes idle|busy       prints each kernel's own time; the profiler's table has its name
#include <cstdio>
#include <cstring>

#include "programs/global_ns.h"
#include "programs/pause.h"
#include "programs/runtime.h"

static const int BLOCKS = 128, ROUNDS = 300, IN_A_ROW = 20;

struct Times {
    unsigned long long total, count;
};

template <int BYTES> struct Parameters {
    unsigned char bytes[BYTES];
};

template <int THREADS, int VALUES, int BYTES>
__global__ void __launch_bounds__(THREADS, 1)
    sized(Times *times, float *to, int cycles, const __grid_constant__ Parameters<BYTES> parameters)
{
    unsigned long long begin = global_ns();
    float values[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        values[i] = to[(threadIdx.x + i) % 128];
    for (long long from = clock64(); clock64() - from < cycles;) {
#pragma unroll
        for (int i = 0; i < VALUES; i++)
            values[i] = values[i] * 1.0001f + 1;
    }
    float sum = parameters.bytes[0];
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        sum += values[i];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (!threadIdx.x && !blockIdx.x) {
        times->total += global_ns() - begin;
        times->count++;
    }
}

static Times *times;
static float *to;
static bool busy;

template <int THREADS, int VALUES, int BYTES> static void measure(const char *what)
{
    static const Parameters<BYTES> parameters = {};
    cudaFuncAttributes a;
    Times own;

    RT(cudaFuncGetAttributes(&a, sized<THREADS, VALUES, BYTES>));
    for (int i = -30; i < ROUNDS; i++) {
        if (!i)
            RT(cudaMemset(times, 0, sizeof(*times)));
        if (i % IN_A_ROW == 0 || !busy)
            RT(cudaDeviceSynchronize());
        sized<THREADS, VALUES, BYTES>
            <<<BLOCKS, THREADS>>>(times, to, busy ? 20000 : 3000, parameters);
        RT(cudaGetLastError());
        if (!busy)
            pause_ns(12000);
    }
    RT(cudaMemcpy(&own, times, sizeof(own), cudaMemcpyDeviceToHost));
    printf("%-28s %4d threads of %3d registers, %4d bytes: %8.3f us\n", what, THREADS, a.numRegs,
           BYTES + 20, own.total / (own.count * 1e3));
}

int main(int argc, char **argv)
{
    busy = argc > 1 && !strcmp(argv[1], "busy");
    RT(cudaMalloc(&times, sizeof(*times)));
    RT(cudaMalloc(&to, sizeof(*to) * BLOCKS * 1024));
    measure<128, 4, 4>("few of all");
    measure<1024, 40, 4>("registers");
    measure<512, 100, 4>("registers");
    measure<384, 150, 4>("registers");
    measure<256, 220, 4>("registers");
    measure<128, 4, 1024>("parameters");
    measure<128, 4, 2048>("parameters");
    measure<128, 4, 3800>("parameters");
    measure<128, 4, 4>("few of all, again");
    return 0;
}
