// SPDX-License-Identifier: MIT
//
// graph_work captured|made|updated|kinds|changes|memory
//
// Graphs that copy and set. A solver relaxes a line of points: each step sets the error to zero,
// runs a kernel and copies the error to the host. captured: one graph, whose kernel is given the
// points the other way round for each step. made: the same of nodes. updated: captured anew for
// each step, the executable graph updated. kinds: copies and sets of all forms, captured and as
// nodes, in a child graph of a child graph. changes: nodes given other parameters and switched.
// memory: nodes that allocate and free what others set and copy.
#include <string.h>

#include "runtime.h"

#define POINTS 4096
#define BYTES (POINTS * sizeof(float))
#define STEPS 40

__device__ float symbol[POINTS];

__global__ void relax(const float *from, float *to, float *error)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0 || i >= POINTS - 1)
        return;
    to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    if (i == POINTS / 2)
        *error = fabsf(to[i] - from[i]);
}

__global__ void add_one(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static struct {
    cudaStream_t stream;
    float *line[2], *error, *managed;
    float *pinned, *pageable;
    cudaArray_t array;
} x;

static void begin()
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    RT(cudaStreamCreateWithFlags(&x.stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++) {
        RT(cudaMalloc(&x.line[i], BYTES));
        RT(cudaMemset(x.line[i], 0, BYTES));
    }
    RT(cudaMalloc(&x.error, sizeof(float)));
    RT(cudaMallocManaged(&x.managed, BYTES));
    RT(cudaMallocHost(&x.pinned, BYTES));
    RT(cudaMallocArray(&x.array, &format, 64, 64));
    x.pageable = (float *)calloc(1, BYTES);
    x.pinned[0] = 1;
    RT(cudaMemcpy(x.line[0], x.pinned, sizeof(float), cudaMemcpyHostToDevice));
    RT(cudaMemcpy(x.line[1], x.pinned, sizeof(float), cudaMemcpyHostToDevice));
    relax<<<POINTS / 128, 128, 0, x.stream>>>(x.line[0], x.line[1], x.error);
    add_one<<<1, 1, 0, x.stream>>>(x.error);
    RT(cudaStreamSynchronize(x.stream));
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    RT(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void run(cudaGraphExec_t exec, int times)
{
    for (int i = 0; i < times; i++)
        RT(cudaGraphLaunch(exec, x.stream));
    RT(cudaStreamSynchronize(x.stream));
}

static void say(const char *what)
{
    static float line[POINTS];
    double sum = 0;
    RT(cudaMemcpy(line, x.line[0], BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < POINTS; i++)
        sum += line[i];
    printf("%s: %.6f, error %.3g\n", what, sum, *x.pinned);
}

/* ---- the solver ---- */

static cudaGraph_t capture_step(int step)
{
    cudaGraph_t graph;
    RT(cudaStreamBeginCapture(x.stream, cudaStreamCaptureModeThreadLocal));
    RT(cudaMemsetAsync(x.error, 0, sizeof(float), x.stream));
    relax<<<POINTS / 128, 128, 0, x.stream>>>(x.line[step & 1], x.line[~step & 1], x.error);
    RT(cudaMemcpyAsync(x.pinned, x.error, sizeof(float), cudaMemcpyDeviceToHost, x.stream));
    RT(cudaStreamEndCapture(x.stream, &graph));
    return graph;
}

static cudaKernelNodeParams relaxing(void **arguments)
{
    cudaKernelNodeParams p = {};
    p.func = (void *)relax;
    p.gridDim = dim3(POINTS / 128);
    p.blockDim = dim3(128);
    p.kernelParams = arguments;
    return p;
}

static cudaMemsetParams setting(void *to, unsigned element_bytes, size_t width, size_t height)
{
    cudaMemsetParams p = {};
    p.dst = to;
    p.elementSize = element_bytes;
    p.width = width;
    p.height = height;
    p.pitch = width * element_bytes;
    return p;
}

static cudaGraph_t made_step(cudaGraphNode_t *kernel)
{
    cudaGraph_t graph;
    cudaGraphNode_t set, copy;
    void *arguments[] = {&x.line[0], &x.line[1], &x.error};
    cudaKernelNodeParams p = relaxing(arguments);
    cudaMemsetParams zero = setting(x.error, sizeof(float), 1, 1);
    RT(cudaGraphCreate(&graph, 0));
    RT(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &zero));
    RT(cudaGraphAddKernelNode(kernel, graph, &set, 1, &p));
    RT(cudaGraphAddMemcpyNode1D(&copy, graph, kernel, 1, x.pinned, x.error, sizeof(float),
                                cudaMemcpyDeviceToHost));
    return graph;
}

static cudaGraphNode_t kernel_of(cudaGraph_t graph)
{
    cudaGraphNode_t nodes[8];
    size_t count = 8;
    cudaGraphNodeType type;
    RT(cudaGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        RT(cudaGraphNodeGetType(nodes[i], &type));
        if (type == cudaGraphNodeTypeKernel)
            return nodes[i];
    }
    exit(1);
}

static void solve(cudaGraph_t graph, cudaGraphNode_t kernel)
{
    cudaGraphExec_t exec = instantiate(graph);
    for (int step = 0; step < STEPS; step++) {
        void *arguments[] = {&x.line[step & 1], &x.line[~step & 1], &x.error};
        cudaKernelNodeParams p = relaxing(arguments);
        RT(cudaGraphExecKernelNodeSetParams(exec, kernel, &p));
        run(exec, 1);
    }
}

static void solve_by_updates()
{
    cudaGraphExec_t exec = NULL;
    for (int step = 0; step < STEPS; step++) {
        cudaGraph_t graph = capture_step(step);
        if (!exec) {
            exec = instantiate(graph);
        } else {
#if CUDART_VERSION >= 12000
            cudaGraphExecUpdateResultInfo info;
            RT(cudaGraphExecUpdate(exec, graph, &info));
#else
            cudaGraphNode_t bad;
            cudaGraphExecUpdateResult info;
            RT(cudaGraphExecUpdate(exec, graph, &bad, &info));
#endif
        }
        RT(cudaGraphDestroy(graph));
        run(exec, 1);
    }
}

/* ---- kinds ---- */

static cudaGraph_t capture_kinds()
{
    cudaGraph_t graph;
    cudaStream_t s = x.stream;
    RT(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    RT(cudaMemcpyAsync(x.line[0], x.pinned, 1100, cudaMemcpyHostToDevice, s));
    RT(cudaMemcpyAsync(x.line[0], x.pageable, 1200, cudaMemcpyHostToDevice, s));
    RT(cudaMemcpyAsync(x.pinned, x.line[0], 1300, cudaMemcpyDeviceToHost, s));
    RT(cudaMemcpyAsync(x.line[1], x.line[0], 1400, cudaMemcpyDeviceToDevice, s));
    RT(cudaMemcpyAsync(x.line[1], x.pinned, 1500, cudaMemcpyDefault, s));
    RT(cudaMemcpyAsync(x.managed, x.line[0], 1600, cudaMemcpyDefault, s));
    RT(cudaMemcpyAsync(x.pinned, x.pinned + POINTS / 2, 1700, cudaMemcpyHostToHost, s));
    RT(cudaMemcpy2DAsync(x.line[0], 256, x.pinned, 256, 200, 9, cudaMemcpyHostToDevice, s));
    RT(cudaMemcpy2DToArrayAsync(x.array, 0, 0, x.pinned, 256, 256, 10, cudaMemcpyHostToDevice, s));
    RT(cudaMemcpy2DFromArrayAsync(x.line[0], 256, x.array, 0, 0, 256, 11, cudaMemcpyDeviceToDevice,
                                  s));
    RT(cudaMemcpy2DFromArrayAsync(x.pinned, 256, x.array, 0, 0, 256, 12, cudaMemcpyDeviceToHost,
                                  s));
    RT(cudaMemcpyToSymbolAsync(symbol, x.line[0], 1800, 0, cudaMemcpyDeviceToDevice, s));
    RT(cudaMemsetAsync(x.line[0], 1, 1900, s));
    RT(cudaMemset2DAsync(x.line[1], 256, 2, 200, 8, s));
    add_one<<<1, 32, 0, s>>>(x.line[0]);
    RT(cudaStreamEndCapture(s, &graph));
    return graph;
}

static cudaGraph_t made_kinds()
{
    cudaGraph_t graph;
    cudaGraphNode_t last;
    cudaMemcpy3DParms box = {};
    const cudaMemsetParams sets[] = {setting(x.line[0], 1, 100, 1), setting(x.line[0], 2, 50, 3),
                                     setting(x.line[0], 4, 25, 5)};
    box.srcPtr = make_cudaPitchedPtr(x.pinned, 64 * sizeof(float), 64, 16);
    box.dstPtr = make_cudaPitchedPtr(x.line[1], 64 * sizeof(float), 64, 16);
    box.extent = make_cudaExtent(60 * sizeof(float), 4, 2);
    box.kind = cudaMemcpyDefault;
    RT(cudaGraphCreate(&graph, 0));
    RT(cudaGraphAddMemcpyNode(&last, graph, NULL, 0, &box));
    RT(cudaGraphAddMemcpyNode1D(&last, graph, &last, 1, x.line[0], x.line[1], 2100,
                                cudaMemcpyDefault));
    RT(cudaGraphAddMemcpyNode1D(&last, graph, &last, 1, x.pinned, x.managed, 2200,
                                cudaMemcpyDefault));
    RT(cudaGraphAddMemcpyNodeFromSymbol(&last, graph, &last, 1, x.pinned, symbol, 2300, 0,
                                        cudaMemcpyDeviceToHost));
    for (const cudaMemsetParams &p : sets)
        RT(cudaGraphAddMemsetNode(&last, graph, &last, 1, &p));
    return graph;
}

static void run_kinds()
{
    cudaGraph_t outer, outermost, captured = capture_kinds(), made = made_kinds();
    cudaGraphNode_t child;
    RT(cudaGraphCreate(&outer, 0));
    RT(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, made));
    RT(cudaGraphAddChildGraphNode(&child, outer, &child, 1, captured));
    RT(cudaGraphCreate(&outermost, 0));
    RT(cudaGraphAddChildGraphNode(&child, outermost, NULL, 0, outer));
    run(instantiate(captured), 3);
    run(instantiate(made), 4);
    run(instantiate(outer), 5);
    run(instantiate(outermost), 6);
}

/* ---- changes ---- */

static void run_changes()
{
    cudaGraph_t graph;
    cudaGraphNode_t copy, set;
    const cudaMemsetParams first = setting(x.line[1], 4, 100, 1);
    const cudaMemsetParams then = setting(x.line[1], 4, 60, 1);
    RT(cudaGraphCreate(&graph, 0));
    RT(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, x.line[0], x.pinned, 4000,
                                cudaMemcpyHostToDevice));
    RT(cudaGraphAddMemsetNode(&set, graph, &copy, 1, &first));
    cudaGraphExec_t exec = instantiate(graph);
    run(exec, 1);
    RT(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, x.line[0], x.pinned, 3000,
                                          cudaMemcpyHostToDevice));
    run(exec, 2);
    RT(cudaGraphExecMemsetNodeSetParams(exec, set, &then));
    run(exec, 3);
    RT(cudaGraphNodeSetEnabled(exec, copy, 0));
    run(exec, 4);
    RT(cudaGraphNodeSetEnabled(exec, set, 0));
    RT(cudaGraphNodeSetEnabled(exec, copy, 1));
    run(exec, 5);
}

/* ---- memory of the graph's own ---- */

static void run_memory()
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = BYTES;
    RT(cudaGraphCreate(&graph, 0));
    RT(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    const cudaMemsetParams zero = setting(p.dptr, 4, POINTS, 1);
    RT(cudaGraphAddMemsetNode(&node, graph, &node, 1, &zero));
    RT(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, x.line[0], p.dptr, BYTES / 2,
                                cudaMemcpyDefault));
    RT(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, x.pinned, p.dptr, BYTES / 4,
                                cudaMemcpyDeviceToHost));
    RT(cudaGraphAddMemFreeNode(&node, graph, &node, 1, p.dptr));
    run(instantiate(graph), 7);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    cudaGraphNode_t kernel;
    begin();
    if (!strcmp(what, "captured")) {
        cudaGraph_t graph = capture_step(0);
        solve(graph, kernel_of(graph));
    } else if (!strcmp(what, "made")) {
        cudaGraph_t graph = made_step(&kernel);
        solve(graph, kernel);
    } else if (!strcmp(what, "updated")) {
        solve_by_updates();
    } else if (!strcmp(what, "kinds")) {
        run_kinds();
    } else if (!strcmp(what, "changes")) {
        run_changes();
    } else if (!strcmp(what, "memory")) {
        run_memory();
    } else {
        return 2;
    }
    say(what);
    return 0;
}
