// SPDX-License-Identifier: MIT
//
// peers: two devices, cudaSetDevice in turns, kernels on both, copies between them with and without
// peer access. Status 77 where there is one device only.
#include <cstdio>
#include <cstdlib>

#include "runtime.h"

static const int ELEMENTS = 1 << 16;
static const size_t BYTES = ELEMENTS * sizeof(int);

__global__ void add(int *data, int n)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += n;
}

__global__ void twice(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

static struct {
    int *data;
    cudaStream_t stream;
} side[2];

static void synchronise()
{
    for (int d = 0; d < 2; d++) {
        RT(cudaSetDevice(d));
        RT(cudaDeviceSynchronize());
    }
}

static void exchange(int from, int round)
{
    int to = 1 - from;

    RT(cudaSetDevice(from));
    add<<<ELEMENTS / 256, 256, 0, side[from].stream>>>(side[from].data, round);
    RT(cudaMemcpyPeerAsync(side[to].data, to, side[from].data, from, BYTES, side[from].stream));
    RT(cudaStreamSynchronize(side[from].stream));
    RT(cudaSetDevice(to));
    twice<<<ELEMENTS / 256, 256, 0, side[to].stream>>>(side[to].data);
    RT(cudaMemcpyAsync(side[from].data, side[to].data, BYTES, cudaMemcpyDefault, side[to].stream));
    RT(cudaStreamSynchronize(side[to].stream));
    RT(cudaMemcpyPeer(side[to].data, to, side[from].data, from, BYTES));
    synchronise(); /* of streams that do not wait for the legacy one it is not ahead */
}

static void peer_access(bool on)
{
    int can = 0;
    for (int d = 0; d < 2; d++) {
        RT(cudaDeviceCanAccessPeer(&can, d, 1 - d));
        RT(cudaSetDevice(d));
        if (can && on)
            RT(cudaDeviceEnablePeerAccess(1 - d, 0));
        else if (can)
            RT(cudaDeviceDisablePeerAccess(1 - d));
    }
    printf("peer access %d: %d\n", on, can);
}

int main()
{
    int devices = 0, host[4];

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
        fprintf(stderr, "%d devices, two are needed\n", devices);
        return 77;
    }
    for (int d = 0; d < 2; d++) {
        RT(cudaSetDevice(d));
        RT(cudaMalloc(&side[d].data, BYTES));
        RT(cudaMemset(side[d].data, 0, BYTES));
        RT(cudaStreamCreateWithFlags(&side[d].stream, cudaStreamNonBlocking));
        RT(cudaDeviceSynchronize());
    }
    for (int round = 0; round < 60; round++) {
        if (round % 20 == 10)
            peer_access(round % 40 == 10);
        exchange(round % 2, round);
    }
    for (int d = 0; d < 2; d++) {
        RT(cudaSetDevice(d));
        RT(cudaMemcpy(host, side[d].data + 4096, sizeof(host), cudaMemcpyDeviceToHost));
        printf("device %d: %d\n", d, host[3]);
        RT(cudaDeviceReset());
    }
    return 0;
}
