/* SPDX-License-Identifier: MIT */
/* Parts of which not every operation is timed. */
#include "actor.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define MOST_KERNELS 2000
#define MOST_STREAMS 16

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53 + 0x1p-54;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* One kind has two modes, one a long tail, one comes round every 16 launches. */
static uint64_t duration_ns(int kernel, long launch)
{
    switch (kernel % 4) {
    case 0:
        return (uint64_t)(20000 + 2000 * normal());
    case 1:
        return uniform() < 0.1 ? 60000 : 8000;
    case 2:
        return (uint64_t)(15000 * exp(0.8 * normal()));
    default:
        return launch % 16 == 5 ? 90000 : 9000 + 1000 * (uint64_t)(launch % 16);
    }
}

/* mixture KERNELS LAUNCHES: each kernel so often; prints what each took */
int actor_mixture(int argc, char **argv)
{
    static CUfunction f[MOST_KERNELS];
    static uint64_t total_ns[MOST_KERNELS];
    long kernels = actor_number(argc, argv, 1, 4), n = actor_number(argc, argv, 2, 100);
    char name[32];
    actor_begin();
    CUstream s = actor_stream();
    for (int k = 0; k < kernels && k < MOST_KERNELS; k++) {
        snprintf(name, sizeof(name), "spin_%d", k);
        f[k] = actor_function(name);
    }
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < kernels && k < MOST_KERNELS; k++) {
            uint64_t ns = duration_ns(k, i);
            total_ns[k] += ns;
            MUST(actor_launch_with(f[k], s, ns));
            if (k % 20 == 19)
                MUST(cuStreamSynchronize(s));
        }
        usleep(300); /* the device takes no time at all: whoever looks at the brackets does */
    }
    MUST(cuStreamSynchronize(s));
    for (int k = 0; k < kernels && k < MOST_KERNELS; k++)
        printf("spin_%d %llu\n", k, (unsigned long long)total_ns[k]);
    return 0;
}

static CUresult launch_dependent(CUfunction f, CUstream s, unsigned blocks, uint64_t ns)
{
    CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                           .value.programmaticStreamSerializationAllowed = 1};
    CUlaunchConfig c = {.gridDimX = blocks,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = 128,
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .hStream = s,
                        .attrs = &a,
                        .numAttrs = 1};
    void *arguments[] = {&ns};
    return cuLaunchKernelEx(&c, f, arguments, NULL);
}

/*
 * dependent LAUNCHES SHAPES: as often a kernel that stands alone, one that is followed by a
 * programmatic dependent launch, and this one, in so many shapes; prints what these two took
 */
int actor_dependent(int argc, char **argv)
{
    static const char *const names[] = {"spin_followed", "spin_dependent"};
    uint64_t total_ns[2] = {0};
    CUdeviceptr p;
    long n = actor_number(argc, argv, 1, 100), shapes = actor_number(argc, argv, 2, 1);
    actor_begin();
    MUST(cuMemAlloc(&p, 8));
    CUfunction alone = actor_function("alone"), f[2];
    CUstream s = actor_stream();
    for (int k = 0; k < 2; k++)
        f[k] = actor_function(names[k]);
    for (long i = 0; i < n; i++) {
        uint64_t ns[2] = {duration_ns(0, i), 10000 + duration_ns(0, i)};
        MUST(actor_launch(alone, s));
        if (launch_dependent(f[1], s, 0, 0) == CUDA_SUCCESS)
            return 1;
        MUST(cuMemsetD8Async(p, 0, 8, s));
        MUST(actor_launch_with(f[0], s, ns[0]));
        MUST(launch_dependent(f[1], s, 1 + (unsigned)(i % shapes), ns[1]));
        for (int k = 0; k < 2; k++)
            total_ns[k] += ns[k];
        if (i % 20 == 19)
            MUST(cuStreamSynchronize(s));
        usleep(100); /* the device takes no time at all: whoever looks at the brackets does */
    }
    MUST(cuStreamSynchronize(s));
    for (int k = 0; k < 2; k++)
        printf("%s %llu\n", names[k], (unsigned long long)total_ns[k]);
    return 0;
}
