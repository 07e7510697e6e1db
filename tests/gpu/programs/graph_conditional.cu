// SPDX-License-Identifier: MIT
//
// Conditional nodes: a branch and a loop whose bodies are captured, the condition set by kernels.
#include "graph_dump.h"
#include "runtime.h"

__global__ void set_condition(cudaGraphConditionalHandle handle, const int *value)
{
    cudaGraphSetConditional(handle, *value != 0);
}

__global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0);
}

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

static cudaGraph_t add_condition(cudaGraph_t graph, cudaGraphNode_t *after,
                                 cudaGraphConditionalNodeType type,
                                 cudaGraphConditionalHandle handle)
{
    cudaGraphNodeParams p = {};
    cudaGraphNode_t node;

    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = 1;
#if CUDART_VERSION >= 13000
    RT(cudaGraphAddNode(&node, graph, after, NULL, 1, &p));
#else
    RT(cudaGraphAddNode(&node, graph, after, 1, &p));
#endif
    *after = node;
    return p.conditional.phGraph_out[0];
}

// Captures into the graph behind `after`, and says what became of it.
template <typename F>
static void capture(const char *what, cudaStream_t stream, cudaGraph_t graph,
                    cudaGraphNode_t *after, cudaStreamCaptureMode mode, F launch)
{
    cudaGraph_t out;

    RT(cudaStreamBeginCaptureToGraph(stream, graph, after && *after ? after : NULL, NULL,
                                     after && *after ? 1 : 0, mode));
    launch();
    RT(cudaStreamEndCapture(stream, &out));
    graph_print(what, (CUgraph)out);
}

static cudaGraphNode_t last_node(cudaGraph_t graph)
{
    cudaGraphNode_t nodes[16];
    size_t count = 16;

    RT(cudaGraphGetNodes(graph, nodes, &count));
    return count ? nodes[count - 1] : NULL;
}

int main()
{
    int version, *data, *control, host[32];
    cudaStream_t s;
    cudaGraph_t graph, body;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle branch, loop;

    RT(cudaDriverGetVersion(&version));
    if (version < 12040)
        return 77;
    RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    RT(cudaMalloc(&data, sizeof(host)));
    RT(cudaMalloc(&control, 2 * sizeof(int)));
    RT(cudaMemset(data, 0, sizeof(host)));
    add<<<1, 32, 0, s>>>(data, 0);
    RT(cudaStreamSynchronize(s));

    RT(cudaGraphCreate(&graph, 0));
    RT(cudaGraphConditionalHandleCreate(&branch, graph, 0, 0));
    RT(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t after = NULL;
    capture("head", s, graph, &after, cudaStreamCaptureModeGlobal,
            [&] { set_condition<<<1, 1, 0, s>>>(branch, control); });
    after = last_node(graph);
    body = add_condition(graph, &after, cudaGraphCondTypeIf, branch);
    capture("branch", s, body, NULL, cudaStreamCaptureModeThreadLocal,
            [&] { add<<<1, 32, 0, s>>>(data, 1000); });
    body = add_condition(graph, &after, cudaGraphCondTypeWhile, loop);
    capture("loop", s, body, NULL, cudaStreamCaptureModeRelaxed, [&] {
        add<<<1, 32, 0, s>>>(data, 1);
        count_down<<<1, 1, 0, s>>>(loop, control + 1);
    });
    graph_print("whole", (CUgraph)graph);
    RT(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 20; i++) {
        int values[2] = {i % 2, 1 + i % 5};
        RT(cudaMemcpyAsync(control, values, sizeof(values), cudaMemcpyHostToDevice, s));
        RT(cudaGraphLaunch(exec, s));
        RT(cudaStreamSynchronize(s));
    }
    RT(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    printf("conditional: %d, %08x\n", host[0], driver_sum(host, sizeof(host)));
    return host[0] == 10 * 1000 + 4 * (1 + 2 + 3 + 4 + 5) ? 0 : 1;
}
