/* SPDX-License-Identifier: MIT */
/* driver_graph PTX: graphs made by hand, by capture in each mode, updated and nested. */
#include "driver.h"

static CUDA_KERNEL_NODE_PARAMS kernel_node(CUfunction function, void **arguments)
{
    CUDA_KERNEL_NODE_PARAMS node;

    memset(&node, 0, sizeof(node));
    node.func = function;
    node.gridDimX = ELEMENTS / THREADS;
    node.gridDimY = node.gridDimZ = node.blockDimY = node.blockDimZ = 1;
    node.blockDimX = THREADS;
    node.kernelParams = arguments;
    return node;
}

/* set -> add_one x 3 -> scale, a copy at the end. */
static CUgraph by_hand(struct driver *d)
{
    unsigned int elements = ELEMENTS;
    void *arguments[] = {&d->data, &elements};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(d->add_one, arguments);
    CUDA_MEMSET_NODE_PARAMS set = {d->data, 0, 5, 4, ELEMENTS, 1};
    CUDA_MEMCPY3D copy;
    CUgraph graph;
    CUgraphNode last, next;

    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemsetNode(&last, graph, NULL, 0, &set, d->context));
    for (int i = 0; i < 4; i++) {
        kernel.func = i < 3 ? d->add_one : d->scale;
        CHECK(cuGraphAddKernelNode(&next, graph, &last, 1, &kernel));
        last = next;
    }
    memset(&copy, 0, sizeof(copy));
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = d->data;
    copy.dstDevice = d->other;
    copy.WidthInBytes = BYTES;
    copy.Height = copy.Depth = 1;
    CHECK(cuGraphAddMemcpyNode(&next, graph, &last, 1, &copy, d->context));
    return graph;
}

static void launch(CUgraph graph, CUstream stream, int times)
{
    CUgraphExec exec;

    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphUpload(exec, stream));
    for (int i = 0; i < times; i++)
        CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
}

static CUgraph captured(struct driver *d, CUstream stream, CUstream side, CUstreamCaptureMode mode)
{
    CUevent fork, join;
    CUgraph graph;

    CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CHECK(cuStreamBeginCapture(stream, mode));
    driver_launch(d->add_one, d->data, stream);
    CHECK(cuEventRecord(fork, stream));
    CHECK(cuStreamWaitEvent(side, fork, 0));
    driver_launch(d->scale, d->other, side);
    CHECK(cuMemsetD8Async(d->other, 1, 64, side));
    CHECK(cuEventRecord(join, side));
    driver_launch(d->scale, d->data, stream);
    CHECK(cuMemcpyDtoDAsync(d->data, d->data + 4096, 1024, stream));
    CHECK(cuStreamWaitEvent(stream, join, 0));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuEventDestroy(fork));
    CHECK(cuEventDestroy(join));
    return graph;
}

/* A graph that contains another one. */
static void nested(struct driver *d, CUgraph inner, CUstream stream)
{
    unsigned int elements = ELEMENTS;
    void *arguments[] = {&d->data, &elements};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(d->scale, arguments);
    CUgraph graph;
    CUgraphNode child, node;

    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
    CHECK(cuGraphAddKernelNode(&node, graph, &child, 1, &kernel));
    launch(graph, stream, 3);
    CHECK(cuGraphDestroy(graph));
    driver_print(d, "nested graph");
}

/* Between launches the kernel node becomes another kernel. */
static void updated(struct driver *d, CUstream stream)
{
    unsigned int elements = ELEMENTS;
    void *arguments[] = {&d->data, &elements};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(d->add_one, arguments);
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;

    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        CHECK(cuGraphLaunch(exec, stream));
    kernel.func = d->scale;
    CHECK(cuGraphExecKernelNodeSetParams(exec, node, &kernel));
    for (int i = 0; i < 4; i++)
        CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    driver_print(d, "updated graph");
}

static void captures(struct driver *d, CUstream stream, CUstream side)
{
    static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                                CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                CU_STREAM_CAPTURE_MODE_RELAXED};

    for (int i = 0; i < 3; i++) {
        CUgraph graph = captured(d, stream, side, modes[i]);

        launch(graph, stream, 5 + i);
        CHECK(cuGraphDestroy(graph));
        driver_print(d, "captured graph");
    }
}

int main(int argc, char **argv)
{
    struct driver d;
    CUstream stream, side;
    CUgraph graph;
    int updates = argc == 3 && !strcmp(argv[2], "updated");

    if (argc < 2)
        return 2;
    driver_open(&d, argv[1]);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    if (updates) {
        updated(&d, stream);
    } else {
        graph = by_hand(&d);
        launch(graph, stream, 10);
        driver_print(&d, "graph by hand");
        nested(&d, graph, stream);
        CHECK(cuGraphDestroy(graph));
        captures(&d, stream, side);
    }
    CHECK(cuStreamDestroy(stream));
    CHECK(cuStreamDestroy(side));
    driver_close(&d);
    return 0;
}
