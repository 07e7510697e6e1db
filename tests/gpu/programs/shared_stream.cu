// SPDX-License-Identifier: MIT
//
// shared_stream THREADS alike|mixed|short|waits|copies: threads that launch into one stream at once.
//
// alike: 500 kernels of 10 us each. mixed: every other thread's are of 5 us, the others' of 50.
// short: 2 us. waits: 20 us, and each thread waits after every tenth. copies: every other thread
// copies 256 KiB within the device instead. Prints how long the kernels were by the GPU's own clock.
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "global_ns.h"
#include "runtime.h"

static const size_t COPY_BYTES = 256 << 10;
static const int LAUNCHES = 500;

static cudaStream_t stream;
static double cycles_per_ns = 1.98;
static unsigned long long *inside_ns;
static char *buffer;

__device__ void wait(unsigned long long cycles)
{
    long long from = clock64();
    while (clock64() - from < (long long)cycles)
        ;
}

template <int NS> __global__ void spin(unsigned long long cycles, unsigned long long *inside)
{
    unsigned long long from = global_ns();
    wait(cycles);
    if (!threadIdx.x)
        *inside += global_ns() - from; // one after the other: it is one stream
}

__global__ void measure(unsigned long long *out)
{
    unsigned long long ns = global_ns();
    long long from = clock64();
    while (global_ns() - ns < 2000000)
        ;
    out[0] = clock64() - from;
    out[1] = global_ns() - ns;
}

template <int NS> static void launch()
{
    spin<NS><<<1, 32, 0, stream>>>((unsigned long long)(NS * cycles_per_ns), inside_ns);
}

static void copy()
{
    RT(cudaMemcpyAsync(buffer + COPY_BYTES, buffer, COPY_BYTES, cudaMemcpyDeviceToDevice, stream));
}

static const struct {
    const char *name;
    void (*even)(), (*odd)();
    int wait_every;
} patterns[] = {{"alike", launch<10000>, launch<10000>, 0},
                {"mixed", launch<5000>, launch<50000>, 0},
                {"short", launch<2000>, launch<2000>, 0},
                {"waits", launch<20000>, launch<20000>, 10},
                {"copies", launch<10000>, copy, 0}};

static void find_clock()
{
    unsigned long long host[2] = {};
    for (int i = 0; i < 100; i++) // till the clock is what it will be
        measure<<<1, 1, 0, stream>>>(inside_ns);
    RT(cudaMemcpyAsync(host, inside_ns, sizeof(host), cudaMemcpyDeviceToHost, stream));
    RT(cudaStreamSynchronize(stream));
    if (host[0] && host[1])
        cycles_per_ns = (double)host[0] / host[1];
    RT(cudaMemsetAsync(inside_ns, 0, sizeof(host), stream));
    RT(cudaStreamSynchronize(stream));
}

static void run(int number, int pattern)
{
    for (int i = 1; i <= LAUNCHES; i++) {
        (number % 2 ? patterns[pattern].odd : patterns[pattern].even)();
        if (patterns[pattern].wait_every && i % patterns[pattern].wait_every == 0)
            RT(cudaStreamSynchronize(stream));
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 4, pattern = 0;
    unsigned long long total_ns;
    std::vector<std::thread> threads;

    while (argc > 2 && strcmp(argv[2], patterns[pattern].name))
        if (++pattern == sizeof(patterns) / sizeof(patterns[0]))
            return 2;
    RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    RT(cudaMalloc(&inside_ns, 16));
    RT(cudaMalloc(&buffer, 2 * COPY_BYTES));
    find_clock();
    for (int i = 0; i < count; i++)
        threads.emplace_back(run, i, pattern);
    for (auto &t : threads)
        t.join();
    RT(cudaStreamSynchronize(stream));
    RT(cudaMemcpy(&total_ns, inside_ns, sizeof(total_ns), cudaMemcpyDeviceToHost));
    printf("inside_us %.1f\n", total_ns / 1e3);
    return 0;
}
