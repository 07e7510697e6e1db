// SPDX-License-Identifier: MIT
//
// Deep queues. The driver takes about a thousand launches into a stream that does not move.
//
//   deep_queue flag|value|host start|after    900 launches behind a gate that this thread opens
//   afterwards:
//                                             a kernel that polls host memory, cuStreamWaitValue32,
//                                             a host function; as the first work, or after 10,000
//                                             launches
//   deep_queue bound NS COUNT                 COUNT kernels of NS queued as fast as the host can
//
// When the gate stays shut because a launch does not return, another thread opens it and says so.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call) check((call), #call, __LINE__)

static const int LAUNCHES = 900, ROUNDS = 3, ORDINARY = 10000;
static const auto PATIENCE = std::chrono::seconds(8);

static void check(int e, const char *call, int line)
{
    if (e == 0)
        return;
    fprintf(stderr, "line %d: %s: error %d\n", line, call, e);
    exit(1);
}

__global__ void gate(volatile int *flag)
{
    while (!*flag)
        ;
}

__global__ void add_one(int *data)
{
    data[threadIdx.x]++;
}

__global__ void spin(unsigned long long ns)
{
    unsigned long long start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

static cudaStream_t stream;
static int *flag, *data;
static std::atomic<int> queued, opened_late;

// The kernels' first launches: where they are loaded lazily, that must not be behind the gate.
static void prepare()
{
    cudaFuncAttributes a;

    CHECK(cudaFuncGetAttributes(&a, gate));
    CHECK(cudaFuncGetAttributes(&a, add_one));
    CHECK(cudaFuncGetAttributes(&a, spin));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped));
    CHECK(cudaMallocManaged((void **)&data, 32 * sizeof(*data)));
    memset(data, 0, 32 * sizeof(*data));
}

static void set_flag(int value)
{
    __atomic_store_n(flag, value, __ATOMIC_SEQ_CST);
}

static void wait_for_flag(void *)
{
    while (!__atomic_load_n(flag, __ATOMIC_SEQ_CST))
        std::this_thread::sleep_for(std::chrono::microseconds(100));
}

static void shut(const char *kind)
{
    set_flag(0);
    if (!strcmp(kind, "flag"))
        gate<<<1, 1, 0, stream>>>(flag);
    else if (!strcmp(kind, "value"))
        CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    else if (!strcmp(kind, "host"))
        CHECK(cudaLaunchHostFunc(stream, wait_for_flag, NULL));
    else
        exit(2);
}

// Opens the gate when the queueing thread has not come to it for long.
static void watch(std::atomic<bool> *done)
{
    auto end = std::chrono::steady_clock::now() + PATIENCE;

    while (!*done && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!*done) {
        opened_late = queued.load();
        set_flag(1);
    }
}

static void one_round(const char *kind)
{
    std::atomic<bool> done(false);

    queued = 0;
    shut(kind);
    std::thread watcher(watch, &done);
    for (int i = 0; i < LAUNCHES; i++, queued++)
        add_one<<<1, 32, 0, stream>>>(data);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = true;
    set_flag(1);
    watcher.join();
    CHECK(cudaStreamSynchronize(stream));
}

static int behind_gate(const char *kind, bool after)
{
    int expected = LAUNCHES * ROUNDS + (after ? ORDINARY : 0);

    for (int i = 0; after && i < ORDINARY; i++)
        add_one<<<1, 32, 0, stream>>>(data);
    if (after)
        CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < ROUNDS; i++)
        one_round(kind);
    CHECK(cudaGetLastError());
    if (opened_late)
        printf("%s: BLOCKED after %d launches\n", kind, opened_late.load());
    else
        printf("%s: %s\n", kind, data[31] == expected ? "right" : "WRONG");
    return opened_late || data[31] != expected;
}

static int bound(unsigned long long ns, int count)
{
    for (int i = 0; i < count; i++)
        spin<<<1, 32, 0, stream>>>(ns);
    CHECK(cudaStreamSynchronize(stream));
    printf("bound: %d kernels\n", count);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    prepare();
    if (!strcmp(argv[1], "bound"))
        return bound(strtoull(argv[2], NULL, 10), argc > 3 ? atoi(argv[3]) : 1000);
    return behind_gate(argv[1], !strcmp(argv[2], "after"));
}
