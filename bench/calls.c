/* SPDX-License-Identifier: MIT */
/*
 * calls WHAT: nanoseconds of one driver call, the median over bursts. Between bursts there is time
 * for the drain thread to take what was recorded, so that no burst finds its ring full.
 *
 *   count     a call that is only counted
 *   launch    a kernel launch
 *   graph     a launch of an executable graph
 *   record    an event record
 *   cold      kernel launches between which the program uses the caches and the TLB for itself
 *   drain     launches as fast as the drain thread takes them; prints its CPU time for each
 *   paced     10,000 launches a second; prints the drain thread's part of a core, in percent
 *
 * calls WHAT once: one burst after a warm-up, in one_burst(), for a counter of instructions.
 */
#include <cuda.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

#define BURST 1000
#define BURSTS 101
#define DRAINED 500000
#define COLD_LAUNCHES 1500
#define COLD_BYTES ((size_t)16 << 20) /* more than a core has for itself, of its caches and TLB */
#define COLD_STEP 64

static CUfunction function;
static CUstream stream;
static CUevent event;
static CUgraphExec graph_exec;

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void launch(void)
{
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
}

static void launch_graph(void)
{
    cuGraphLaunch(graph_exec, stream);
}

static void count(void)
{
    int n;
    cuDeviceGetCount(&n);
}

static void record(void)
{
    cuEventRecord(event, stream);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static __attribute__((noinline)) void one_burst(void (*call)(void))
{
    for (int i = 0; i < BURST; i++)
        call();
}

/* A counter of instructions slows the drain thread as well. */
static void once(void (*call)(void))
{
    for (int i = 0; i < BURST; i++)
        call();
    pause_ms(200);
    one_burst(call);
}

static double median_ns(void (*call)(void))
{
    double ns[BURSTS];
    for (int b = -10; b < BURSTS; b++) { /* the first ones warm up */
        double begin = now_ns(CLOCK_MONOTONIC);
        one_burst(call);
        if (b >= 0)
            ns[b] = (now_ns(CLOCK_MONOTONIC) - begin) / BURST;
        pause_ms(2);
    }
    qsort(ns, BURSTS, sizeof(ns[0]), compare);
    return ns[BURSTS / 2];
}

static void use_caches(volatile const char *memory)
{
    for (size_t i = 0; i < COLD_BYTES; i += COLD_STEP)
        (void)memory[i];
}

/* The clock's own time is in it, as in what it is compared with. */
static double cold_ns(void)
{
    static double ns[COLD_LAUNCHES];
    char *memory = malloc(COLD_BYTES);
    if (!memory)
        exit(1);
    memset(memory, 1, COLD_BYTES);
    for (int i = 0; i < COLD_LAUNCHES; i++) {
        use_caches(memory);
        double begin = now_ns(CLOCK_MONOTONIC);
        launch();
        ns[i] = now_ns(CLOCK_MONOTONIC) - begin;
    }
    free(memory);
    qsort(ns, COLD_LAUNCHES, sizeof(ns[0]), compare);
    return ns[COLD_LAUNCHES / 2];
}

/* CPU time of this process's thread of that name. */
static double thread_ns(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    double ns = 0;
    for (struct dirent *d; tasks && (d = readdir(tasks));) {
        char path[300], text[64] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(text, sizeof(text), f) && !strncmp(text, name, strlen(name))) {
            snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", d->d_name);
            FILE *s = fopen(path, "r");
            if (s && fscanf(s, "%lf", &ns) != 1)
                ns = 0;
            if (s)
                fclose(s);
        }
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return ns;
}

static double drain_ns(void)
{
    double begin = thread_ns("cutrace");
    for (int i = 0; i < DRAINED; i++) {
        launch();
        if (i % BURST == BURST - 1)
            pause_ms(1);
    }
    pause_ms(20);
    return (thread_ns("cutrace") - begin) / DRAINED;
}

#define PACED_PER_S 10000
#define PACED_WARM_NS 1.5e9 /* the first second of a program is timed as a whole */
#define PACED_NS 2e9

/* The part of a core that the drain thread takes at so many launches a second, in percent. */
static double paced_percent(void)
{
    double begin = now_ns(CLOCK_MONOTONIC), from = 0, used = 0;
    for (double due = begin; due - begin < PACED_WARM_NS + PACED_NS; due += 1e9 / PACED_PER_S) {
        while (now_ns(CLOCK_MONOTONIC) < due)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        if (!from && due - begin >= PACED_WARM_NS) {
            from = now_ns(CLOCK_MONOTONIC);
            used = thread_ns("cutrace");
        }
        launch();
    }
    return 100 * (thread_ns("cutrace") - used) / (now_ns(CLOCK_MONOTONIC) - from);
}

static void set_up(void)
{
    CUcontext context;
    function = bench_start_driver(&context);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&event, CU_EVENT_DEFAULT);
    cuGraphInstantiateWithFlags(&graph_exec, NULL, 0);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {{"count", count}, {"launch", launch}, {"graph", launch_graph}, {"record", record}};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    set_up();
    if (!strcmp(what, "drain"))
        return printf("%.2f\n", drain_ns()) < 0;
    if (!strcmp(what, "paced"))
        return printf("%.2f\n", paced_percent()) < 0;
    if (!strcmp(what, "cold"))
        return printf("%.2f\n", cold_ns()) < 0;
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(what, calls[i].name))
            continue;
        if (argc > 2)
            once(calls[i].call);
        else
            printf("%.2f\n", median_ns(calls[i].call));
        return 0;
    }
    return 2;
}
