/* SPDX-License-Identifier: MIT */
/*
 * driver_nodes PTX kinds|updates
 *
 * kinds: a capture in each mode that holds all that can be captured. updates: executable graphs
 * that are given other kernels, as a whole, by nodes, by child graphs, and have nodes switched off.
 */
#include "graph_dump.h"

static struct driver d;
static unsigned elements = ELEMENTS;

static void CUDA_CB count_call(void *calls)
{
    ++*(int *)calls;
}

static void launch(CUgraph graph, CUstream stream, int times)
{
    CUgraphExec exec;

    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; i++)
        CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
}

/* ---- kinds ---- */

/* Memory from the pool where the device has one. */
static void capture_memory(CUstream stream)
{
    CUdeviceptr p;
    int pools = 0;

    CHECK(cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, d.device));
    if (!pools)
        return;
    CHECK(cuMemAllocAsync(&p, BYTES, stream));
    CHECK(cuMemsetD32Async(p, 3, ELEMENTS, stream));
    driver_launch(d.add_one, p, stream);
    CHECK(cuMemcpyDtoDAsync(d.data, p, BYTES / 2, stream));
    CHECK(cuMemFreeAsync(p, stream));
}

static CUgraph all_kinds(CUstream stream, CUstream side, CUevent *event, int *calls,
                         CUstreamCaptureMode mode)
{
    CUgraph graph;

    CHECK(cuStreamBeginCapture(stream, mode));
    driver_launch(d.add_one, d.data, stream);
    CHECK(cuEventRecord(event[0], stream));
    CHECK(cuStreamWaitEvent(side, event[0], 0));
    CHECK(cuLaunchHostFunc(side, count_call, calls));
    CHECK(cuMemsetD8Async(d.other, 1, 100, side));
    CHECK(cuEventRecordWithFlags(event[2], stream, CU_EVENT_RECORD_EXTERNAL));
    capture_memory(stream);
    CHECK(cuMemcpyHtoDAsync(d.other + 4096, d.host, 4096, side));
    CHECK(cuEventRecord(event[1], side));
    CHECK(cuStreamWaitEvent(stream, event[1], 0));
    driver_launch(d.scale, d.data, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void kinds(CUstream stream, CUstream side)
{
    int calls = 0;
    CUevent event[3];

    for (int i = 0; i < 3; i++)
        CHECK(cuEventCreate(&event[i], i < 2 ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
    for (int mode = 0; mode < 3; mode++) {
        CUgraph graph = all_kinds(stream, side, event, &calls, (CUstreamCaptureMode)mode);

        graph_print("all kinds", graph);
        launch(graph, stream, 3 + mode);
        CHECK(cuGraphDestroy(graph));
        driver_print(&d, "all kinds");
    }
    printf("%d host calls\n", calls);
}

/* ---- updates ---- */

static CUgraph captured(CUstream stream, const char *kernels)
{
    CUgraph graph;

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (; *kernels; kernels++)
        driver_launch(*kernels == '+' ? d.add_one : d.scale, d.data, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    graph_print("captured", graph);
    return graph;
}

static CUgraphNode node_of(CUgraph graph, size_t i)
{
    CUgraphNode nodes[16];
    size_t count = 16;

    CHECK(cuGraphGetNodes(graph, nodes, &count));
    return nodes[i];
}

static void set_kernel(CUgraphExec exec, CUgraphNode node, CUfunction function)
{
    void *arguments[] = {&d.data, &elements};
    CUDA_KERNEL_NODE_PARAMS p;

    memset(&p, 0, sizeof(p));
    p.func = function;
    p.gridDimX = ELEMENTS / THREADS;
    p.blockDimX = THREADS;
    p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = arguments;
    CHECK(cuGraphExecKernelNodeSetParams(exec, node, &p));
}

static void run(CUgraphExec exec, CUstream stream, int times, const char *what)
{
    for (int i = 0; i < times; i++)
        CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    driver_print(&d, what);
}

/* An update that does not fit fails, and leaves the graph as it was. */
static void update(CUgraphExec exec, CUgraph graph)
{
    CUgraphExecUpdateResultInfo info;

    memset(&info, 0, sizeof(info));
    printf("update %d", (int)cuGraphExecUpdate(exec, graph, &info));
    printf(" result %d\n", (int)info.result);
}

static void update_child(CUstream stream)
{
    CUgraph graph, inner = captured(stream, "+*"), other = captured(stream, "**");
    CUgraphNode child;
    CUgraphExec exec;

    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    run(exec, stream, 2, "child");
    CHECK(cuGraphExecChildGraphNodeSetParams(exec, child, other));
    run(exec, stream, 3, "another child");
    CHECK(cuGraphExecDestroy(exec));
}

static void updates(CUstream stream)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p;
    CUgraph first = captured(stream, "++*"), second = captured(stream, "+**");
    CUgraph longer = captured(stream, "++**");
    CUgraphExec exec;

    memset(&p, 0, sizeof(p));
    p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    p.hUploadStream = stream;
    CHECK(cuGraphInstantiateWithParams(&exec, first, &p));
    run(exec, stream, 1, "first");
    update(exec, second);
    run(exec, stream, 2, "second");
    update(exec, longer);
    run(exec, stream, 3, "still second");
    update(exec, first);
    set_kernel(exec, node_of(first, 0), d.scale);
    run(exec, stream, 4, "one node");
    CHECK(cuGraphNodeSetEnabled(exec, node_of(first, 1), 0));
    CHECK(cuGraphUpload(exec, stream));
    run(exec, stream, 5, "one off");
    CHECK(cuGraphNodeSetEnabled(exec, node_of(first, 1), 1));
    run(exec, stream, 6, "on again");
    update_child(stream);
}

int main(int argc, char **argv)
{
    CUstream stream, side;

    if (argc != 3)
        return 2;
    driver_open(&d, argv[1]);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&side, CU_STREAM_DEFAULT));
    driver_launch(d.add_one, d.data, stream);
    driver_launch(d.scale, d.data, stream);
    CHECK(cuStreamSynchronize(stream));
    if (!strcmp(argv[2], "kinds"))
        kinds(stream, side);
    else
        updates(stream);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuStreamDestroy(side));
    driver_close(&d);
    return 0;
}
