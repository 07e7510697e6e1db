/* SPDX-License-Identifier: MIT */
/*
 * What launching costs: loops that do nothing but launch, each with kernels of its own name.
 *
 * Prints a line "figure ROW VALUE" for each row, median of several loops: microseconds per kernel,
 * and as "launch-call" the nanoseconds the host spends in one launch call while the queue has room.
 * The first second is left out, so that a profiler that adapts has adapted. With the word "short"
 * all is a fifth, for a profiler that needs long to write down what it saw. With the word
 * "alternate" every other loop is not recorded, by cutrace or cupti_truth.c's library, and a line
 * "figure ROW-on-to-off VALUE" has what the recorded ones take to what the others do.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <vector>

static const int STREAMS = 8, BURST = 200;
static int loops = 5, bursts = 401;
static double warm_us = 1e6, warm_row_us = 2e5;

__device__ void wait(unsigned long long ns)
{
    unsigned long long start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

__global__ void empty()
{
}

__global__ void kernel_2500()
{
    wait(2500);
}

__global__ void kernel_20000()
{
    wait(20000);
}

__global__ void kernel_streams()
{
    wait(10000);
}

__global__ void launch_call()
{
}

static double now_us()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

// What has the profiler of this process record, or not; NULL: nobody asked for that.
typedef void (*record)(int on);
static record switch_to;

static void switch_cutrace(int on)
{
    on ? cudaProfilerStart() : cudaProfilerStop();
}

static record find_switch()
{
    const char *injected = getenv("CUDA_INJECTION64_PATH");
    void *library = injected ? dlopen(injected, RTLD_LAZY) : NULL;

    return library ? (record)dlsym(library, "cupti_truth_record") : switch_cutrace;
}

typedef void (*kernel)();

struct row {
    const char *name;
    kernel function;
    int launches, streams;
};

static double loop_us(const struct row *row, cudaStream_t *streams)
{
    double start = now_us();

    for (int i = 0; i < row->launches; i++)
        row->function<<<1, 1, 0, streams[i % row->streams]>>>();
    cudaDeviceSynchronize();
    return (now_us() - start) / row->launches;
}

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

static double unrecorded_us(const struct row *row, cudaStream_t *streams)
{
    switch_to(0);
    double us = loop_us(row, streams);
    switch_to(1);
    return us;
}

static void run(const struct row *row, cudaStream_t *streams, double warm)
{
    std::vector<double> figures, others;
    double end = now_us() + warm;

    while (now_us() < end)
        loop_us(row, streams);
    for (int i = 0; i < loops; i++) {
        figures.push_back(loop_us(row, streams));
        if (switch_to)
            others.push_back(unrecorded_us(row, streams));
    }
    printf("figure %s %.4f\n", row->name, median(figures));
    if (switch_to)
        printf("figure %s-on-to-off %.4f\n", row->name, median(figures) / median(others));
}

static void run_bursts(cudaStream_t stream)
{
    std::vector<double> figures;

    for (int i = 0; i < bursts; i++) {
        double start = now_us();

        for (int k = 0; k < BURST; k++)
            launch_call<<<1, 1, 0, stream>>>();
        figures.push_back((now_us() - start) / BURST * 1e3);
        cudaStreamSynchronize(stream);
    }
    printf("figure launch-call %.1f\n", median(figures));
}

static void shorten()
{
    loops = 3;
    bursts /= 5;
    warm_us /= 5;
    warm_row_us /= 5;
}

int main(int argc, char **argv)
{
    static const struct row rows[] = {{"empty", empty, 15000, 1},
                                      {"2.5us", kernel_2500, 11000, 1},
                                      {"20us", kernel_20000, 2500, 1},
                                      {"8-streams", kernel_streams, 15000, STREAMS}};
    cudaStream_t streams[STREAMS];

    if (argc > 1 && !strcmp(argv[1], "short"))
        shorten();
    if (argc > 1 && !strcmp(argv[1], "alternate"))
        switch_to = find_switch();
    for (int i = 0; i < STREAMS; i++)
        if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) != cudaSuccess)
            return 1;
    for (const struct row &row : rows) {
        run(&row, streams, warm_us);
        warm_us = warm_row_us;
    }
    run_bursts(streams[0]);
    return cudaDeviceSynchronize() != cudaSuccess;
}
