// SPDX-License-Identifier: MIT
// graph_line LAUNCHES WAIT_EVERY: a graph of kernels one behind the other, of a microsecond or two
// each, between a set and a copy; the host waits for the GPU after so many launches.
#include <cstdlib>

#include "runtime.h"

#define KERNELS 192
#define THREADS 128

__global__ void step(float *x)
{
    float v = x[threadIdx.x];
    for (int i = 0; i < 500; i++)
        v = v * 0.9999f + 0.25f;
    x[threadIdx.x] = v;
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 2000, wait_every = argc > 2 ? atoi(argv[2]) : 10;
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float *x, *host;
    RT(cudaMalloc(&x, THREADS * sizeof(float)));
    RT(cudaMallocHost(&host, THREADS * sizeof(float)));
    RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    RT(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    RT(cudaMemsetAsync(x, 0, THREADS * sizeof(float), s));
    for (int i = 0; i < KERNELS; i++)
        step<<<1, THREADS, 0, s>>>(x);
    RT(cudaMemcpyAsync(host, x, THREADS * sizeof(float), cudaMemcpyDeviceToHost, s));
    RT(cudaStreamEndCapture(s, &graph));
    RT(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 1; i <= launches; i++) {
        RT(cudaGraphLaunch(exec, s));
        if (i % wait_every == 0)
            RT(cudaStreamSynchronize(s));
    }
    RT(cudaStreamSynchronize(s));
    printf("result %.6f\n", host[0]);
    return 0;
}
