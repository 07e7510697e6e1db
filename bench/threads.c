/* SPDX-License-Identifier: MIT */
/*
 * threads N own|one|none: million launches a second of one of N threads alone, and of all N
 * together, each with a stream of its own or all with one. A round is a burst of each thread by
 * itself, in turns, and one of all; alone is the mean of the round's threads, together the sum of
 * what they make while all are at it, and printed are the medians of the rounds. So both are by the
 * same threads on the same processors at the same time: how fast one is at a time differs by half
 * on hosts that others use as well. Between bursts there is time for the drain thread, so that no
 * ring is full. With "none" no launches, but something like them that shares nothing with anybody:
 * so much do the machine's processors do together.
 */
#include <cuda.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

#define BURST 1000
#define ROUNDS 25
#define WARM_UPS 100 /* launches, not counted: who was asleep has cold caches */
#define MOST 256

/* As what a bracketed launch has: places in a ring, stamps, atomic additions, instructions. */
#define PLACES 2048
#define WORDS 19
#define STAMPS 4
#define ADDITIONS 200

struct worker {
    _Alignas(128) pthread_t thread;
    CUstream stream;
    double rate; /* of its last burst, launches a second */
    sem_t go;
    _Alignas(128) _Atomic uint64_t opened;
    _Atomic uint64_t closed;
    volatile uint64_t (*ring)[WORDS];
};

static struct worker workers[MOST];
static unsigned count;
static CUcontext context;
static CUfunction function;
static sem_t done;
static _Alignas(128) atomic_uint missing; /* of the threads of a burst */
/* One of them is through: what the others make from here on does not count. */
static _Alignas(128) atomic_bool over;

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

static void share_nothing(struct worker *w)
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

static double burst(struct worker *w, void (*call)(struct worker *))
{
    unsigned n = 0;
    atomic_fetch_sub(&missing, 1);
    while (atomic_load_explicit(&missing, memory_order_relaxed))
        ;
    for (int i = 0; i < WARM_UPS; i++)
        call(w);
    double begin_ns = now_ns();
    while (n < BURST && !atomic_load_explicit(&over, memory_order_relaxed)) {
        call(w);
        n++;
    }
    double end_ns = now_ns();
    atomic_store_explicit(&over, true, memory_order_relaxed);
    return 1e9 * n / (end_ns - begin_ns);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    void (*call)(struct worker *) = w->ring ? share_nothing : launch;
    cuCtxSetCurrent(context);
    for (unsigned i = 0; i < 2 * (1 + ROUNDS); i++) {
        while (sem_wait(&w->go))
            ;
        w->rate = burst(w, call);
        sem_post(&done);
    }
    return NULL;
}

/*
 * Of n threads together. What all of them record takes the drain thread less than the time before;
 * which is the same before each burst, as it naps the longer the less there is to do.
 */
static double rate_of(struct worker *first, unsigned n)
{
    double sum = 0;
    nanosleep(&(struct timespec){.tv_nsec = 2000000 + 500000 * (long)count}, NULL);
    atomic_store(&missing, n);
    atomic_store(&over, false);
    for (struct worker *w = first; w < first + n; w++)
        sem_post(&w->go);
    for (unsigned i = 0; i < n; i++)
        while (sem_wait(&done))
            ;
    for (struct worker *w = first; w < first + n; w++)
        sum += w->rate;
    return sum;
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
    sem_init(&done, 0, 0);
    for (struct worker *w = workers; w < workers + count; w++) {
        w->stream = shared;
        sem_init(&w->go, 0, 0);
        if (!strcmp(streams, "own"))
            cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING);
        if (!strcmp(streams, "none") && !(w->ring = calloc(PLACES, sizeof(*w->ring))))
            exit(1);
        if (pthread_create(&w->thread, NULL, work, w))
            exit(1);
    }
}

static double median(double *of_rounds)
{
    qsort(of_rounds, ROUNDS, sizeof(of_rounds[0]), compare);
    return of_rounds[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    double one[1 + ROUNDS], all[1 + ROUNDS]; /* the first is not counted */
    count = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
    if (!count || count > MOST)
        return 2;
    set_up(argv[2]);
    for (unsigned r = 0; r <= ROUNDS; r++) {
        double sum = 0;
        for (struct worker *w = workers; w < workers + count; w++)
            sum += rate_of(w, 1);
        one[r] = sum / count;
        all[r] = rate_of(workers, count);
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%.3f %.3f\n", median(one + 1) / 1e6, median(all + 1) / 1e6);
    return 0;
}
