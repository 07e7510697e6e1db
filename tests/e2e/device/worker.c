/* SPDX-License-Identifier: MIT */
/* worker HOW MS: launches kernels for so long, and ends as HOW says. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cuda.h>

static CUcontext context;
static CUfunction kernel;

static void work(long ms)
{
    uint64_t ns = 1000;
    void *arguments[] = {&ns};
    for (long i = 0; i < ms; i += 10) {
        cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    cuCtxSynchronize();
}

static void begin(void)
{
    CUmodule module;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, "image") || cuModuleGetFunction(&kernel, module, "spin"))
        exit(3);
}

static void *work_apart(void *ms)
{
    cuCtxSetCurrent(context);
    work(*(long *)ms);
    return NULL;
}

/* Children begin while NVML is read, and while it is loaded. */
static int fork_often(long ms)
{
    int failed = 0;
    for (long i = 0; i < ms; i += 10) {
        int status;
        pid_t child = fork();
        if (!child) {
            void *p = malloc(100);
            _exit(!p);
        }
        work(10);
        failed |= waitpid(child, &status, 0) != child || status;
    }
    return failed;
}

/* The child has CUDA for itself: its parent has none. */
static int fork_first(long ms)
{
    int status = 1;
    pid_t child = fork();
    if (!child) {
        begin();
        work(ms);
        exit(0);
    }
    begin();
    work(ms);
    return waitpid(child, &status, 0) != child || status;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    static long ms;
    ms = argc > 2 ? atol(argv[2]) : 1500;
    if (!strcmp(how, "first"))
        return fork_first(ms);
    if (!strcmp(how, "locked") && mlockall(MCL_CURRENT | MCL_FUTURE))
        return 77;
    begin();
    if (!strcmp(how, "forks"))
        return fork_often(ms);
    if (!strcmp(how, "last")) { /* the process goes with its last thread */
        pthread_t thread;
        pthread_create(&thread, NULL, work_apart, &ms);
        pthread_exit(NULL);
    }
    work(ms);
    puts("worked");
    fflush(stdout);
    if (!strcmp(how, "at_once"))
        _exit(0);
    return 0;
}
