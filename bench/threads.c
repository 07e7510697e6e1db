/* SPDX-License-Identifier: MIT */
/*
 * threads N own|one|none: million launches a second of N threads together, each with a stream of
 * its own or all with one; the median over bursts. The threads begin a burst together, and it is
 * over when the last is through. Between bursts there is time for the drain thread, so that no ring
 * is full. With "none" no launches, but something like them that shares nothing with anybody: so
 * much do the machine's processors do together.
 */
#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

#define BURST 1000
#define BURSTS 101
#define WARM_UPS 10
#define MOST 256

/* As what a bracketed launch has: places in a ring, stamps, atomic additions, instructions. */
#define PLACES 2048
#define WORDS 19
#define STAMPS 4
#define ADDITIONS 200

struct worker {
    _Alignas(128) pthread_t thread;
    CUstream stream;
    double begin_ns;
    double end_ns;
    _Alignas(128) _Atomic uint64_t opened;
    _Atomic uint64_t closed;
    volatile uint64_t (*ring)[WORDS];
};

static struct worker workers[MOST];
static unsigned count;
static CUcontext context;
static CUfunction function;
static _Alignas(128) atomic_uint gate; /* bursts allowed to begin */
static _Alignas(128) atomic_uint through;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t stamp(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)now_ns();
#endif
}

static void alone(struct worker *w)
{
    uint64_t n = atomic_fetch_add(&w->opened, 1), sum = 0;
    for (int i = 0; i < STAMPS; i++)
        sum += stamp();
    for (int i = 0; i < ADDITIONS; i++) {
        sum += n;
        __asm__ volatile("" : "+r"(sum));
    }
    for (int i = 0; i < WORDS; i++)
        w->ring[n % PLACES][i] = sum;
    atomic_fetch_add(&w->closed, 1);
}

static void launch(struct worker *w)
{
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, w->stream, NULL, NULL);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    void (*call)(struct worker *) = w->ring ? alone : launch;
    cuCtxSetCurrent(context);
    for (unsigned b = 1; b <= WARM_UPS + BURSTS; b++) {
        while (atomic_load_explicit(&gate, memory_order_acquire) < b)
            ;
        w->begin_ns = now_ns();
        for (int i = 0; i < BURST; i++)
            call(w);
        w->end_ns = now_ns();
        atomic_fetch_add_explicit(&through, 1, memory_order_release);
    }
    return NULL;
}

/* A millisecond for each thread: what it recorded takes the drain thread less than that. */
static double burst_ns(unsigned b)
{
    double begin = 1e300, end = 0;
    nanosleep(&(struct timespec){.tv_nsec = 2000000 + 1000000 * (long)count}, NULL);
    atomic_store_explicit(&gate, b, memory_order_release);
    while (atomic_load_explicit(&through, memory_order_acquire) < b * count)
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    for (struct worker *w = workers; w < workers + count; w++) {
        begin = w->begin_ns < begin ? w->begin_ns : begin;
        end = w->end_ns > end ? w->end_ns : end;
    }
    return end - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void set_up(const char *streams)
{
    CUstream shared;
    function = bench_start_driver(&context);
    cuStreamCreate(&shared, CU_STREAM_NON_BLOCKING);
    for (struct worker *w = workers; w < workers + count; w++) {
        w->stream = shared;
        if (!strcmp(streams, "own"))
            cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING);
        if (!strcmp(streams, "none") && !(w->ring = calloc(PLACES, sizeof(*w->ring))))
            exit(1);
        if (pthread_create(&w->thread, NULL, work, w))
            exit(1);
    }
}

int main(int argc, char **argv)
{
    double ns[BURSTS];
    count = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
    if (!count || count > MOST)
        return 2;
    set_up(argv[2]);
    for (unsigned b = 1; b <= WARM_UPS + BURSTS; b++) {
        double took = burst_ns(b);
        if (b > WARM_UPS)
            ns[b - WARM_UPS - 1] = took;
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    qsort(ns, BURSTS, sizeof(ns[0]), compare);
    printf("%.3f\n", 1e3 * BURST * count / ns[BURSTS / 2]);
    return 0;
}
