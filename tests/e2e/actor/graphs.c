/* SPDX-License-Identifier: MIT */
/* Parts about what becomes of captures: who may begin and end them, conditions, updates. */
#include "actor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cudasim.h"
#include "graph_dump.h"

static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                            CU_STREAM_CAPTURE_MODE_RELAXED};

static void say_truth(const char *kernel)
{
    struct cudasim_truth t = {0};
    cudasim_truth_fn *truth = (cudasim_truth_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_truth");
    if (truth)
        truth("graphkernel", kernel, &t);
    printf("ran %s %lu\n", kernel, (unsigned long)t.count);
}

/* ---- who may begin and end a capture ---- */

struct ending {
    CUcontext context;
    CUstream stream;
    CUgraph graph;
    CUresult result;
};

static void *end_elsewhere(void *ending)
{
    struct ending *e = ending;
    MUST(cuCtxSetCurrent(e->context));
    e->result = cuStreamEndCapture(e->stream, &e->graph);
    return NULL;
}

static void end_in_a_thread(struct ending *e)
{
    pthread_t thread;
    pthread_create(&thread, NULL, end_elsewhere, e);
    pthread_join(thread, NULL);
    actor_say("end elsewhere", e->result);
}

static void capture_in(struct ending *e, CUstreamCaptureMode mode, CUfunction f)
{
    if (actor_say("begin", cuStreamBeginCapture(e->stream, mode)) != CUDA_SUCCESS)
        return;
    for (int i = 0; i < 3; i++)
        actor_say("launch", actor_launch(f, e->stream));
    e->graph = NULL;
    end_in_a_thread(e);
    if (e->result != CUDA_SUCCESS)
        actor_say("end here", cuStreamEndCapture(e->stream, &e->graph));
    graph_print("captured", e->graph);
    MUST(cuGraphDestroy(e->graph));
}

/* Each kind of stream in each mode; another thread tries to end it first */
int actor_capture_matrix(int argc, char **argv)
{
    static const char *const kinds[] = {"legacy", "per-thread", "blocking", "apart"};
    struct ending e = {.context = actor_begin()};
    CUfunction f = actor_function("captured");
    CUstream stream[] = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, NULL, actor_stream()};
    (void)argc;
    (void)argv;
    MUST(cuStreamCreate(&stream[2], CU_STREAM_DEFAULT));
    for (int kind = 0; kind < 4; kind++)
        for (int mode = 0; mode < 3; mode++) {
            printf("%s, mode %d\n", kinds[kind], mode);
            e.stream = stream[kind];
            capture_in(&e, modes[mode], f);
        }
    MUST(actor_launch(f, stream[3]));
    MUST(cuCtxSynchronize());
    return 0;
}

/* ---- the first launch of all is captured, by a thread without a context ---- */

struct first {
    CUfunction function;
    CUstream stream;
};

static void *launch_first(void *first)
{
    struct first *x = first;
    actor_say("launch", actor_launch(x->function, x->stream));
    actor_say("launch", actor_launch(x->function, x->stream));
    return NULL;
}

int actor_capture_first(int argc, char **argv)
{
    pthread_t thread;
    CUgraph g;
    (void)argc;
    (void)argv;
    actor_begin();
    struct first x = {actor_function("captured"), actor_stream()};
    MUST(cuStreamBeginCapture(x.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    pthread_create(&thread, NULL, launch_first, &x);
    pthread_join(thread, NULL);
    MUST(cuStreamEndCapture(x.stream, &g));
    graph_print("captured", g);
    return 0;
}

/* ---- a stream that one thread launches in, and another one captures ---- */

struct race {
    CUcontext context;
    CUfunction function;
    CUstream stream;
    unsigned long launches;
    atomic_bool over;
};

static void *launch_on(void *race)
{
    struct race *x = race;
    MUST(cuCtxSetCurrent(x->context));
    for (; !atomic_load(&x->over); x->launches++) {
        MUST(actor_launch(x->function, x->stream));
        actor_sleep_ms(0);
    }
    return NULL;
}

/* Each launch is captured or it runs; what comes after them is as ever */
int actor_capture_race(int argc, char **argv)
{
    static struct race x;
    pthread_t thread;
    CUgraph g;
    (void)argc;
    (void)argv;
    x.context = actor_begin();
    x.function = actor_function("racing");
    x.stream = actor_stream();
    CUfunction after = actor_function("after");
    pthread_create(&thread, NULL, launch_on, &x);
    for (int round = 0; round < 40; round++) {
        MUST(cuStreamBeginCapture(x.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        actor_sleep_ms(1);
        MUST(cuStreamEndCapture(x.stream, &g));
        MUST(cuGraphDestroy(g));
        actor_sleep_ms(1);
    }
    atomic_store(&x.over, true);
    pthread_join(thread, NULL);
    fprintf(stderr, "racing %lu\n", x.launches);
    for (int i = 0; i < 100; i++)
        MUST(actor_launch(after, x.stream));
    MUST(cuCtxSynchronize());
    return 0;
}

/* ---- conditional nodes ---- */

static CUgraph *add_condition(CUgraph g, CUgraphConditionalNodeType type, unsigned value,
                              unsigned bodies, CUgraphConditionalHandle *handle)
{
    CUgraphNode node;
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    MUST(cuGraphConditionalHandleCreate(handle, g, NULL, value, CU_GRAPH_COND_ASSIGN_DEFAULT));
    p.conditional.handle = *handle;
    p.conditional.type = type;
    p.conditional.size = bodies;
    MUST(cuGraphAddNode(&node, g, NULL, NULL, 0, &p));
    return p.conditional.phGraph_out;
}

static void capture_to(CUgraph g, CUstream s, CUstreamCaptureMode mode, const char *kernel,
                       uint64_t argument)
{
    CUgraph out;
    CUfunction f = actor_function(kernel);
    MUST(cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, mode));
    MUST(actor_launch_with(f, s, argument));
    actor_say("end", cuStreamEndCapture(s, &out));
    graph_print(kernel, out);
}

/* A branch taken, one not taken, a loop of three, their bodies captured; launched five times */
int actor_conditions(int argc, char **argv)
{
    CUgraph g;
    CUgraphExec exec;
    CUgraphConditionalHandle handle;
    (void)argc;
    (void)argv;
    actor_begin();
    CUstream s = actor_stream();
    MUST(cuGraphCreate(&g, 0));
    CUgraph *branch = add_condition(g, CU_GRAPH_COND_TYPE_IF, 1, 2, &handle);
    capture_to(branch[0], s, modes[0], "taken", 0);
    capture_to(branch[1], s, modes[1], "passed", 0);
    CUgraph *loop = add_condition(g, CU_GRAPH_COND_TYPE_WHILE, 3, 1, &handle);
    capture_to(loop[0], s, modes[2], "countdown", handle);
    capture_to(g, s, modes[0], "plain", 0);
    graph_print("all", g);
    MUST(cuGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 5; i++)
        MUST(cuGraphLaunch(exec, s));
    MUST(cuCtxSynchronize());
    say_truth("taken");
    say_truth("passed");
    say_truth("countdown");
    say_truth("plain");
    return 0;
}

/* ---- updates ---- */

static CUgraph captured(CUstream s, const char *const *kernels)
{
    CUgraph g;
    CUfunction f[8];
    int n = 0;
    for (; kernels[n]; n++)
        f[n] = actor_function(kernels[n]);
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < n; i++)
        MUST(actor_launch(f[i], s));
    MUST(cuStreamEndCapture(s, &g));
    return g;
}

#define CAPTURED(s, ...) captured(s, (const char *const[]){__VA_ARGS__, NULL})

static void launch(CUgraphExec exec, CUstream s, int times)
{
    for (int i = 0; i < times; i++)
        MUST(cuGraphLaunch(exec, s));
}

static void update(CUgraphExec exec, CUgraph g)
{
    CUgraphExecUpdateResultInfo info;
    actor_say("update", cuGraphExecUpdate(exec, g, &info));
    printf("result %d\n", (int)info.result);
}

static CUgraphNode node_of(CUgraph g, size_t i)
{
    CUgraphNode nodes[16];
    size_t n = 16;
    MUST(cuGraphGetNodes(g, nodes, &n));
    return nodes[i];
}

static void update_child(CUstream s)
{
    CUgraph g, other = CAPTURED(s, "d", "b");
    CUgraph inner = CAPTURED(s, "a", "b");
    CUgraphNode child;
    CUgraphExec exec;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddChildGraphNode(&child, g, NULL, 0, inner));
    MUST(cuGraphInstantiate(&exec, g, 0));
    launch(exec, s, 2);
    actor_say("set child", cuGraphExecChildGraphNodeSetParams(exec, child, other));
    launch(exec, s, 3);
    actor_say("set child", cuGraphExecChildGraphNodeSetParams(exec, child, inner));
    launch(exec, s, 4);
}

/* Other kernels in the same topology, a topology that does not fit, one node, one switched off */
int actor_updates(int argc, char **argv)
{
    CUgraphExec exec;
    (void)argc;
    (void)argv;
    actor_begin();
    CUstream s = actor_stream();
    CUgraph first = CAPTURED(s, "a", "a", "b"), second = CAPTURED(s, "a", "c", "c");
    CUgraph longer = CAPTURED(s, "a", "a", "b", "b");
    MUST(cuGraphInstantiate(&exec, first, 0));
    launch(exec, s, 1);
    update(exec, second);
    launch(exec, s, 2);
    update(exec, longer);
    launch(exec, s, 3);
    update(exec, first);
    actor_set_kernel(exec, node_of(first, 0), "c");
    launch(exec, s, 4);
    actor_say("off", cuGraphNodeSetEnabled(exec, node_of(first, 1), 0));
    actor_say("off", cuGraphNodeSetEnabled(exec, node_of(first, 1), 0));
    launch(exec, s, 5);
    actor_set_kernel(exec, node_of(first, 1), "d");
    launch(exec, s, 6);
    actor_say("on", cuGraphNodeSetEnabled(exec, node_of(first, 1), 1));
    launch(exec, s, 7);
    update_child(s);
    MUST(cuCtxSynchronize());
    for (const char *name = "abcd"; *name; name++)
        say_truth((char[]){*name, '\0'});
    return 0;
}

/* One that is updated and changed so often that nobody can keep it all, and one changed before */
int actor_updates_many(int argc, char **argv)
{
    CUgraphExec changed, busy;
    CUgraphExecUpdateResultInfo info;
    actor_begin();
    CUstream s = actor_stream();
    CUgraph first = CAPTURED(s, "a", "a", "b"), second = CAPTURED(s, "c", "c", "c");
    MUST(cuGraphInstantiate(&changed, first, 0));
    MUST(cuGraphInstantiate(&busy, second, 0));
    MUST(cuGraphNodeSetEnabled(changed, node_of(first, 1), 0));
    actor_set_kernel(changed, node_of(first, 2), "d");
    for (long i = 0; i < actor_number(argc, argv, 1, 16000); i++) {
        MUST(cuGraphExecUpdate(busy, second, &info));
        MUST(cuGraphNodeSetEnabled(busy, node_of(second, 0), 0));
        MUST(cuGraphNodeSetEnabled(busy, node_of(second, 1), 0));
    }
    launch(busy, s, 1);
    MUST(cuGraphNodeSetEnabled(changed, node_of(first, 1), 1));
    actor_set_kernel(changed, node_of(first, 2), "b");
    launch(changed, s, 2);
    MUST(cuCtxSynchronize());
    for (const char *name = "abcd"; *name; name++)
        say_truth((char[]){*name, '\0'});
    return 0;
}
