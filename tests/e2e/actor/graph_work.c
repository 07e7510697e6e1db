/* SPDX-License-Identifier: MIT */
/*
 * Copies and sets in graphs, of each kind and by each way into a graph, and changed in each way
 * that an executable graph can be changed. Each prints what really ran.
 */
#include "actor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudasim.h"

#define BYTES ((size_t)1 << 16)

static struct {
    CUcontext context;
    CUstream s;
    CUdeviceptr device, other, managed;
    void *pinned;
    char *pageable;
    CUarray array;
    CUdeviceptr far; /* another device's; 0: there is none */
    CUfunction step, another;
} x;

static void say(cudasim_truth_fn *truth, const char *kind, const char *name)
{
    struct cudasim_truth t = {0};
    truth(kind, name, &t);
    printf("ran %s %lu of %lu bytes\n", name, (unsigned long)t.count, (unsigned long)t.bytes);
}

static int finish(void)
{
    static const char *const names[] = {"HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    cudasim_truth_fn *truth = (cudasim_truth_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_truth");
    MUST(cuCtxSynchronize());
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        say(truth, "graphcopy", names[i]);
    say(truth, "graphset", "memset");
    say(truth, "graphkernel", "step");
    say(truth, "graphkernel", "other");
    return 0;
}

static void begin_far(void)
{
    CUdevice device;
    CUcontext far;
    int devices;
    MUST(cuDeviceGetCount(&devices));
    if (devices < 2)
        return;
    MUST(cuDeviceGet(&device, 1));
    MUST(cuDevicePrimaryCtxRetain(&far, device));
    MUST(cuCtxSetCurrent(far));
    MUST(cuMemAlloc(&x.far, BYTES));
    MUST(cuCtxSetCurrent(x.context));
}

static void begin(void)
{
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = BYTES, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    x.context = actor_begin();
    x.s = actor_stream();
    x.step = actor_function("step");
    x.another = actor_function("other");
    MUST(cuMemAlloc(&x.device, BYTES));
    MUST(cuMemAlloc(&x.other, BYTES));
    MUST(cuMemAllocManaged(&x.managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemHostAlloc(&x.pinned, BYTES, 0));
    MUST(cuArrayCreate(&x.array, &d));
    x.pageable = calloc(1, BYTES);
    begin_far();
}

static CUdeviceptr address(const void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

static void launch(CUgraphExec exec, int times)
{
    for (int i = 0; i < times; i++)
        MUST(cuGraphLaunch(exec, x.s));
    MUST(cuStreamSynchronize(x.s));
}

/* ---- nodes ---- */

static CUDA_MEMCPY3D between(CUmemorytype from_type, const void *from, CUmemorytype to_type,
                             const void *to, size_t width, size_t height, size_t depth)
{
    CUDA_MEMCPY3D p;
    memset(&p, 0, sizeof(p));
    p.srcMemoryType = from_type;
    p.dstMemoryType = to_type;
    p.srcHost = from, p.srcDevice = address(from), p.srcArray = x.array;
    p.dstHost = (void *)(uintptr_t)to, p.dstDevice = address(to), p.dstArray = x.array;
    p.WidthInBytes = p.srcPitch = p.dstPitch = width;
    p.Height = p.srcHeight = p.dstHeight = height;
    p.Depth = depth;
    return p;
}

static CUDA_MEMSET_NODE_PARAMS set_of(unsigned element_bytes, size_t width, size_t height)
{
    return (CUDA_MEMSET_NODE_PARAMS){x.device, width * element_bytes, 1, element_bytes, width,
                                     height};
}

static CUgraphNode add_copy(CUgraph g, const CUDA_MEMCPY3D *p)
{
    CUgraphNode node;
    MUST(cuGraphAddMemcpyNode(&node, g, NULL, 0, p, x.context));
    return node;
}

static CUgraphNode add_set(CUgraph g, const CUDA_MEMSET_NODE_PARAMS *p)
{
    CUgraphNode node;
    MUST(cuGraphAddMemsetNode(&node, g, NULL, 0, p, x.context));
    return node;
}

#define UNIFIED CU_MEMORYTYPE_UNIFIED
#define DEVICE CU_MEMORYTYPE_DEVICE
#define HOST CU_MEMORYTYPE_HOST
#define ARRAY CU_MEMORYTYPE_ARRAY

static void *at(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

static void add_kinds(CUgraph g)
{
    const CUDA_MEMCPY3D copies[] = {
        between(HOST, x.pageable, DEVICE, at(x.device), 100, 1, 1),
        between(DEVICE, at(x.device), HOST, x.pinned, 200, 3, 2),
        between(UNIFIED, x.pageable, UNIFIED, at(x.device), 300, 1, 1),
        between(UNIFIED, at(x.device), UNIFIED, x.pinned, 400, 1, 1),
        between(UNIFIED, at(x.managed), UNIFIED, at(x.device), 500, 5, 1),
        between(UNIFIED, x.pinned, UNIFIED, x.pageable, 600, 1, 1),
        between(HOST, x.pageable, ARRAY, NULL, 700, 1, 1),
        between(ARRAY, NULL, UNIFIED, x.pinned, 800, 1, 1),
        between(ARRAY, NULL, UNIFIED, at(x.device), 900, 1, 1),
        between(UNIFIED, at(x.managed), ARRAY, NULL, 1000, 1, 1),
    };
    if (x.far) {
        CUDA_MEMCPY3D p = between(DEVICE, at(x.device), DEVICE, at(x.far), 1100, 1, 1);
        add_copy(g, &p);
    }
    const CUDA_MEMSET_NODE_PARAMS sets[] = {set_of(1, 10, 1), set_of(2, 20, 2), set_of(4, 30, 3)};
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
        add_copy(g, &copies[i]);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        add_set(g, &sets[i]);
}

static void CUDA_CB call(void *data)
{
    (void)data;
}

static void add_what_is_no_work(CUgraph g)
{
    CUgraphNode node;
    CUevent e;
    CUDA_HOST_NODE_PARAMS host = {call, NULL};
    MUST(cuEventCreate(&e, CU_EVENT_DEFAULT));
    MUST(cuGraphAddHostNode(&node, g, NULL, 0, &host));
    MUST(cuGraphAddEventRecordNode(&node, g, NULL, 0, e));
    MUST(cuGraphAddEventWaitNode(&node, g, &node, 1, e));
    MUST(cuGraphAddEmptyNode(&node, g, NULL, 0));
}

static CUgraph captured_kinds(void)
{
    CUgraph g;
    CUDA_MEMCPY2D plane = {.srcMemoryType = HOST,
                           .srcHost = x.pageable,
                           .dstMemoryType = DEVICE,
                           .dstDevice = x.device,
                           .srcPitch = 50,
                           .dstPitch = 50,
                           .WidthInBytes = 50,
                           .Height = 4};
    CUDA_MEMCPY3D box = between(DEVICE, at(x.device), DEVICE, at(x.other), 60, 2, 3);
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(actor_launch(x.step, x.s));
    MUST(cuMemcpyHtoDAsync(x.device, x.pinned, 11, x.s));
    MUST(cuMemcpyDtoHAsync(x.pinned, x.device, 12, x.s));
    MUST(cuMemcpyDtoDAsync(x.other, x.device, 13, x.s));
    MUST(cuMemcpyAsync(x.device, address(x.pinned), 14, x.s));
    MUST(cuMemcpyAsync(x.managed, x.device, 15, x.s));
    MUST(cuMemcpyHtoAAsync(x.array, 0, x.pinned, 16, x.s));
    MUST(cuMemcpyAtoHAsync(x.pinned, x.array, 0, 17, x.s));
    MUST(cuMemcpy2DAsync(&plane, x.s));
    MUST(cuMemcpy3DAsync(&box, x.s));
    MUST(cuMemcpyPeerAsync(x.other, x.context, x.device, x.context, 18, x.s));
    MUST(cuMemsetD8Async(x.device, 1, 19, x.s));
    MUST(cuMemsetD16Async(x.device, 1, 20, x.s));
    MUST(cuMemsetD32Async(x.device, 1, 21, x.s));
    MUST(cuMemsetD2D8Async(x.device, 64, 1, 22, 3, x.s));
    MUST(cuMemsetD2D16Async(x.device, 64, 1, 23, 3, x.s));
    MUST(cuMemsetD2D32Async(x.device, 128, 1, 24, 3, x.s));
    MUST(cuStreamEndCapture(x.s, &g));
    return g;
}

/* Each kind of node by itself, captured, in a child graph, and in one of that */
int actor_graph_kinds(int argc, char **argv)
{
    CUgraph made, outer, outermost, captured;
    CUgraphNode node;
    CUgraphExec exec;
    (void)argc, (void)argv;
    begin();
    captured = captured_kinds();
    MUST(cuGraphCreate(&made, 0));
    add_kinds(made);
    add_what_is_no_work(made);
    MUST(cuGraphCreate(&outer, 0));
    MUST(cuGraphAddChildGraphNode(&node, outer, NULL, 0, made));
    MUST(cuGraphAddChildGraphNode(&node, outer, &node, 1, captured));
    MUST(cuGraphCreate(&outermost, 0));
    MUST(cuGraphAddChildGraphNode(&node, outermost, NULL, 0, outer));
    CUgraph graphs[] = {made, captured, outer, outermost};
    for (int i = 0; i < 4; i++) {
        MUST(cuGraphInstantiate(&exec, graphs[i], 0));
        launch(exec, 2 + i);
    }
    return finish();
}

/* ---- changes ---- */

static CUgraphNodeParams general_copy(const CUDA_MEMCPY3D *copy)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    p.memcpy.copyParams = *copy;
    p.memcpy.copyCtx = x.context;
    return p;
}

static CUgraphNodeParams general_set(const CUDA_MEMSET_NODE_PARAMS *set)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    p.memset = (CUDA_MEMSET_NODE_PARAMS_v2){set->dst,   set->pitch,  set->value, set->elementSize,
                                            set->width, set->height, x.context};
    return p;
}

static void set_params(CUgraphExec exec, CUgraphNode copy, CUgraphNode set)
{
    CUDA_MEMCPY3D up = between(HOST, x.pageable, DEVICE, at(x.device), 500, 1, 1);
    CUDA_MEMCPY3D across = between(DEVICE, at(x.device), UNIFIED, at(x.managed), 40, 1, 1);
    CUDA_MEMSET_NODE_PARAMS wide = set_of(4, 7, 1), tall = set_of(2, 3, 9);
    MUST(cuGraphExecMemcpyNodeSetParams(exec, copy, &up, x.context));
    launch(exec, 2);
    MUST(cuGraphExecMemsetNodeSetParams(exec, set, &wide, x.context));
    launch(exec, 3);
    CUgraphNodeParams p = general_copy(&across), q = general_set(&tall);
    MUST(cuGraphExecNodeSetParams(exec, copy, &p));
    MUST(cuGraphExecNodeSetParams(exec, set, &q));
    launch(exec, 4);
    MUST(cuGraphNodeSetEnabled(exec, copy, 0));
    launch(exec, 5);
    MUST(cuGraphExecMemcpyNodeSetParams(exec, copy, &up, x.context));
    MUST(cuGraphNodeSetEnabled(exec, set, 0));
    launch(exec, 6);
    MUST(cuGraphNodeSetEnabled(exec, copy, 1));
    MUST(cuGraphNodeSetEnabled(exec, set, 1));
    launch(exec, 7);
}

static CUgraph pair(size_t copied, size_t set, CUgraphNode *copy_node, CUgraphNode *set_node)
{
    CUgraph g;
    CUDA_MEMCPY3D down = between(DEVICE, at(x.device), HOST, x.pinned, copied, 1, 1);
    CUDA_MEMSET_NODE_PARAMS bytes = set_of(1, set, 1);
    MUST(cuGraphCreate(&g, 0));
    *copy_node = add_copy(g, &down);
    *set_node = add_set(g, &bytes);
    return g;
}

/* Nodes set in both ways and switched, the whole updated, a child graph replaced */
int actor_graph_changes(int argc, char **argv)
{
    CUgraphNode copy, set, other_copy, other_set, child;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    CUgraph outer;
    (void)argc, (void)argv;
    begin();
    CUgraph g = pair(100, 200, &copy, &set);
    CUgraph other = pair(1000, 2000, &other_copy, &other_set);
    MUST(cuGraphInstantiate(&exec, g, 0));
    launch(exec, 1);
    set_params(exec, copy, set);
    actor_say("update", cuGraphExecUpdate(exec, other, &info));
    launch(exec, 8);
    MUST(cuGraphCreate(&outer, 0));
    MUST(cuGraphAddChildGraphNode(&child, outer, NULL, 0, g));
    MUST(cuGraphInstantiate(&exec, outer, 0));
    launch(exec, 9);
    actor_say("set child", cuGraphExecChildGraphNodeSetParams(exec, child, other));
    launch(exec, 10);
    return finish();
}

/* One node of another size at each launch, more sizes than topologies are kept of */
int actor_graph_sizes(int argc, char **argv)
{
    CUgraphNode copy, set;
    CUgraphExec exec;
    begin();
    CUgraph g = pair(1, 200, &copy, &set);
    MUST(cuGraphInstantiate(&exec, g, 0));
    for (long i = 0; i < actor_number(argc, argv, 1, 300); i++) {
        CUDA_MEMCPY3D down = between(DEVICE, at(x.device), HOST, x.pinned, 1 + (size_t)i, 1, 1);
        MUST(cuGraphExecMemcpyNodeSetParams(exec, copy, &down, x.context));
        MUST(cuGraphLaunch(exec, x.s));
    }
    return finish();
}

/* ---- a solver's loop ---- */

static CUgraph iteration(CUfunction kernel)
{
    CUgraph g;
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(x.device, 0, sizeof(double), x.s));
    MUST(actor_launch(kernel, x.s));
    MUST(cuMemcpyAsync(address(x.pinned), x.device, sizeof(double), x.s));
    MUST(cuStreamEndCapture(x.s, &g));
    return g;
}

/* A set, a kernel and a copy of the error, captured anew for each step and updated */
int actor_graph_loop(int argc, char **argv)
{
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    begin();
    for (long i = 0; i < actor_number(argc, argv, 1, 60); i++) {
        CUgraph g = iteration(i & 1 ? x.step : x.another);
        if (!exec)
            MUST(cuGraphInstantiate(&exec, g, 0));
        else
            MUST(cuGraphExecUpdate(exec, g, &info));
        MUST(cuGraphDestroy(g));
        launch(exec, 1);
    }
    return finish();
}

/* A copy from memory that the graph itself allocates, of which the driver knows nothing yet */
int actor_graph_memory(int argc, char **argv)
{
    CUdeviceptr own;
    CUgraph g;
    CUgraphExec exec;
    (void)argc, (void)argv;
    begin();
    MUST(cuStreamBeginCapture(x.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemAllocAsync(&own, 4096, x.s));
    MUST(cuMemcpyAsync(x.device, own, 4096, x.s));
    MUST(cuMemFreeAsync(own, x.s));
    MUST(cuStreamEndCapture(x.s, &g));
    MUST(cuGraphInstantiate(&exec, g, 0));
    launch(exec, 7);
    return finish();
}
