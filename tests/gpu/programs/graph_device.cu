// SPDX-License-Identifier: MIT
//
// Graphs that kernels launch: beside the one they are in, behind it, and their own once more.
// Built with -rdc=true.
#include "graph_dump.h"
#include "runtime.h"

enum { BESIDE, BEHIND, AGAIN, FAILED, COUNTERS };

__global__ void count(int *counter)
{
    atomicAdd(counter, 1);
}

__global__ void launch_two(cudaGraphExec_t beside, cudaGraphExec_t behind, int *counters)
{
    if (cudaGraphLaunch(beside, cudaStreamGraphFireAndForget) != cudaSuccess ||
        cudaGraphLaunch(behind, cudaStreamGraphTailLaunch) != cudaSuccess)
        atomicAdd(&counters[FAILED], 1);
}

// Five times for each launch by the host.
__global__ void launch_again(int *counters)
{
    if (atomicAdd(&counters[AGAIN], 1) % 5 < 4 &&
        cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch) != cudaSuccess)
        atomicAdd(&counters[FAILED], 1);
}

template <typename F>
static cudaGraphExec_t captured(const char *what, cudaStream_t s, unsigned long long flags,
                                F launch)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    RT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch();
    RT(cudaStreamEndCapture(s, &graph));
    graph_print(what, (CUgraph)graph);
    RT(cudaGraphInstantiate(&exec, graph, flags));
    RT(cudaGraphDestroy(graph));
    if (flags)
        RT(cudaGraphUpload(exec, s));
    return exec;
}

int main()
{
    int *counters, host[COUNTERS];
    cudaStream_t s;
    const unsigned long long on_device = cudaGraphInstantiateFlagDeviceLaunch;

    RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    RT(cudaMalloc(&counters, sizeof(host)));
    RT(cudaMemset(counters, 0, sizeof(host)));
    RT(cudaDeviceSynchronize());
    cudaGraphExec_t beside =
        captured("beside", s, on_device, [&] { count<<<1, 32, 0, s>>>(&counters[BESIDE]); });
    cudaGraphExec_t behind =
        captured("behind", s, on_device, [&] { count<<<1, 64, 0, s>>>(&counters[BEHIND]); });
    cudaGraphExec_t both =
        captured("both", s, 0, [&] { launch_two<<<1, 1, 0, s>>>(beside, behind, counters); });
    cudaGraphExec_t again =
        captured("again", s, on_device, [&] { launch_again<<<1, 1, 0, s>>>(counters); });
    RT(cudaStreamSynchronize(s));
    for (int i = 0; i < 10; i++) {
        RT(cudaGraphLaunch(both, s));
        RT(cudaStreamSynchronize(s));
        RT(cudaGraphLaunch(again, s));
        RT(cudaStreamSynchronize(s));
    }
    RT(cudaMemcpy(host, counters, sizeof(host), cudaMemcpyDeviceToHost));
    printf("by kernels: %d beside, %d behind, %d again, %d failed\n", host[BESIDE], host[BEHIND],
           host[AGAIN], host[FAILED]);
    return host[FAILED] != 0;
}
