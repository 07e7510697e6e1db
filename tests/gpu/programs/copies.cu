// SPDX-License-Identifier: MIT
//
// Copies and sets of one size: to the device, to the host, on the device, and memsets.
//
//   copies BYTES pageable|pinned sync|async [COUNT]
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

static void sync_round(char *device, char *other, char *host, size_t bytes)
{
    RT(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    RT(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToDevice));
    RT(cudaMemset(device, 1, bytes));
    RT(cudaMemcpy(host, other, bytes, cudaMemcpyDeviceToHost));
}

static void async_round(char *device, char *other, char *host, size_t bytes, cudaStream_t s)
{
    RT(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s));
    RT(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice, s));
    RT(cudaMemsetAsync(device, 1, bytes, s));
    RT(cudaMemcpyAsync(host, other, bytes, cudaMemcpyDeviceToHost, s));
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    size_t bytes = strtoull(argv[1], NULL, 10);
    bool pinned = !strcmp(argv[2], "pinned"), async = !strcmp(argv[3], "async");
    int count = argc > 4 ? atoi(argv[4]) : 100;
    char *device, *other, *host;
    cudaStream_t s;

    RT(cudaMalloc(&device, bytes));
    RT(cudaMalloc(&other, bytes));
    if (pinned)
        RT(cudaMallocHost(&host, bytes));
    else
        host = (char *)malloc(bytes);
    memset(host, 7, bytes);
    RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int i = 0; i < count; i++) {
        if (async)
            async_round(device, other, host, bytes, s);
        else
            sync_round(device, other, host, bytes);
        if (i % 10 == 9)
            RT(cudaDeviceSynchronize());
    }
    RT(cudaDeviceSynchronize());
    printf("copies: %d\n", host[bytes - 1]);
    return 0;
}
