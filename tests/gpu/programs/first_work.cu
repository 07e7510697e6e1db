// SPDX-License-Identifier: MIT
//
// The first work of a process in circumstances that a profiler which does something of its own then
// could get wrong: the thread's next step opens the gate it waits for, a capture is under way, the
// GPU is full at once.
//
//   first_work gate|capture|graph|full|copies|reset
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime.h"

__global__ void wait_for(volatile int *flag)
{
    while (!*flag)
        ;
}

__global__ void add_one(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x]++;
}

__global__ void spin(long long cycles)
{
    long long from = clock64();
    while (clock64() - from < cycles)
        ;
}

static int *zeroed(size_t count)
{
    int *p;
    RT(cudaMallocManaged(&p, count * sizeof(int)));
    memset(p, 0, count * sizeof(int));
    return p;
}

// The kernels' first launches: where they are loaded lazily, that must not be behind the gate.
static void load_all()
{
    cudaFuncAttributes a;
    RT(cudaFuncGetAttributes(&a, wait_for));
    RT(cudaFuncGetAttributes(&a, add_one));
    RT(cudaFuncGetAttributes(&a, spin));
}

// 200 launches stand behind a kernel that waits for this thread.
static int gate()
{
    int *flag, *data = zeroed(1024);
    cudaStream_t s;
    RT(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
    *flag = 0;
    RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    load_all();
    wait_for<<<1, 1, 0, s>>>(flag);
    for (int i = 0; i < 200; i++)
        add_one<<<4, 256, 0, s>>>(data);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    *(volatile int *)flag = 1;
    RT(cudaStreamSynchronize(s));
    return data[1023] != 200;
}

// Another thread does the process's first work while a capture of the strictest kind is under way.
static int capture()
{
    int *data = zeroed(1024), *other = zeroed(1024);
    cudaStream_t s, beside;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    RT(cudaStreamCreate(&s));
    RT(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
    load_all();
    RT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    std::thread([&] {
        for (int i = 0; i < 100; i++)
            add_one<<<4, 256, 0, beside>>>(other);
    }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (int i = 0; i < 10; i++)
        add_one<<<4, 256, 0, s>>>(data);
    RT(cudaStreamEndCapture(s, &graph));
    RT(cudaGraphInstantiate(&exec, graph, 0));
    RT(cudaGraphLaunch(exec, s));
    RT(cudaDeviceSynchronize());
    return data[1023] != 10 || other[1023] != 100;
}

// All work is in graphs.
static int graph()
{
    int *data = zeroed(1024);
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    RT(cudaStreamCreate(&s));
    RT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 10; i++)
        add_one<<<4, 256, 0, s>>>(data);
    RT(cudaStreamEndCapture(s, &graph));
    RT(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 10; i++)
        RT(cudaGraphLaunch(exec, s));
    RT(cudaStreamSynchronize(s));
    return data[1023] != 100;
}

// Kernels with more blocks than there is room for, in several streams, for a fifth of a second.
static int full()
{
    std::vector<cudaStream_t> streams(8);
    for (auto &s : streams)
        RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int i = 0; i < 100; i++)
        for (auto &s : streams)
            spin<<<1000, 1024, 0, s>>>(100000);
    RT(cudaDeviceSynchronize());
    return 0;
}

// Both directions busy for as long.
static int copies()
{
    const size_t bytes = 256u << 20;
    char *host, *device;
    cudaStream_t s, t;
    RT(cudaMallocHost(&host, 2 * bytes));
    RT(cudaMalloc(&device, 2 * bytes));
    RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    RT(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    for (int i = 0; i < 20; i++) {
        RT(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s));
        RT(cudaMemcpyAsync(host + bytes, device + bytes, bytes, cudaMemcpyDeviceToHost, t));
    }
    RT(cudaDeviceSynchronize());
    return 0;
}

// The device is reset right after the first work, and again.
static int reset()
{
    for (int i = 0; i < 3; i++) {
        int *data;
        RT(cudaMalloc(&data, 4096));
        RT(cudaMemset(data, 0, 4096));
        add_one<<<4, 256>>>(data);
        RT(cudaDeviceSynchronize());
        RT(cudaDeviceReset());
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*play)();
    } parts[] = {{"gate", gate}, {"capture", capture}, {"graph", graph},
                 {"full", full}, {"copies", copies},   {"reset", reset}};
    for (auto &p : parts)
        if (argc > 1 && !strcmp(argv[1], p.name)) {
            int wrong = p.play();
            printf("%s: %s\n", p.name, wrong ? "WRONG" : "right");
            return wrong;
        }
    return 2;
}
