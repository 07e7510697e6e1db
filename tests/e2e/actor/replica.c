/* SPDX-License-Identifier: MIT */
/*
 * Graphs that are launched often enough for cutrace to time the kernels in them, and what programs
 * do with such graphs meanwhile. Argument 1 says what.
 */
#include "actor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cudasim.h"
#include "graph_dump.h"

#define COPIED 1024
#define ROUNDS 40
#define PAUSE_MS 20
#define MANY 20

static struct {
    CUcontext context;
    CUstream s, other;
    CUdeviceptr p;
    unsigned char host[COPIED];
    CUgraph g;
    CUgraphExec exec;
} x;

static void say_truth(const char *kernel)
{
    struct cudasim_truth t = {0};
    cudasim_truth_fn *truth = (cudasim_truth_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_truth");
    if (truth)
        truth("graphkernel", kernel, &t);
    printf("ran %s %lu, %lu ns\n", kernel, (unsigned long)t.count, (unsigned long)t.total_ns);
}

/* a or another one, then b beside c and a set, then d twice and a copy */
static CUgraph capture(const char *first)
{
    CUevent forked, joined;
    CUgraph g;
    CUfunction a = actor_function_in(x.context, first), b = actor_function_in(x.context, "b"),
               c = actor_function_in(x.context, "c"), d = actor_function_in(x.context, "d");
    MUST(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(actor_launch(a, x.s));
    MUST(cuEventRecord(forked, x.s));
    MUST(cuStreamWaitEvent(x.other, forked, 0));
    MUST(actor_launch(b, x.other));
    MUST(cuEventRecord(joined, x.other));
    MUST(actor_launch(c, x.s));
    MUST(cuMemsetD8Async(x.p, 7, COPIED, x.s));
    MUST(cuStreamWaitEvent(x.s, joined, 0));
    MUST(actor_launch(d, x.s));
    MUST(actor_launch(d, x.s));
    MUST(cuMemcpyDtoHAsync(x.host, x.p, COPIED, x.s));
    MUST(cuStreamEndCapture(x.s, &g));
    return g;
}

static void begin(void)
{
    x.context = actor_begin();
    x.s = actor_stream();
    x.other = actor_stream();
    MUST(cuMemAlloc(&x.p, COPIED));
    x.g = capture("a");
    graph_print("graph", x.g);
    MUST(cuGraphInstantiate(&x.exec, x.g, 0));
}

/* As the graph left it: the program sees to it that nothing is left of the launch before. */
static void launch_in(CUstream s)
{
    memset(x.host, 0, COPIED);
    MUST(cuGraphLaunch(x.exec, s));
}

static void check_in(CUstream s)
{
    MUST(cuStreamSynchronize(s));
    if (x.host[0] != 7 || x.host[COPIED - 1] != 7)
        printf("wrong\n");
}

static void warm_up(void)
{
    for (int i = 0; i < 3; i++)
        launch_in(x.s);
    check_in(x.s);
    actor_sleep_ms(3 * PAUSE_MS);
}

/* Slowly enough for each to be read before the next. */
static void launch_many(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        launch_in(x.s);
        check_in(x.s);
        actor_sleep_ms(PAUSE_MS);
    }
}

static int finish(void)
{
    MUST(cuCtxSynchronize());
    if (x.g)
        graph_print("graph", x.g);
    for (const char *name = "abcde"; *name; name++)
        say_truth((char[]){*name, '\0'});
    return 0;
}

/* ---- what programs do ---- */

static void plain(void)
{
    warm_up();
    launch_many(ROUNDS);
}

/* As PyTorch does it: the graph goes as soon as it is instantiated. */
static void gone(void)
{
    MUST(cuGraphDestroy(x.g));
    x.g = NULL;
    warm_up();
    launch_many(ROUNDS);
}

/* Each launch in another stream than the one before, or two in a row; none is waited for. */
static void streams(void)
{
    static const int order[] = {0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1};
    CUstream stream[] = {x.s, x.other};
    warm_up();
    for (int round = 0; round < 10; round++) {
        for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
            launch_in(stream[order[i]]);
        check_in(x.other);
        check_in(x.s);
        actor_sleep_ms(PAUSE_MS);
    }
}

static CUgraphNode first_kernel(void)
{
    CUgraphNode nodes[16];
    size_t n = 16;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    MUST(cuGraphGetNodes(x.g, nodes, &n));
    for (size_t i = 0; i < n; i++) {
        MUST(cuGraphNodeGetType(nodes[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_KERNEL)
            return nodes[i];
    }
    return NULL;
}

/* From then on another kernel runs, and it runs in each launch. */
static void changed(void)
{
    warm_up();
    launch_many(15);
    launch_in(x.s);
    actor_set_kernel(x.exec, first_kernel(), "e");
    launch_in(x.other);
    check_in(x.other);
    launch_many(10);
    actor_say("off", cuGraphNodeSetEnabled(x.exec, first_kernel(), 0));
    launch_many(2);
    CUgraphExecUpdateResultInfo info;
    actor_say("update", cuGraphExecUpdate(x.exec, x.g, &info));
    launch_many(2);
}

/* ---- nodes that get other parameters ---- */

#define TIMES 4 /* that they do */

static struct {
    CUgraphNode kernel, set, copy, call;
    unsigned char host[TIMES][COPIED];
    unsigned calls[TIMES];
} y;

static void CUDA_CB count_call(void *calls)
{
    ++*(unsigned *)calls;
}

/* A kernel, a set, a copy of what was set, and a call. */
static void capture_all(void)
{
    CUgraphNode nodes[4];
    size_t n = 4;
    CUfunction a = actor_function_in(x.context, "a");
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(actor_launch(a, x.s));
    MUST(cuMemsetD8Async(x.p, 1, COPIED, x.s));
    MUST(cuMemcpyDtoHAsync(y.host[0], x.p, COPIED, x.s));
    MUST(cuLaunchHostFunc(x.s, count_call, &y.calls[0]));
    MUST(cuStreamEndCapture(x.s, &x.g));
    MUST(cuGraphGetNodes(x.g, nodes, &n));
    y.kernel = nodes[0], y.set = nodes[1], y.copy = nodes[2], y.call = nodes[3];
}

static void set_all(int to)
{
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = x.p, .value = 1 + (unsigned)to, .elementSize = 1, .width = COPIED, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = x.p,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = y.host[to],
                          .WidthInBytes = COPIED,
                          .Height = 1,
                          .Depth = 1};
    CUDA_HOST_NODE_PARAMS call = {count_call, &y.calls[to]};
    actor_set_kernel(x.exec, y.kernel, (char[]){(char)('a' + to), '\0'});
    MUST(cuGraphExecMemsetNodeSetParams(x.exec, y.set, &set, x.context));
    MUST(cuGraphExecMemcpyNodeSetParams(x.exec, y.copy, &copy, x.context));
    MUST(cuGraphExecHostNodeSetParams(x.exec, y.call, &call));
}

static void launch_and_check(int to, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        unsigned before = y.calls[to];
        memset(y.host, 0, sizeof(y.host));
        MUST(cuGraphLaunch(x.exec, x.s));
        MUST(cuStreamSynchronize(x.s));
        if (y.host[to][0] != 1 + to || y.host[to][COPIED - 1] != 1 + to)
            printf("wrong copy\n");
        if (y.calls[to] != before + 1)
            printf("wrong call\n");
        actor_sleep_ms(PAUSE_MS);
    }
}

/* Before there is a replica, while there is one, and while it runs. */
static void sets(void)
{
    MUST(cuGraphExecDestroy(x.exec));
    MUST(cuGraphDestroy(x.g));
    capture_all();
    MUST(cuGraphInstantiate(&x.exec, x.g, 0));
    launch_and_check(0, 1);
    set_all(1);
    launch_and_check(1, 15);
    set_all(2);
    launch_and_check(2, 10);
    MUST(cuGraphLaunch(x.exec, x.s));
    set_all(3);
    MUST(cuStreamSynchronize(x.s));
    launch_and_check(3, 10);
}

static void switch_first(bool on)
{
    actor_say(on ? "on" : "off", cuGraphNodeSetEnabled(x.exec, first_kernel(), on));
}

/* Also while it runs; and before there is a replica nothing changes by what is on anyway. */
static void switched(void)
{
    switch_first(true);
    warm_up();
    launch_many(10);
    switch_first(false);
    launch_many(10);
    switch_first(true);
    launch_many(5);
    launch_in(x.s);
    switch_first(false);
    check_in(x.s);
    launch_many(5);
    switch_first(true);
    launch_many(5);
}

/* The first graphs of a process have their replicas at once: this is none of them. */
static void begin_late(void)
{
    CUgraphExec exec;
    MUST(cuGraphExecDestroy(x.exec));
    for (int i = 0; i < MANY; i++) {
        MUST(cuGraphInstantiate(&exec, x.g, 0));
        MUST(cuGraphExecDestroy(exec));
    }
    MUST(cuGraphInstantiate(&x.exec, x.g, 0));
}

/* Before there is a replica: there will be none. */
static void switched_early(void)
{
    begin_late();
    switch_first(false);
    warm_up();
    launch_many(10);
}

/* ---- updates ---- */

static void update(CUgraph g)
{
    CUgraphExecUpdateResultInfo info;
    actor_say("update", cuGraphExecUpdate(x.exec, g, &info));
}

/* From a graph that goes right afterwards, while it runs; back again; and from one that differs. */
static void updated(void)
{
    CUgraph other = capture("e"), longer;
    warm_up();
    launch_many(10);
    launch_in(x.s);
    update(other);
    MUST(cuGraphDestroy(other));
    launch_in(x.other);
    check_in(x.other);
    launch_many(15);
    update(x.g);
    launch_many(10);
    actor_set_kernel(x.exec, first_kernel(), "e");
    launch_many(5);
    MUST(cuGraphClone(&longer, x.g));
    MUST(cuGraphAddEmptyNode(&(CUgraphNode){0}, longer, NULL, 0));
    update(longer);
    launch_many(5);
}

static void updated_each(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        update(x.g);
        launch_many(1);
    }
}

static void set_each(void)
{
    for (int i = 0; i < 2 * ROUNDS; i++) {
        actor_set_kernel(x.exec, first_kernel(), i % 2 ? "a" : "e");
        launch_many(1);
    }
}

/* As JAX does it with the work of libraries: another child graph before each launch. */
static void child_each(void)
{
    CUgraph g, inner[] = {capture("a"), capture("e")};
    CUgraphNode node;
    MUST(cuGraphExecDestroy(x.exec));
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddChildGraphNode(&node, g, NULL, 0, x.g));
    MUST(cuGraphInstantiate(&x.exec, g, 0));
    for (int i = 0; i < 2 * ROUNDS; i++) {
        MUST(cuGraphExecChildGraphNodeSetParams(x.exec, node, inner[i % 2]));
        launch_many(1);
    }
}

/* Before there is a replica, and twice before there is another one. */
static void updated_early(void)
{
    CUgraph other = capture("e");
    begin_late();
    launch_in(x.s);
    launch_in(x.s);
    update(other);
    warm_up();
    launch_many(10);
    launch_in(x.s);
    launch_in(x.s);
    update(x.g);
    launch_in(x.s);
    launch_in(x.s);
    actor_set_kernel(x.exec, first_kernel(), "e");
    update(x.g);
    actor_set_kernel(x.exec, first_kernel(), "e");
    check_in(x.s);
    launch_many(15);
}

/* Executable graphs come and go faster than anybody can look at them. */
static void churn(void)
{
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < 3; k++)
            launch_in(x.s);
        if (i % 50 == 0)
            launch_many(3);
        MUST(cuGraphExecDestroy(x.exec));
        MUST(cuGraphInstantiate(&x.exec, x.g, 0));
    }
    check_in(x.s);
    launch_many(20);
}

/* Two: one of them goes, and is launched no more. */
static void seldom(void)
{
    launch_in(x.s);
    check_in(x.s);
    MUST(cuGraphExecDestroy(x.exec));
    MUST(cuGraphInstantiate(&x.exec, x.g, 0));
    launch_in(x.s);
    check_in(x.s);
}

/* At once, and all of them are there to the end. */
static void many(void)
{
    warm_up();
    for (int i = 1; i < MANY; i++) {
        MUST(cuGraphInstantiate(&x.exec, x.g, 0));
        warm_up();
    }
}

/* Memory nodes forbid it. */
static void memory(void)
{
    CUdeviceptr p;
    CUfunction a = actor_function_in(x.context, "a");
    MUST(cuGraphExecDestroy(x.exec));
    MUST(cuGraphDestroy(x.g));
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemAllocAsync(&p, COPIED, x.s));
    MUST(actor_launch(a, x.s));
    MUST(cuMemFreeAsync(p, x.s));
    MUST(cuStreamEndCapture(x.s, &x.g));
    MUST(cuGraphInstantiate(&x.exec, x.g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 20; i++) {
        MUST(cuGraphLaunch(x.exec, x.s));
        actor_sleep_ms(5);
    }
}

/* The context goes while it runs, and another one comes. */
static void reset(void)
{
    for (int i = 0; i < 5; i++) {
        warm_up();
        launch_many(4);
        launch_in(x.s);
        MUST(cuDevicePrimaryCtxReset(0));
        x.g = NULL;
        if (i < 4)
            begin();
    }
    begin();
}

/* While recording is off, launches are nobody's. */
static void off(void)
{
    warm_up();
    launch_many(5);
    launch_in(x.s);
    MUST(cuProfilerStop());
    launch_in(x.other);
    launch_in(x.s);
    check_in(x.other);
    launch_many(3);
    MUST(cuProfilerStart());
    launch_many(10);
}

/* A launch into a capture is a node of the program's graph, whatever runs. */
static void captured(void)
{
    CUgraph g;
    warm_up();
    launch_many(3);
    launch_in(x.s);
    for (int i = 0; i < 10; i++) {
        MUST(cuStreamBeginCapture(x.other, CU_STREAM_CAPTURE_MODE_GLOBAL));
        MUST(cuGraphLaunch(x.exec, x.other));
        MUST(cuStreamEndCapture(x.other, &g));
        graph_print("captured", g);
        MUST(cuGraphDestroy(g));
        launch_many(2);
    }
}

static void child(void)
{
    CUgraph g;
    CUgraphNode node;
    MUST(cuGraphExecDestroy(x.exec));
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddChildGraphNode(&node, g, NULL, 0, x.g));
    MUST(cuGraphDestroy(x.g));
    x.g = g;
    MUST(cuGraphInstantiate(&x.exec, x.g, 0));
    warm_up();
    launch_many(ROUNDS);
}

/* Kernels one behind the other, and a set before or a copy behind them */
#define IN_LINE 96

static void capture_line(bool set, bool copy)
{
    CUgraph g;
    CUfunction d = actor_function_in(x.context, "d");
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (set)
        MUST(cuMemsetD8Async(x.p, 7, COPIED, x.s));
    for (int i = 0; i < IN_LINE; i++)
        MUST(actor_launch(d, x.s));
    if (copy)
        MUST(cuMemcpyDtoHAsync(x.host, x.p, COPIED, x.s));
    MUST(cuStreamEndCapture(x.s, &g));
    MUST(cuGraphInstantiate(&x.exec, g, 0));
    MUST(cuGraphDestroy(g));
}

static void line(void)
{
    capture_line(true, true);
    warm_up();
    launch_many(6);
}

/* Without a wait: the host is through before the first launch is. */
static void line_ahead(void)
{
    capture_line(false, false);
    for (int i = 0; i < 10; i++)
        launch_in(x.s);
    MUST(cuStreamSynchronize(x.s));
}

/* By the way of the runtime; the device may have no room the first time that it is asked. */
static void allocating(void)
{
    CUdeviceptr p;
    CUdriverProcAddressQueryResult found;
    union {
        void *address;
        CUresult (*call)(CUdeviceptr *, size_t);
    } allocate;
    MUST(cuGetProcAddress("cuMemAlloc", &allocate.address, 12000, 0, &found));
    warm_up();
    launch_many(5);
    actor_say("allocate", allocate.call(&p, COPIED));
    launch_many(5);
}

/* Behind some graphs that are launched once, as a program does that tries things first. */
static void line_late(void)
{
    for (int i = 0; i < 8; i++) {
        CUgraphExec exec;
        MUST(cuGraphInstantiate(&exec, x.g, 0));
        MUST(cuGraphLaunch(exec, x.s));
        MUST(cuStreamSynchronize(x.s));
    }
    line_ahead();
}

static const struct {
    const char *name;
    void (*play)(void);
} kinds[] = {{"plain", plain},
             {"gone", gone},
             {"streams", streams},
             {"changed", changed},
             {"churn", churn},
             {"memory", memory},
             {"reset", reset},
             {"off", off},
             {"captured", captured},
             {"line", line},
             {"line_ahead", line_ahead},
             {"line_late", line_late},
             {"allocating", allocating},
             {"child", child},
             {"many", many},
             {"seldom", seldom},
             {"sets", sets},
             {"switched", switched},
             {"switched_early", switched_early},
             {"updated", updated},
             {"updated_each", updated_each},
             {"set_each", set_each},
             {"child_each", child_each},
             {"updated_early", updated_early}};

int actor_replica(int argc, char **argv)
{
    const char *kind = actor_word(argc, argv, 1, "plain");
    begin();
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(kind, kinds[i].name))
            kinds[i].play();
    return finish();
}
