/* SPDX-License-Identifier: MIT */
/*
 * Work that overlaps, in two streams in three ways in which programs have it, and in one: prints a line
 * "figure PATTERN US" for each, the microseconds a pair takes, median of several loops. The first
 * second is left out, so that a profiler that adapts has adapted.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call) check((call), #call, __LINE__)

static const int LOOPS = 5, PAIRS = 400;
static const double WARM_US = 1e6, WARM_PATTERN_US = 2e5;
static const size_t COPY_BYTES = 4u << 20;

static void check(cudaError_t e, const char *call, int line)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorName(e));
    exit(1);
}

static __device__ void spin_ns(unsigned long long ns)
{
    unsigned long long start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

__global__ void spin(unsigned long long ns)
{
    spin_ns(ns);
}

struct two {
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    char *host, *device;
};

static void kernels(const struct two *t)
{
    spin<<<1, 1, 0, t->a>>>(100000);
    spin<<<1, 1, 0, t->b>>>(100000);
}

static void fork_join(const struct two *t)
{
    CHECK(cudaEventRecord(t->fork, t->a));
    CHECK(cudaStreamWaitEvent(t->b, t->fork, 0));
    spin<<<1, 1, 0, t->a>>>(100000);
    spin<<<1, 1, 0, t->b>>>(100000);
    CHECK(cudaEventRecord(t->join, t->b));
    CHECK(cudaStreamWaitEvent(t->a, t->join, 0));
}

static void copies(const struct two *t)
{
    spin<<<1, 1, 0, t->a>>>(100000);
    CHECK(cudaMemcpyAsync(t->device, t->host, COPY_BYTES, cudaMemcpyHostToDevice, t->b));
}

/* Says at once that the next one may begin. */
__global__ void spin_early(unsigned long long ns)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    spin_ns(ns);
}

static void dependent(const struct two *t)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    spin_early<<<1, 1, 0, t->a>>>(50000);
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = config.blockDim = dim3(1);
    config.stream = t->a;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, spin, 50000ull));
}

static double now_us()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static double loop_us(void (*pattern)(const struct two *), const struct two *t)
{
    double start = now_us();

    for (int i = 0; i < PAIRS; i++)
        pattern(t);
    CHECK(cudaDeviceSynchronize());
    return (now_us() - start) / PAIRS;
}

static void run(const char *name, void (*pattern)(const struct two *), const struct two *t,
                double warm_us)
{
    std::vector<double> loops;
    double end = now_us() + warm_us;

    while (now_us() < end)
        loop_us(pattern, t);
    for (int i = 0; i < LOOPS; i++)
        loops.push_back(loop_us(pattern, t));
    std::sort(loops.begin(), loops.end());
    printf("figure %s %.2f\n", name, loops[LOOPS / 2]);
}

int main()
{
    struct two t;

    CHECK(cudaStreamCreateWithFlags(&t.a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t.b, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&t.fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&t.join, cudaEventDisableTiming));
    CHECK(cudaMallocHost((void **)&t.host, COPY_BYTES));
    CHECK(cudaMalloc((void **)&t.device, COPY_BYTES));
    run("kernels", kernels, &t, WARM_US);
    run("fork-join", fork_join, &t, WARM_PATTERN_US);
    run("copies", copies, &t, WARM_PATTERN_US);
    run("dependent", dependent, &t, WARM_PATTERN_US);
    return 0;
}
