// SPDX-License-Identifier: MIT
//
// Kernels that time themselves, launched by a host with warm and with cold caches and behind another kernel:
// what a bracket has more of them in one state than in another is no time of theirs.
//
//   probe_cold [FILE]     prints each kernel's own time; the profiler's table has its name
//
// FILE: a line for each launch, in their order: state, bytes of parameters and own time, ns. held.py holds it
// against what cutrace took down.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "programs/global_ns.h"
#include "programs/pause.h"
#include "programs/runtime.h"

static const int BLOCKS = 128, THREADS = 128, ROUNDS = 250, CYCLES = 20000, LONG = 100000;
static const size_t MOST_BYTES = 64 << 20, LINE_BYTES = 64;

enum State { WARM, CACHES_2_MIB, CACHES_64_MIB, AFTER_1_MS, READY, STATES };
static const char *const state_names[STATES] = {"warm", "2 MiB read before", "64 MiB read before",
                                                "1 ms later", "behind a kernel"};

struct Times {
    unsigned long long begin, end;
};

template <int BYTES> struct Parameters {
    unsigned char bytes[BYTES];
};

template <int STATE, int BYTES>
__global__ void held(Times *times, int cycles, const __grid_constant__ Parameters<BYTES> parameters)
{
    unsigned long long begin = global_ns();
    for (long long from = clock64(); clock64() - from < cycles + parameters.bytes[0];)
        ;
    if (!threadIdx.x) {
        atomicMin(&times->begin, begin);
        atomicMax(&times->end, global_ns());
    }
}

static Times (*times)[ROUNDS], own[STATES][ROUNDS], *other;
static char *memory;

template <int STATE> static void wait_in_state()
{
    size_t bytes = STATE == CACHES_64_MIB ? MOST_BYTES : STATE == CACHES_2_MIB ? 2 << 20 : 0;
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        memory[i]++;
    if (!bytes)
        pause_ns(STATE == AFTER_1_MS ? 1000000 : 12000);
}

template <int STATE, int BYTES> static void launch(int i)
{
    static const Parameters<BYTES> parameters = {};

    RT(cudaDeviceSynchronize());
    wait_in_state<STATE>();
    if (STATE == READY)
        held<STATES, 4><<<BLOCKS, THREADS>>>(other, LONG, {});
    held<STATE, BYTES><<<BLOCKS, THREADS>>>(times[STATE] + i, CYCLES, parameters);
    RT(cudaGetLastError());
}

static void write_down(FILE *file, int bytes)
{
    for (int i = 0; file && i < ROUNDS; i++)
        for (int state = 0; state < STATES; state++)
            fprintf(file, "%d\t%d\t%llu\n", state, bytes, own[state][i].end - own[state][i].begin);
}

template <int BYTES> static void measure(FILE *file)
{
    std::fill(own[0], own[STATES], Times{~0ull, 0});
    RT(cudaMemcpy(times, own, sizeof(own), cudaMemcpyHostToDevice));
    for (int i = 0; i < ROUNDS; i++) {
        launch<WARM, BYTES>(i);
        launch<CACHES_2_MIB, BYTES>(i);
        launch<CACHES_64_MIB, BYTES>(i);
        launch<AFTER_1_MS, BYTES>(i);
        launch<READY, BYTES>(i);
    }
    RT(cudaMemcpy(own, times, sizeof(own), cudaMemcpyDeviceToHost));
    write_down(file, BYTES);
    for (int state = 0; state < STATES; state++) {
        unsigned long long total = 0;
        for (const Times &t : own[state])
            total += t.end - t.begin;
        printf("held<%d, %4d> %-20s %8.3f us\n", state, BYTES, state_names[state], total / (ROUNDS * 1e3));
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "w") : nullptr;

    if (argc > 1 && !file) {
        perror(argv[1]);
        return 1;
    }
    RT(cudaMalloc(&times, sizeof(own)));
    RT(cudaMalloc(&other, sizeof(*other)));
    memory = (char *)calloc(MOST_BYTES, 1);
    if (!memory)
        return 1;
    measure<4>(file);
    measure<1024>(file);
    measure<3400>(file);
    return file && fclose(file) ? 1 : 0;
}
