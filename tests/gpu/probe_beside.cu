// SPDX-License-Identifier: MIT
//
// Kernels that note %globaltimer at their begin and end, on one to eight streams. Under cutrace with
// CUTRACE_BRACKETS it shows what of a bracket is before the kernel and what behind it: the GPU's clock
// is that of the event stamps. beside.py puts the two together.
//
//   probe_beside FILE
//
// FILE: a line for each launch, in their order: pattern, streams, ns, stream, begin, end, and the
// host's time stamp counter before it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <x86intrin.h>

#include "programs/global_ns.h"
#include "programs/pause.h"
#include "programs/runtime.h"

__global__ void timed(unsigned long long cycles, unsigned long long *out)
{
    unsigned long long begin = global_ns();
    long long from = clock64();

    while (clock64() - from < (long long)cycles)
        ;
    unsigned long long end = global_ns();
    if (threadIdx.x == 0) {
        out[0] = begin;
        out[1] = end;
    }
}

enum pattern { WARMING, OPENER, QUEUED, AHEAD, MIXED, PAUSED, BATCHES };

struct note {
    pattern p;
    int streams, ns, stream;
    unsigned long long before;
};

static const size_t room = 100000;
static const double cycles_per_ns = 1.98;
static const int lengths[] = {500, 1000, 2000, 5000, 10000, 20000, 50000};

static std::vector<note> notes;
static unsigned long long *times;
static std::vector<cudaStream_t> queues(8);

static void launch(pattern p, int streams, int ns, int stream)
{
    unsigned long long before = __rdtsc();

    if (notes.size() == room) {
        fprintf(stderr, "too many launches\n");
        exit(1);
    }
    timed<<<1, 32, 0, queues[stream]>>>((unsigned long long)(ns * cycles_per_ns),
                                        times + 2 * notes.size());
    notes.push_back({p, streams, ns, stream, before});
}

static void open_all(int streams)
{
    for (int s = 0; s < streams; s++)
        launch(OPENER, streams, 300000, s);
}

static void of_one_length(int streams, int ns)
{
    open_all(streams);
    for (int i = 0; i < 250; i++)
        launch(QUEUED, streams, ns, i % streams);
    RT(cudaDeviceSynchronize());
    for (int i = 0; i < 250; i++)
        launch(AHEAD, streams, ns, i % streams);
    RT(cudaDeviceSynchronize());
    for (int i = 0; i < 50; i++) {
        for (int s = 0; s < streams; s++)
            launch(BATCHES, streams, ns, s);
        RT(cudaDeviceSynchronize());
        pause_ns(3000 + random_below(10000));
    }
}

static void of_all_lengths(int streams)
{
    open_all(streams);
    for (int i = 0; i < 250; i++)
        launch(MIXED, streams, lengths[random_below(7)], random_below(streams));
    RT(cudaDeviceSynchronize());
    for (int i = 0; i < 250; i++) {
        pause_ns(random_below(10000));
        launch(PAUSED, streams, lengths[random_below(7)], random_below(streams));
    }
    RT(cudaDeviceSynchronize());
}

static bool write_down(const char *path)
{
    std::vector<unsigned long long> host(2 * notes.size());
    FILE *f = fopen(path, "w");

    RT(cudaMemcpy(host.data(), times, host.size() * sizeof(host[0]), cudaMemcpyDeviceToHost));
    for (size_t i = 0; f && i < notes.size(); i++)
        fprintf(f, "%d\t%d\t%d\t%d\t%llu\t%llu\t%llu\n", notes[i].p, notes[i].streams, notes[i].ns,
                notes[i].stream, host[2 * i], host[2 * i + 1], notes[i].before);
    return f && !fclose(f);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: probe_beside FILE\n");
        return 2;
    }
    for (auto &s : queues)
        RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    RT(cudaMalloc(&times, room * 2 * sizeof(*times)));
    for (int i = 0; i < 60; i++) // till the clock is what it will be
        launch(WARMING, 1, 2000000, 0);
    RT(cudaDeviceSynchronize());
    for (int streams : {1, 2, 3, 4, 6, 8}) {
        for (int ns : lengths)
            of_one_length(streams, ns);
        for (int i = 0; i < 4; i++)
            of_all_lengths(streams);
    }
    if (!write_down(argv[1])) {
        perror(argv[1]);
        return 1;
    }
    printf("%zu launches\n", notes.size());
    return 0;
}
