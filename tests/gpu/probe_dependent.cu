/* SPDX-License-Identifier: MIT */
/*
 * G5: programmatic dependent launch. Pairs of 50 us kernels, the second allowed to start when the
 * first says so (at once): how long a pair takes, with an event record before, between and after.
 */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static const int PAIRS = 200;

__global__ void spin(unsigned long long ns)
{
    unsigned long long start, now;

#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

enum { NOWHERE, BEFORE, BETWEEN, AFTER };

static void pair(cudaLaunchConfig_t *config, cudaStream_t stream, cudaEvent_t event, int where)
{
    config->numAttrs = 0;
    if (where == BEFORE)
        cudaEventRecord(event, stream);
    cudaLaunchKernelEx(config, spin, 50000ull);
    if (where == BETWEEN)
        cudaEventRecord(event, stream);
    config->numAttrs = 1;
    cudaLaunchKernelEx(config, spin, 50000ull);
    if (where == AFTER)
        cudaEventRecord(event, stream);
}

static float us_per_pair(cudaStream_t stream, cudaEvent_t record, int where, int allowed)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    cudaEvent_t start, stop;
    float ms = 0;

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = allowed;
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    pair(&config, stream, record, where);
    cudaStreamSynchronize(stream);
    cudaEventRecord(start, stream);
    for (int i = 0; i < PAIRS; i++)
        pair(&config, stream, record, where);
    cudaEventRecord(stop, stream);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    return ms * 1000 / PAIRS;
}

int main()
{
    static const char *const names[] = {"no record", "before", "between", "after"};
    cudaStream_t stream;
    cudaEvent_t timed, untimed;

    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&timed);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    printf("G5 answer: pair of 50 us kernels, us: not programmatic %.1f;",
           us_per_pair(stream, timed, NOWHERE, 0));
    for (int where = NOWHERE; where <= AFTER; where++)
        printf(" %s %.1f%s", names[where], us_per_pair(stream, timed, where, 1),
               where < AFTER ? "," : ";");
    printf(" between, event without timing %.1f\n", us_per_pair(stream, untimed, BETWEEN, 1));
    return cudaDeviceSynchronize() != cudaSuccess;
}
