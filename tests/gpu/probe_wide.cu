// SPDX-License-Identifier: MIT
//
// Kernels of several streams that fill the GPU, so that one waits for the multiprocessors while
// another has them: each notes %globaltimer when its first block begins and when its last one ends.
//
//   probe_wide FILE
//
// FILE: a line for each launch, in their order: pattern, streams, KiB, stream, begin, end, and the
// host's time stamp counter before it. Prints what kernels took by that, in us.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include <x86intrin.h>

#include "programs/global_ns.h"
#include "programs/pause.h"
#include "programs/runtime.h"

template <int KIB> __global__ void scale(float *data, unsigned long long *out)
{
    if (threadIdx.x == 0)
        atomicMin(&out[0], global_ns());
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    data[i] = data[i] * 1.0001f + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(&out[1], global_ns());
}

struct note {
    int pattern, streams, kib, stream;
    unsigned long long before;
};

static const size_t room = 20000;
static std::vector<note> notes;
static unsigned long long *times;
static std::vector<cudaStream_t> queues(4);
static float *data[4];

template <int KIB> static void launch(int pattern, int streams, int stream)
{
    unsigned long long before = __rdtsc();

    if (notes.size() == room)
        exit(1);
    scale<KIB><<<KIB, 256, 0, queues[stream]>>>(data[stream], times + 2 * notes.size());
    notes.push_back({pattern, streams, KIB, stream, before});
}

static void (*const sizes[])(int, int, int) = {launch<256>, launch<1024>, launch<4096>,
                                               launch<16384>};

// 0: of one size, the host ahead; 1: of all sizes, likewise; 2: with pauses.
static void play(int pattern, int streams)
{
    for (int i = 0; i < 800; i++) {
        if (pattern == 2)
            pause_ns(random_below(20000));
        sizes[pattern ? random_below(4) : i / 200](pattern, streams, i % streams);
        if (i % 100 == 99)
            RT(cudaDeviceSynchronize());
    }
    RT(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    std::vector<unsigned long long> host(2 * room);
    std::map<std::pair<int, int>, std::pair<double, int>> sums;

    if (argc != 2) {
        fprintf(stderr, "usage: probe_wide FILE\n");
        return 2;
    }
    for (auto &s : queues)
        RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (auto &d : data)
        RT(cudaMalloc(&d, 16384 * 256 * sizeof(float)));
    for (size_t i = 0; i < room; i++)
        host[2 * i] = ~0ull;
    RT(cudaMalloc(&times, host.size() * sizeof(host[0])));
    RT(cudaMemcpy(times, host.data(), host.size() * sizeof(host[0]), cudaMemcpyHostToDevice));
    for (int streams : {1, 2, 4})
        for (int pattern = 0; pattern < 3; pattern++)
            play(pattern, streams);
    RT(cudaMemcpy(host.data(), times, host.size() * sizeof(host[0]), cudaMemcpyDeviceToHost));
    FILE *f = fopen(argv[1], "w");
    for (size_t i = 0; f && i < notes.size(); i++) {
        auto &n = notes[i];
        fprintf(f, "%d\t%d\t%d\t%d\t%llu\t%llu\t%llu\n", n.pattern, n.streams, n.kib, n.stream,
                host[2 * i], host[2 * i + 1], n.before);
        auto &s = sums[{n.streams, n.kib}];
        s.first += (host[2 * i + 1] - host[2 * i]) / 1000.0;
        s.second++;
    }
    for (auto &s : sums)
        printf("%d streams, %5d KiB: %.2f us\n", s.first.first, s.first.second,
               s.second.first / s.second.second);
    return !f || fclose(f);
}
