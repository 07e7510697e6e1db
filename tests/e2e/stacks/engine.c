/* SPDX-License-Identifier: MIT */
/* For backward.py: PyTorch's engine, which launches from a thread that runs no Python. */
#define _GNU_SOURCE
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

/* A range that is pushed, unless it is NULL; a launch, likewise; so many ranges that are popped. */
struct step {
    const char *push;
    CUfunction launch;
    int pops;
};

struct work {
    CUcontext context;
    const char *name;
    const struct step *steps;
    int count;
    int result;
};

int engine_do(const struct step *s)
{
    int result = 0;
    if (s->push)
        nvtxRangePushA(s->push);
    if (s->launch)
        result = cuLaunchKernel(s->launch, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    for (int i = 0; i < s->pops; i++)
        nvtxRangePop();
    return result;
}

static void *run(void *arg)
{
    struct work *w = arg;
    w->result = cuCtxSetCurrent(w->context);
    pthread_setname_np(pthread_self(), w->name);
    for (int i = 0; i < w->count; i++)
        w->result |= engine_do(&w->steps[i]);
    return NULL;
}

/* In a thread with this name; its end is waited for. */
int engine_run(CUcontext context, const char *name, const struct step *steps, int count)
{
    struct work w = {context, name, steps, count, 0};
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, run, &w);
    return failed ? failed : pthread_join(thread, NULL) | w.result;
}
