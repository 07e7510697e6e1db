/* SPDX-License-Identifier: MIT */
/*
 * The part that leads cutrace through every call that it makes on its own account, and the server
 * that plays it again and again, each time with another fault in the simulated driver.
 */
#include "actor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "system/elf.h"

#define BYTES 4096

enum kind { KERNEL, COPY, SET, GRAPH, KINDS };

static struct {
    CUcontext context;
    CUmodule module;
    CUfunction f, gated;
    CUkernel kernel;
    CUstream s;
    CUdeviceptr p;
    unsigned long ran[KINDS]; /* calls that succeeded */
    char host[BYTES];
} t;

/* The result of a call, and that errno is as it was. */
static CUresult tell(const char *call, CUresult r)
{
    printf("%.70s = %d, errno %d\n", call, (int)r, errno);
    errno = 77;
    return r;
}
#define TELL(call) tell(#call, call)
#define RUN(kind, call) (t.ran[kind] += TELL(call) == CUDA_SUCCESS)

/* What a call of somebody else's could have left behind in this thread. */
static void tell_thread(const char *where)
{
    CUcontext c = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    cuCtxGetCurrent(&c);
    cuThreadExchangeStreamCaptureMode(&mode);
    printf("%s: context %s, mode %d\n", where,
           !c               ? "none"
           : c == t.context ? "the first"
                            : "another",
           (int)mode);
    cuThreadExchangeStreamCaptureMode(&mode);
}

static void launch(CUfunction f, CUstream s, int n)
{
    for (int i = 0; i < n; i++)
        RUN(KERNEL, actor_launch(f, s));
}

/* ---- a stream that cutrace has not seen being made ---- */

static bool find_driver(const struct ct_object *o, void *out)
{
    if (!o->name || !ct_contains(o->name, "libcuda.so.1"))
        return false;
    *(struct ct_object *)out = *o;
    return true;
}

static CUstream unseen_stream(void)
{
    struct ct_object o;
    CUstream s = NULL;
    __typeof__(cuStreamCreate) *create = NULL;
    if (ct_objects_visit(find_driver, &o))
        create = (__typeof__(create))(uintptr_t)ct_object_symbol(&o, "cuStreamCreate");
    tell("unseen stream", create ? create(&s, CU_STREAM_NON_BLOCKING) : CUDA_ERROR_NOT_FOUND);
    return s;
}

/* ---- the sights ---- */

static void begin(void)
{
    CUlibrary library = NULL;
    TELL(cuInit(0));
    TELL(cuDevicePrimaryCtxRetain(&t.context, 0));
    TELL(cuCtxSetCurrent(t.context));
    TELL(cuModuleLoadData(&t.module, "image"));
    TELL(cuModuleGetFunction(&t.f, t.module, "kernel"));
    TELL(cuModuleGetFunction(&t.gated, t.module, "gate"));
    TELL(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    TELL(cuLibraryGetKernel(&t.kernel, library, "of_library"));
    TELL(cuStreamCreate(&t.s, CU_STREAM_NON_BLOCKING));
    TELL(cuMemAlloc(&t.p, BYTES));
    tell_thread("begin");
}

static void streams(void)
{
    CUstream unseen = unseen_stream();
    launch(t.f, t.s, 30);
    launch(t.f, NULL, 5);
    launch(t.f, CU_STREAM_PER_THREAD, 5);
    launch((CUfunction)t.kernel, t.s, 5);
    launch(t.f, unseen, 5);
    TELL(cuCtxSynchronize());
    TELL(cuStreamDestroy(unseen));
    tell_thread("streams");
}

static void copy_to_array(void)
{
    CUarray a = NULL;
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 16, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_MEMCPY3D_BATCH_OP o = {.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                                .dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY,
                                .extent = {16, 1, 1},
                                .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    TELL(cuArrayCreate(&a, &d));
    o.src.op.ptr.ptr = t.p;
    o.dst.op.array.array = a;
    RUN(COPY, cuMemcpy3DBatchAsync(1, &o, 0, t.s));
    TELL(cuArrayDestroy(a));
}

static void copies(void)
{
    memset(t.host, 5, BYTES);
    for (int i = 0; i < 5; i++) {
        RUN(COPY, cuMemcpyHtoDAsync(t.p, t.host, BYTES, t.s));
        RUN(SET, cuMemsetD8Async(t.p, 7, BYTES / 2, t.s));
        TELL(cuStreamSynchronize(t.s));
        RUN(COPY, cuMemcpy((CUdeviceptr)(uintptr_t)t.host, t.p, BYTES));
    }
    copy_to_array();
    printf("bytes %d %d\n", t.host[0], t.host[BYTES - 1]);
}

/* More behind a gate than cutrace gives records to; then waits, behind which a stream is idle. */
static void queues(void)
{
    static atomic_int gate;
    CUevent e = NULL;
    TELL(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    RUN(KERNEL, actor_launch_with(t.gated, t.s, (uint64_t)(uintptr_t)&gate));
    launch(t.f, t.s, 80);
    TELL(cuStreamQuery(t.s));
    atomic_store(&gate, 1);
    TELL(cuStreamSynchronize(t.s));
    for (int i = 0; i < 10; i++) {
        TELL(cuEventRecord(e, t.s));
        TELL(cuStreamWaitEvent(t.s, e, 0));
        launch(t.f, t.s, 2);
        TELL(cuStreamSynchronize(t.s));
        TELL(cuEventQuery(e));
    }
    TELL(cuEventDestroy(e));
    tell_thread("queues");
}

/* ---- captures ---- */

static size_t nodes_of(CUgraph g)
{
    size_t n = 0;
    return g && cuGraphGetNodes(g, NULL, &n) == CUDA_SUCCESS ? n : 0;
}

struct capture {
    pthread_t thread;
    pthread_barrier_t barrier;
    CUresult begin, launched, end;
    size_t nodes;
};

/* In the mode in which any thread's thoughtless call would invalidate it. */
static void *capture_beside(void *arg)
{
    struct capture *c = arg;
    CUgraph g = NULL;
    CUstream s = NULL;
    cuCtxSetCurrent(t.context);
    cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    c->begin = cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    c->launched = actor_launch(t.f, s);
    pthread_barrier_wait(&c->barrier);
    pthread_barrier_wait(&c->barrier);
    c->end = cuStreamEndCapture(s, &g);
    c->nodes = nodes_of(g);
    return NULL;
}

static void captures_beside(void)
{
    struct capture c = {0};
    pthread_barrier_init(&c.barrier, NULL, 2);
    pthread_create(&c.thread, NULL, capture_beside, &c);
    pthread_barrier_wait(&c.barrier);
    launch(t.f, t.s, 60);
    launch((CUfunction)t.kernel, NULL, 2);
    pthread_barrier_wait(&c.barrier);
    pthread_join(c.thread, NULL);
    t.ran[KERNEL] += c.launched == CUDA_SUCCESS;
    printf("beside: %d %d %d, %zu nodes\n", (int)c.begin, (int)c.launched, (int)c.end, c.nodes);
    TELL(cuCtxSynchronize());
}

static CUgraph capture(int launches)
{
    CUgraph g = NULL;
    TELL(cuStreamBeginCapture(t.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(t.f, t.s, launches);
    RUN(SET, cuMemsetD8Async(t.p, 7, 8, t.s));
    RUN(COPY, cuMemcpyDtoDAsync(t.p + 8, t.p, 8, t.s));
    TELL(cuStreamEndCapture(t.s, &g));
    printf("captured: %zu nodes\n", nodes_of(g));
    return g;
}

static CUgraphNode first_node(CUgraph g)
{
    CUgraphNode node = NULL;
    size_t one = 1;
    TELL(cuGraphGetNodes(g, &node, &one));
    return node;
}

static void set_node(CUgraphExec exec, CUgraph g)
{
    CUgraphNode node = first_node(g);
    CUDA_KERNEL_NODE_PARAMS p = {0};
    TELL(cuGraphKernelNodeGetParams(node, &p));
    TELL(cuModuleGetFunction(&p.func, t.module, "other"));
    TELL(cuGraphExecKernelNodeSetParams(exec, node, &p));
}

/* Long enough for cutrace to make its own of a graph, be done with a launch of it, or end it. */
#define LOOK_MS 60

/* Behind a gate it runs in one stream, and is launched in another, which waits for that. */
static void launch_in_two(CUgraphExec exec)
{
    static atomic_int gate;
    RUN(KERNEL, actor_launch_with(t.gated, t.s, (uint64_t)(uintptr_t)&gate));
    RUN(GRAPH, cuGraphLaunch(exec, t.s));
    RUN(GRAPH, cuGraphLaunch(exec, CU_STREAM_PER_THREAD));
    atomic_store(&gate, 1);
    TELL(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* The first ones cutrace copies when they are instantiated, those behind later. */
#define AT_ONCE 16

/* A graph that allocates what it copies from. */
static void memory_of_a_graph(void)
{
    CUgraph g = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr own = 0;
    TELL(cuStreamBeginCapture(t.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TELL(cuMemAllocAsync(&own, 64, t.s));
    RUN(COPY, cuMemcpyAsync(t.p, own, 8, t.s));
    TELL(cuMemFreeAsync(own, t.s));
    TELL(cuStreamEndCapture(t.s, &g));
    TELL(cuGraphInstantiate(&exec, g, 0));
    RUN(GRAPH, cuGraphLaunch(exec, t.s));
    TELL(cuStreamSynchronize(t.s));
    TELL(cuGraphExecDestroy(exec));
    TELL(cuGraphDestroy(g));
}

static void graphs(void)
{
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUgraphNode child;
    CUgraph inner = capture(3), g = capture(4);
    TELL(cuGraphAddChildGraphNode(&child, g, NULL, 0, inner));
    for (int i = 0; i < AT_ONCE; i++) {
        TELL(cuGraphInstantiate(&exec, g, 0));
        TELL(cuGraphExecDestroy(exec));
    }
    TELL(cuGraphInstantiate(&exec, g, 0));
    set_node(exec, g);
    for (int i = 0; i < 3; i++)
        RUN(GRAPH, cuGraphLaunch(exec, t.s));
    actor_sleep_ms(LOOK_MS);
    RUN(GRAPH, cuGraphLaunch(exec, t.s));
    actor_sleep_ms(LOOK_MS);
    launch_in_two(exec);
    actor_sleep_ms(LOOK_MS);
    set_node(exec, g);
    RUN(GRAPH, cuGraphLaunch(exec, t.s));
    TELL(cuGraphExecUpdate(exec, g, &info));
    actor_sleep_ms(LOOK_MS);
    for (int i = 0; i < 3; i++)
        RUN(GRAPH, cuGraphLaunch(exec, t.s));
    actor_sleep_ms(LOOK_MS);
    TELL(cuGraphNodeSetEnabled(exec, first_node(g), 0));
    RUN(GRAPH, cuGraphLaunch(exec, t.s));
    TELL(cuStreamSynchronize(t.s));
    TELL(cuGraphExecDestroy(exec));
    actor_sleep_ms(LOOK_MS);
    TELL(cuGraphDestroy(g));
    memory_of_a_graph();
    tell_thread("graphs");
}

/* ---- contexts ---- */

static void second_context(void)
{
    CUcontext c = NULL, popped;
    CUmodule m = NULL;
    CUfunction f = NULL;
    CUstream s = NULL;
    TELL(cuCtxCreate(&c, NULL, 0, 0));
    TELL(cuModuleLoadData(&m, "image"));
    TELL(cuModuleGetFunction(&f, m, "elsewhere"));
    TELL(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    launch(f, s, 10);
    launch(f, NULL, 2);
    TELL(cuCtxPopCurrent(&popped));
    launch(f, s, 10);
    tell_thread("beside the second context");
    TELL(cuModuleUnload(m));
    TELL(cuCtxDestroy(c));
    tell_thread("after the second context");
}

static void green_context(void)
{
    CUdevResource all = {0}, part = {0};
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    CUstream s = NULL;
    unsigned groups = 1;
    TELL(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    TELL(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 16));
    TELL(cuDevResourceGenerateDesc(&description, &part, 1));
    TELL(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    TELL(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
    launch(t.f, s, 5);
    TELL(cuStreamSynchronize(s));
    TELL(cuStreamDestroy(s));
    TELL(cuGreenCtxDestroy(green));
}

static void tell_primary(void)
{
    unsigned flags;
    int active = 0;
    TELL(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("active: %d\n", active);
}

/* Released, released for the last time, made again, and reset. */
static void primary_context(void)
{
    CUcontext again = NULL;
    TELL(cuDevicePrimaryCtxRetain(&again, 0));
    TELL(cuDevicePrimaryCtxRelease(0));
    tell_primary();
    launch(t.f, t.s, 10);
    tell_thread("retained twice, released once");
    TELL(cuDevicePrimaryCtxRelease(0));
    tell_primary();
    TELL(cuDevicePrimaryCtxRetain(&again, 0));
    TELL(cuCtxSetCurrent(again));
    TELL(cuModuleLoadData(&t.module, "image"));
    TELL(cuModuleGetFunction(&t.f, t.module, "released"));
    launch(t.f, NULL, 10);
    TELL(cuDevicePrimaryCtxReset(0));
    TELL(cuDevicePrimaryCtxRetain(&again, 0));
    TELL(cuCtxSetCurrent(again));
    TELL(cuModuleLoadData(&t.module, "image"));
    TELL(cuModuleGetFunction(&t.f, t.module, "again"));
    launch(t.f, NULL, 10);
    TELL(cuCtxSynchronize());
    tell_thread("after the reset");
}

int actor_tour(int argc, char **argv)
{
    static const char *const names[KINDS] = {"kernel", "copy", "set", "graph"};
    (void)argc;
    (void)argv;
    errno = 77;
    begin();
    streams();
    copies();
    queues();
    captures_beside();
    graphs();
    second_context();
    green_context();
    primary_context();
    for (int i = 0; i < KINDS; i++)
        printf("ran %s %lu\n", names[i], t.ran[i]);
    printf("breaches %lu\n", (unsigned long)actor_sim("cudasim_breaches"));
    return 7;
}
