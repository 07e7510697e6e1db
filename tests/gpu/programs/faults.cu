// SPDX-License-Identifier: MIT
//
// Kernels that break the context, and kernels that never end. What each call returns is printed, on
// stdout, and is the same with and without a profiler; the status at the end is 3.
//
//   faults address|misaligned|trap|assert|streams
//   faults endless [exit]
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

#define TELL(call) printf("%.60s = %d\n", #call, (int)(call))

__global__ void fine(int *data)
{
    data[threadIdx.x]++;
}

__global__ void bad_address(int *data)
{
    data[(size_t)1 << 40] = 1;
}

__global__ void bad_alignment(int *data)
{
    *(volatile int *)((size_t)data | 1) = 1;
}

__global__ void bad_instruction(int *data)
{
    if (data)
        asm volatile("trap;");
}

__global__ void bad_assertion(int *data)
{
    assert(!data);
}

// The simulated device knows by the name that it does not end.
extern "C" __global__ void hang_for_ever(volatile int *data)
{
    while (data[1] != 77)
        ;
}

extern "C" __global__ void behind(int *data)
{
    data[0]++;
}

static int *memory()
{
    int *p = nullptr;
    if (cudaMalloc(&p, 4096) != cudaSuccess) {
        fprintf(stderr, "no GPU\n");
        exit(1);
    }
    TELL(cudaMemset(p, 0, 4096));
    for (int i = 0; i < 100; i++)
        fine<<<1, 32>>>(p);
    TELL(cudaDeviceSynchronize());
    return p;
}

// Whatever is asked after the error, and what had been made before it.
static void tell_all(int *p, cudaStream_t s, cudaEvent_t a, cudaEvent_t b)
{
    static int host[16];
    int *more = nullptr;
    float ms = 0;
    cudaStream_t other;
    cudaEvent_t event;
    fine<<<1, 32>>>(p);
    TELL(cudaPeekAtLastError());
    TELL(cudaGetLastError());
    TELL(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    TELL(cudaMemcpyAsync(host, p, sizeof(host), cudaMemcpyDeviceToHost, s));
    TELL(cudaMemsetAsync(p, 1, 64, s));
    TELL(cudaMalloc(&more, 64));
    TELL(cudaEventRecord(b, s));
    TELL(cudaEventQuery(a));
    TELL(cudaEventQuery(b));
    TELL(cudaEventSynchronize(a));
    TELL(cudaEventElapsedTime(&ms, a, b));
    TELL(cudaEventCreate(&event));
    TELL(cudaStreamCreate(&other));
    TELL(cudaStreamQuery(s));
    TELL(cudaStreamSynchronize(s));
    TELL(cudaDeviceSynchronize());
    TELL(cudaGetLastError());
    TELL(cudaEventDestroy(a));
    TELL(cudaStreamDestroy(s));
    TELL(cudaFree(p));
    TELL(cudaGetLastError());
}

// The error is first seen by a call that waits for it.
static void break_context(void (*bad)(int *))
{
    int *p = memory();
    cudaStream_t s;
    cudaEvent_t a, b;
    TELL(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    TELL(cudaEventCreate(&a));
    TELL(cudaEventCreate(&b));
    TELL(cudaEventRecord(a, s));
    fine<<<1, 32, 0, s>>>(p);
    bad<<<1, 1, 0, s>>>(p);
    TELL(cudaStreamSynchronize(s));
    tell_all(p, s, a, b);
}

// Launches go on in several streams until one of them is told; which one is a matter of chance.
static void break_streams()
{
    int *p = memory();
    cudaStream_t s[4];
    int last = 0;
    for (int i = 0; i < 4; i++)
        TELL(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    bad_address<<<1, 1, 0, s[0]>>>(p);
    for (int i = 0; !last && i < 1000000; i++) {
        fine<<<1, 32, 0, s[i % 4]>>>(p);
        last = (int)cudaGetLastError();
    }
    printf("launches end with %d\n", last);
    for (int i = 0; i < 4; i++)
        TELL(cudaStreamSynchronize(s[i]));
    TELL(cudaDeviceSynchronize());
}

static void endless(bool ends)
{
    int *p = memory();
    hang_for_ever<<<1, 1>>>(p);
    for (int i = 0; i < 5; i++)
        behind<<<1, 1>>>(p);
    TELL(cudaGetLastError());
    printf("launched\n");
    fflush(stdout);
    if (!ends)
        TELL(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    signal(SIGINT, SIG_DFL); // a shell's background processes ignore it
    if (!strcmp(what, "address"))
        break_context(bad_address);
    else if (!strcmp(what, "misaligned"))
        break_context(bad_alignment);
    else if (!strcmp(what, "trap"))
        break_context(bad_instruction);
    else if (!strcmp(what, "assert"))
        break_context(bad_assertion);
    else if (!strcmp(what, "streams"))
        break_streams();
    else if (!strcmp(what, "endless"))
        endless(argc > 2);
    else
        return 2;
    fflush(stdout);
    return 3;
}
