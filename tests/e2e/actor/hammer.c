/* SPDX-License-Identifier: MIT */
/* Many threads, many streams, every kind of work. What was done is printed, to be compared. */
#include "actor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 128
#define STREAMS 64
#define KERNELS 24
#define BYTES 256

enum kind { LAUNCH, TO_DEVICE, FROM_DEVICE, ON_DEVICE, SET, GRAPH, KINDS };

static struct shared {
    CUcontext context;
    CUfunction kernel[KERNELS];
    CUgraph graph;
    int streams;
    long operations; /* of each thread */
    bool own_contexts;
    bool share_streams;
    CUstream stream[STREAMS];
} shared;

struct worker {
    pthread_t thread;
    unsigned random;
    uint64_t count[KINDS];
    uint64_t launches[KERNELS];
    uint64_t own; /* launches in contexts of its own */
    uint64_t syncs;
    CUstream stream[STREAMS];
    CUgraphExec exec;
    CUdeviceptr from, to;
    char host[BYTES];
};

static void one(struct worker *w, CUstream s)
{
    unsigned r = w->random = w->random * 1103515245u + 12345u;
    unsigned pick = (r >> 16) % 16, k = (r >> 20) % KERNELS;
    enum kind kind = pick < 10 ? LAUNCH : (enum kind)(pick - 9);
    if (kind >= KINDS)
        kind = LAUNCH;
    w->count[kind]++;
    switch (kind) {
    case TO_DEVICE:
        MUST(cuMemcpyHtoDAsync(w->to, w->host, BYTES, s));
        break;
    case FROM_DEVICE:
        MUST(cuMemcpyDtoHAsync(w->host, w->from, BYTES, s));
        break;
    case ON_DEVICE:
        MUST(cuMemcpyDtoDAsync(w->to, w->from, BYTES, s));
        break;
    case SET:
        MUST(cuMemsetD8Async(w->from, 3, BYTES, s));
        break;
    case GRAPH:
        MUST(cuGraphLaunch(w->exec, s));
        break;
    default:
        w->launches[k]++;
        MUST(actor_launch(shared.kernel[k], s));
    }
}

/* A context that lives for a few launches. */
static void visit_context(struct worker *w)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    MUST(cuCtxCreate(&c, NULL, 0, 0));
    MUST(cuModuleLoadData(&m, "image"));
    MUST(cuModuleGetFunction(&f, m, "own"));
    CUstream s = actor_stream();
    for (int i = 0; i < 20; i++, w->own++)
        MUST(actor_launch(f, s));
    MUST(cuCtxDestroy(c));
}

static void *run(void *arg)
{
    struct worker *w = arg;
    MUST(cuCtxSetCurrent(shared.context));
    for (int i = 0; i < shared.streams; i++)
        w->stream[i] = shared.share_streams ? shared.stream[i] : actor_stream();
    MUST(cuMemAlloc(&w->from, BYTES));
    MUST(cuMemAlloc(&w->to, BYTES));
    MUST(cuGraphInstantiate(&w->exec, shared.graph, 0));
    for (long i = 0; i < shared.operations; i++) {
        one(w, w->stream[i % shared.streams]);
        if (i % 1024 == 1023) {
            MUST(cuStreamSynchronize(w->stream[i % shared.streams]));
            w->syncs++;
        }
        if (shared.own_contexts && i % 8192 == 8191)
            visit_context(w);
    }
    for (int i = 0; i < shared.streams; i++, w->syncs++)
        MUST(cuStreamSynchronize(w->stream[i]));
    return NULL;
}

static CUgraph capture(CUfunction f)
{
    CUgraph g;
    CUstream s = actor_stream();
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < 3; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamEndCapture(s, &g));
    return g;
}

static void tell(const struct worker *w, int threads)
{
    static const char *const names[KINDS] = {"cuLaunchKernel",       "cuMemcpyHtoDAsync_v2",
                                             "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2",
                                             "cuMemsetD8Async",      "cuGraphLaunch"};
    struct worker sum = {0};
    for (int t = 0; t < threads; t++) {
        for (int i = 0; i < KINDS; i++)
            sum.count[i] += w[t].count[i];
        for (int i = 0; i < KERNELS; i++)
            sum.launches[i] += w[t].launches[i];
        sum.own += w[t].own;
        sum.syncs += w[t].syncs;
    }
    sum.count[LAUNCH] += sum.own + 3;
    for (int i = 0; i < KINDS; i++)
        printf("api %s %lu\n", names[i], (unsigned long)sum.count[i]);
    printf("api cuStreamSynchronize %lu\n", (unsigned long)sum.syncs);
    for (int i = 0; i < KERNELS; i++)
        printf("kernel hammer_%d %lu\n", i, (unsigned long)sum.launches[i]);
    printf("kernel own %lu\n", (unsigned long)sum.own);
}

/* hammer THREADS STREAMS OPERATIONS [contexts|together] */
int actor_hammer(int argc, char **argv)
{
    int threads = (int)actor_number(argc, argv, 1, 8);
    struct worker *w = calloc(THREADS, sizeof(*w));
    char name[32];
    if (threads > THREADS)
        return 2;
    shared.context = actor_begin();
    shared.streams = (int)actor_number(argc, argv, 2, 16) % (STREAMS + 1);
    shared.operations = actor_number(argc, argv, 3, 100000) / threads;
    shared.own_contexts = !strcmp(actor_word(argc, argv, 4, ""), "contexts");
    shared.share_streams = !strcmp(actor_word(argc, argv, 4, ""), "together");
    for (int i = 0; shared.share_streams && i < shared.streams; i++)
        shared.stream[i] = actor_stream();
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof(name), "hammer_%d", i);
        shared.kernel[i] = actor_function(name);
    }
    shared.graph = capture(actor_function("in_graph"));
    for (int t = 0; t < threads; t++) {
        w[t].random = (unsigned)t * 7919u + 1;
        pthread_create(&w[t].thread, NULL, run, &w[t]);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(w[t].thread, NULL);
    tell(w, threads);
    free(w);
    return 0;
}
