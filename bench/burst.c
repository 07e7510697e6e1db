/* SPDX-License-Identifier: MIT */
/* For bench/stacks: nanoseconds of one launch, the median over bursts, called from Python or C. */
#include <cuda.h>
#include <stdlib.h>
#include <time.h>

#include "driver.h"

#define BURST 1000
#define BURSTS 101

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_launch_ns(void);

double bench_launch_ns(void)
{
    double ns[BURSTS];
    CUcontext context;
    CUfunction function = bench_start_driver(&context);
    for (int b = -10; b < BURSTS; b++) { /* the first ones warm up */
        double begin = now_ns();
        for (int i = 0; i < BURST; i++)
            cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
        if (b >= 0)
            ns[b] = (now_ns() - begin) / BURST;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    qsort(ns, BURSTS, sizeof(ns[0]), compare);
    return ns[BURSTS / 2];
}
