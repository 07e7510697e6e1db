/* SPDX-License-Identifier: MIT */
/*
 * A program that works for a while, then hangs in one of the usual ways, and goes on after so long:
 *
 *     hanger KIND SECONDS
 *
 * It prints the same with and without cutrace.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cudasim.h"
#include "must.h"
#include "nccl/sim_nccl.h"

#define HISTORY 40 /* launches of each kernel before the hang */

/* Modules and their functions are left to the end of the process. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static atomic_int flag = 1;
static CUmodule module;
static CUstream one, two;
static double seconds;

static CUfunction function(const char *name)
{
    CUfunction f;
    MUST(cuModuleGetFunction(&f, module, name));
    return f;
}

static void launch(CUfunction f, CUstream s, uint64_t argument)
{
    void *arguments[] = {&argument};
    MUST(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, arguments, NULL));
}

/* It spins while the flag is down. */
static void spin(CUstream s)
{
    launch(function("gateSpins"), s, (uint64_t)(uintptr_t)&flag);
}

static void pause_for(double s)
{
    struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
    while (nanosleep(&t, &t))
        ;
}

static void *release(void *unused)
{
    pause_for(seconds);
    atomic_store(&flag, 1);
    return unused;
}

/* From here on things hang; a thread of its own ends that. */
static void hang(void)
{
    pthread_t t;
    atomic_store(&flag, 0);
    MUST(pthread_create(&t, NULL, release, NULL));
    MUST(pthread_detach(t));
}

/* ---- ways to hang ---- */

static void kernel(void)
{
    hang();
    spin(one);
    launch(function("spinBehind"), one, 1000);
    MUST(cuStreamSynchronize(one));
}

/* The second stream would let the first go on, and waits for it. */
static void events(void)
{
    CUevent e;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    hang();
    spin(one);
    MUST(cuEventRecord(e, one));
    MUST(cuStreamWaitEvent(two, e, 0));
    launch(function("spinReleases"), two, 1000);
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(e));
}

static void wait_for_flag(void *unused)
{
    (void)unused;
    while (!atomic_load(&flag))
        pause_for(0.001);
}

static void gate(void)
{
    hang();
    MUST(cuLaunchHostFunc(one, wait_for_flag, NULL));
    launch(function("spinBehind"), one, 1000);
    MUST(cuStreamSynchronize(one));
}

static void empty_gate(void)
{
    hang();
    MUST(cuLaunchHostFunc(one, wait_for_flag, NULL));
    MUST(cuStreamSynchronize(one));
}

static void value(void)
{
    hang();
    MUST(cuStreamWaitValue32(one, (CUdeviceptr)(uintptr_t)&flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    launch(function("spinBehind"), one, 1000);
    MUST(cuStreamSynchronize(one));
}

/* Each call fails from now on, and the program tries on. */
static void assertion(void)
{
    cudasim_set_fn *set = (cudasim_set_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_set");
    hang();
    spin(one);
    set("CUDASIM_FAIL", "program/cuStreamQuery:1-1000000000:710:sticky");
    while (!atomic_load(&flag)) {
        cuStreamQuery(one);
        pause_for(0.001);
    }
    puts("done");
    fflush(stdout);
    _exit(0);
}

/* The drain thread's own call does not return either. */
static void driver(void)
{
    cudasim_set_fn *set = (cudasim_set_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_set");
    hang();
    spin(one);
    set("CUDASIM_HANG", "drain/cuEventQuery:1-1000000000");
    MUST(cuStreamSynchronize(one));
}

/* The last of the ranks does not come in time (SIM_NCCL_JOB). */
static void rank(void)
{
    ncclUniqueId id;
    ncclComm_t comm;
    const char *ranks = getenv("WORLD_SIZE"), *own = getenv("RANK");
    int n = atoi(ranks), me = atoi(own);
    MUST(ncclGetUniqueId(&id));
    MUST(ncclCommInitRank(&comm, n, id, me));
    for (int i = 0; i < HISTORY; i++)
        MUST(ncclAllReduce(NULL, NULL, 1024, ncclFloat, ncclSum, comm, one));
    MUST(cuStreamSynchronize(one));
    if (me == n - 1)
        pause_for(seconds);
    MUST(ncclAllReduce(NULL, NULL, 4096, ncclFloat, ncclSum, comm, one));
    MUST(cuStreamSynchronize(one));
    MUST(ncclCommDestroy(comm));
}

/* One of several kernels of a graph. */
static void graph(void)
{
    CUgraph g;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(function("spinBefore"), one, 1000);
    spin(one);
    launch(function("spinBehind"), one, 1000);
    MUST(cuStreamEndCapture(one, &g));
    MUST(cuGraphInstantiateWithFlags(&exec, g, 0));
    for (int i = 0; i < HISTORY; i++) {
        MUST(cuGraphLaunch(exec, one));
        MUST(cuStreamSynchronize(one));
        pause_for(0.005); /* the drain thread makes copies meanwhile */
    }
    pause_for(0.3); /* and reads the last one */
    hang();
    MUST(cuGraphLaunch(exec, one));
    MUST(cuStreamSynchronize(one));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(g));
}

/* ---- no hangs ---- */

static void idle(void)
{
    pause_for(seconds);
}

/* In real time: it has taken nearly as long before. Another stream waits for it. */
static void slow(void)
{
    CUevent e;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 3; i++) {
        launch(function("spinSlowly"), one, (uint64_t)(seconds * 1e9 * (i < 2 ? 0.6 : 1)));
        MUST(cuEventRecord(e, one));
        MUST(cuStreamWaitEvent(two, e, 0));
        launch(function("spinBehind"), two, 1000);
        MUST(cuStreamSynchronize(two));
    }
    MUST(cuEventDestroy(e));
}

/* The threads of the library's own are not to be the last ones. */
static void leave(void)
{
    puts("done");
    pthread_exit(NULL);
}

/* Nothing is known of it. */
static void unknown(void)
{
    hang();
    launch(function("gateIsNew"), one, (uint64_t)(uintptr_t)&flag);
    MUST(cuStreamSynchronize(one));
}

static void stopped(void)
{
    pid_t pid = getpid();
    atomic_store(&flag, 0);
    spin(one);
    fflush(stdout);
    if (!fork()) {
        pause_for(0.2);
        kill(pid, SIGSTOP);
        pause_for(seconds);
        kill(pid, SIGCONT);
        _exit(0);
    }
    pause_for(0.4);
    atomic_store(&flag, 1);
    MUST(cuStreamSynchronize(one));
}

static const struct {
    const char *name;
    void (*play)(void);
} kinds[] = {
    {"kernel", kernel}, {"events", events},    {"gate", gate},       {"empty-gate", empty_gate},
    {"value", value},   {"assert", assertion}, {"driver", driver},   {"rank", rank},
    {"idle", idle},     {"slow", slow},        {"stopped", stopped}, {"new", unknown},
    {"graph", graph},   {"leave", leave},
};

int main(int argc, char **argv)
{
    CUcontext c;
    const char *name = argc > 1 ? argv[1] : "";
    seconds = argc > 2 ? atof(argv[2]) : 3;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&c, 0));
    MUST(cuCtxSetCurrent(c));
    MUST(cuModuleLoadData(&module, "image"));
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < HISTORY; i++) {
        spin(one);
        launch(function("spinBehind"), two, 1000);
        MUST(cuCtxSynchronize());
    }
    pause_for(0.1);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name))
            continue;
        kinds[i].play();
        puts("done");
        return 0;
    }
    fprintf(stderr, "no such kind\n");
    return 1;
}
