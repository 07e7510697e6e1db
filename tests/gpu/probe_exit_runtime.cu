/* SPDX-License-Identifier: MIT */
/* G10 for a program of the runtime: exit handlers registered before and after its first call. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static cudaEvent_t event;

static void report(const char *when)
{
    int device = -1;
    cudaError_t error = cudaGetDevice(&device);

    printf("G10 answer: runtime handler registered %s: cudaGetDevice %d, cudaEventQuery %d\n", when,
           (int)error, (int)cudaEventQuery(event));
    fflush(stdout);
}

static void before()
{
    report("before the first call");
}

static void after()
{
    report("after the first call");
}

int main()
{
    atexit(before);
    cudaEventCreate(&event);
    atexit(after);
    cudaEventRecord(event);
    return 0;
}
