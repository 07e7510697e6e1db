/* SPDX-License-Identifier: MIT */
/*
 * What programs do to executable graphs inside another call of the driver's: in the function that
 * tells cuOccupancyMaxPotentialBlockSize how much memory a block takes. What the graphs do
 * afterwards is printed.
 */
#include "actor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cudasim.h"

#define BYTES 64
#define TARGETS 2
#define BEFORE 8 /* launches: enough for cutrace to time the kernels */
#define AFTER 4
#define PAUSE_MS 20

static struct {
    CUcontext context;
    CUstream s;
    CUdeviceptr p;
    CUevent event[TARGETS];
    unsigned char host[TARGETS][BYTES];
    unsigned calls[TARGETS];
    CUgraph g, parts[TARGETS];
    CUgraphNode kernel, set, copy, call, child, record, wait;
    CUgraphExec exec;
} x;

static uint64_t runs_of(const char *kernel)
{
    struct cudasim_truth t = {0};
    cudasim_truth_fn *truth = (cudasim_truth_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_truth");
    if (truth)
        truth("graphkernel", kernel, &t);
    return t.count;
}

static void CUDA_CB count_call(void *calls)
{
    ++*(unsigned *)calls;
}

/* ---- graphs ---- */

static CUgraph graph_of(const char *kernel)
{
    CUgraph g;
    CUfunction f = actor_function(kernel); /* nothing may be loaded in a capture */
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(actor_launch(f, x.s));
    MUST(cuStreamEndCapture(x.s, &g));
    return g;
}

/* A kernel, a set, a copy of what was set, and a call; and beside them what can be added only. */
static void make_graph(void)
{
    CUgraphNode nodes[4];
    size_t n = 4;
    CUfunction f = actor_function("a");
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(actor_launch(f, x.s));
    MUST(cuMemsetD8Async(x.p, 1, BYTES, x.s));
    MUST(cuMemcpyDtoHAsync(x.host[0], x.p, BYTES, x.s));
    MUST(cuLaunchHostFunc(x.s, count_call, &x.calls[0]));
    MUST(cuStreamEndCapture(x.s, &x.g));
    MUST(cuGraphGetNodes(x.g, nodes, &n));
    x.kernel = nodes[0], x.set = nodes[1], x.copy = nodes[2], x.call = nodes[3];
    MUST(cuGraphAddChildGraphNode(&x.child, x.g, NULL, 0, x.parts[0]));
    MUST(cuGraphAddEventRecordNode(&x.record, x.g, NULL, 0, x.event[0]));
    MUST(cuGraphAddEventWaitNode(&x.wait, x.g, NULL, 0, x.event[0]));
}

static void begin(void)
{
    x.context = actor_begin();
    x.s = actor_stream();
    MUST(cuMemAlloc(&x.p, BYTES));
    for (int i = 0; i < TARGETS; i++)
        MUST(cuEventCreate(&x.event[i], CU_EVENT_DEFAULT));
    x.parts[0] = graph_of("c");
    x.parts[1] = graph_of("d");
    make_graph();
}

/* Slowly enough for each to be read before the next. */
static void launch(int times)
{
    for (int i = 0; i < times; i++) {
        memset(x.host, 0, sizeof(x.host));
        MUST(cuGraphLaunch(x.exec, x.s));
        MUST(cuStreamSynchronize(x.s));
        actor_sleep_ms(PAUSE_MS);
    }
}

static void say(const char *what)
{
    printf("%s: copied %d %d, called %u %u, ran", what, x.host[0][0], x.host[1][0], x.calls[0],
           x.calls[1]);
    for (const char *name = "abcd"; *name; name++)
        printf(" %lu", (unsigned long)runs_of((char[]){*name, '\0'}));
    printf("\n");
}

/* ---- what is done to them ---- */

static void kernel(void)
{
    actor_set_kernel(x.exec, x.kernel, "b");
}

static void any_kernel(void)
{
    void *arguments[] = {&(uint64_t){0}};
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    p.kernel = (CUDA_KERNEL_NODE_PARAMS_v3){.func = actor_function("b"),
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 32,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = arguments};
    MUST(cuGraphExecNodeSetParams(x.exec, x.kernel, &p));
}

static void set(void)
{
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = x.p, .value = 2, .elementSize = 1, .width = BYTES, .height = 1};
    MUST(cuGraphExecMemsetNodeSetParams(x.exec, x.set, &p, x.context));
}

static void copy(void)
{
    CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = x.p,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = x.host[1],
                       .WidthInBytes = BYTES,
                       .Height = 1,
                       .Depth = 1};
    MUST(cuGraphExecMemcpyNodeSetParams(x.exec, x.copy, &p, x.context));
}

static void call(void)
{
    MUST(cuGraphExecHostNodeSetParams(x.exec, x.call,
                                      &(CUDA_HOST_NODE_PARAMS){count_call, &x.calls[1]}));
}

static void child(void)
{
    MUST(cuGraphExecChildGraphNodeSetParams(x.exec, x.child, x.parts[1]));
}

static void record(void)
{
    MUST(cuGraphExecEventRecordNodeSetEvent(x.exec, x.record, x.event[1]));
}

static void await(void)
{
    MUST(cuGraphExecEventWaitNodeSetEvent(x.exec, x.wait, x.event[1]));
}

static void off(void)
{
    MUST(cuGraphNodeSetEnabled(x.exec, x.kernel, 0));
}

/* From the graph, in which another kernel is now; and it is put right again. */
static void update(void)
{
    CUgraphExecUpdateResultInfo info;
    CUDA_KERNEL_NODE_PARAMS p;
    MUST(cuGraphKernelNodeGetParams(x.kernel, &p));
    CUfunction before = p.func;
    p.func = actor_function("b");
    MUST(cuGraphKernelNodeSetParams(x.kernel, &p));
    MUST(cuGraphExecUpdate(x.exec, x.g, &info));
    p.func = before;
    MUST(cuGraphKernelNodeSetParams(x.kernel, &p));
}

/* The driver gives the handle of one that is destroyed to the next. */
static void replace(void)
{
    MUST(cuGraphExecDestroy(x.exec));
    MUST(cuGraphInstantiate(&x.exec, x.parts[1], 0));
}

/* ---- inside ---- */

static void (*inside)(void); /* what is to be done there; NULL: it has been */

static size_t CUDA_CB bytes_of_block(int threads)
{
    (void)threads;
    if (inside)
        inside();
    inside = NULL;
    return 0;
}

static void do_inside(void (*what)(void))
{
    int grid, block;
    inside = what;
    MUST(
        cuOccupancyMaxPotentialBlockSize(&grid, &block, actor_function("a"), bytes_of_block, 0, 0));
    if (inside)
        printf("nobody was called back\n");
}

static const struct {
    const char *name;
    void (*change)(void);
} changes[] = {{"kernel", kernel}, {"any kernel", any_kernel}, {"set", set},        {"copy", copy},
               {"call", call},     {"child", child},           {"record", record},  {"wait", await},
               {"off", off},       {"update", update},         {"replace", replace}};

static void play_change(unsigned i)
{
    MUST(cuGraphInstantiate(&x.exec, x.g, 0));
    launch(BEFORE);
    do_inside(changes[i].change);
    launch(AFTER);
    say(changes[i].name);
    MUST(cuGraphExecDestroy(x.exec));
}

/* ---- modules ---- */

static CUmodule module;

static void unload(void)
{
    MUST(cuModuleUnload(module));
}

/* It goes right after two launches of what was made of it, when others may be about to copy that.
 */
static void play_unload(void)
{
    static const char image[64];
    CUfunction f;
    CUgraph g;
    CUgraphExec exec;
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&f, module, "gone"));
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(actor_launch(f, x.s));
    MUST(cuStreamEndCapture(x.s, &g));
    MUST(cuGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 2; i++)
        MUST(cuGraphLaunch(exec, x.s));
    MUST(cuStreamSynchronize(x.s));
    do_inside(unload);
    actor_sleep_ms(PAUSE_MS);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(g));
}

int actor_inside(int argc, char **argv)
{
    (void)argc, (void)argv;
    begin();
    for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        play_change(i);
    for (int i = 0; i < 20; i++)
        play_unload();
    return 0;
}
