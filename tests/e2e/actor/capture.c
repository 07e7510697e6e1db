/* SPDX-License-Identifier: MIT */
/* Parts that capture streams into graphs. Argument 1: global, thread or relaxed. */
#include "actor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_bool over;

static CUstreamCaptureMode mode_of(int argc, char **argv)
{
    const char *word = actor_word(argc, argv, 1, "global");
    return !strcmp(word, "relaxed")  ? CU_STREAM_CAPTURE_MODE_RELAXED
           : !strcmp(word, "thread") ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                                     : CU_STREAM_CAPTURE_MODE_GLOBAL;
}

/* The form without edge data, which every driver has. */
CUresult dependencies(CUgraphNode node, CUgraphNode *from,
                      size_t *count) __asm__("cuGraphNodeGetDependencies");

static void describe(const char *what, CUgraph g)
{
    CUgraphNode nodes[4096], from[64];
    size_t n = 4096, edges = 0, types[16] = {0};
    MUST(cuGraphGetNodes(g, nodes, &n));
    for (size_t i = 0; i < n; i++) {
        CUgraphNodeType type;
        size_t m = 64;
        MUST(cuGraphNodeGetType(nodes[i], &type));
        MUST(dependencies(nodes[i], from, &m));
        types[type]++;
        edges += m;
    }
    printf("%s: %zu nodes, %zu edges:", what, n, edges);
    for (int i = 0; i < 16; i++)
        printf(" %zu", types[i]);
    printf(", breaches %lu\n", (unsigned long)actor_sim("cudasim_breaches"));
}

static void run_graph(CUgraph g, CUstream s)
{
    CUgraphExec exec;
    MUST(cuGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 3; i++)
        MUST(cuGraphLaunch(exec, s));
    MUST(cuStreamSynchronize(s));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(g));
}

struct traffic {
    CUcontext context;
    CUfunction function;
    CUstream stream;
    unsigned long launches;
};

/* Only launches: they are allowed beside any capture. */
static void *make_traffic(void *arg)
{
    struct traffic *t = arg;
    MUST(cuCtxSetCurrent(t->context));
    while (!atomic_load(&over)) {
        MUST(actor_launch(t->function, t->stream));
        t->launches++;
        actor_sleep_ms(0);
    }
    return NULL;
}

/* A captures slowly while B launches and cutrace looks at B's events */
int actor_capture_beside(int argc, char **argv)
{
    CUgraph g;
    pthread_t thread;
    struct traffic t = {.context = actor_begin()};
    CUfunction f = actor_function("captured");
    CUstream s = actor_stream();
    t.function = actor_function("beside");
    t.stream = actor_stream();
    pthread_create(&thread, NULL, make_traffic, &t);
    for (int round = 0; round < 3; round++) {
        MUST(cuStreamBeginCapture(s, mode_of(argc, argv)));
        for (int i = 0; i < 50; i++) {
            MUST(actor_launch(f, s));
            actor_sleep_ms(1);
        }
        actor_say("end", cuStreamEndCapture(s, &g));
        describe("beside", g);
        run_graph(g, s);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    fprintf(stderr, "beside %lu\n", t.launches);
    return 0;
}

/* Ten launches are captured, and the graph is never launched */
int actor_capture_only(int argc, char **argv)
{
    CUgraph g;
    actor_begin();
    CUfunction f = actor_function("captured");
    CUstream s = actor_stream();
    MUST(cuStreamBeginCapture(s, mode_of(argc, argv)));
    for (int i = 0; i < 10; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamEndCapture(s, &g));
    MUST(cuGraphDestroy(g));
    return 0;
}

static void legacy_beside(unsigned flags, CUstreamCaptureMode mode, CUfunction f)
{
    CUstream s;
    CUgraph g = NULL;
    CUstreamCaptureStatus status;
    MUST(cuStreamCreate(&s, flags));
    actor_say("begin", cuStreamBeginCapture(s, mode));
    actor_say("captured launch", actor_launch(f, s));
    actor_say("is capturing", cuStreamIsCapturing(s, &status));
    printf("status %d\n", (int)status);
    actor_say("legacy launch", actor_launch(f, NULL));
    actor_say("is capturing", cuStreamIsCapturing(s, &status));
    printf("status %d\n", (int)status);
    actor_say("captured launch", actor_launch(f, s));
    if (actor_say("end", cuStreamEndCapture(s, &g)) == CUDA_SUCCESS)
        describe("legacy", g);
    actor_say("synchronise", cuCtxSynchronize());
    MUST(cuStreamDestroy(s));
}

/* The legacy stream is used while a blocking stream captures, and while a non-blocking one does */
int actor_capture_legacy(int argc, char **argv)
{
    actor_begin();
    CUfunction f = actor_function("kernel");
    legacy_beside(CU_STREAM_DEFAULT, mode_of(argc, argv), f);
    legacy_beside(CU_STREAM_NON_BLOCKING, mode_of(argc, argv), f);
    return 0;
}

/* One capture forks to another stream by an event, and joins it again */
int actor_capture_fork(int argc, char **argv)
{
    CUgraph g;
    CUevent fork, join;
    CUdeviceptr p;
    actor_begin();
    CUfunction f = actor_function("first"), h = actor_function("second");
    CUstream a = actor_stream(), b = actor_stream();
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&p, 4096));
    MUST(actor_launch(h, b)); /* the stream that joins has been used before */
    MUST(cuStreamBeginCapture(a, mode_of(argc, argv)));
    MUST(actor_launch(f, a));
    MUST(cuEventRecord(fork, a));
    MUST(cuStreamWaitEvent(b, fork, 0));
    for (int i = 0; i < 5; i++) {
        MUST(actor_launch(f, a));
        MUST(actor_launch(h, b));
    }
    MUST(cuMemsetD8Async(p, 1, 4096, b));
    MUST(cuEventRecord(join, b));
    MUST(cuStreamWaitEvent(a, join, 0));
    MUST(actor_launch(f, a));
    actor_say("end", cuStreamEndCapture(a, &g));
    describe("fork", g);
    run_graph(g, a);
    MUST(actor_launch(h, b));
    MUST(cuCtxSynchronize());
    return 0;
}
