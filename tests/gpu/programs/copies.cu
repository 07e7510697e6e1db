// SPDX-License-Identifier: MIT
//
// Copies and sets of one size: to the device, to the host, on the device, and memsets.
//
//   copies BYTES pageable|pinned sync|async [COUNT]
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

#define CHECK(call) check((call), #call, __LINE__)

static void check(cudaError_t e, const char *call, int line)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorName(e));
    exit(1);
}

static void sync_round(char *device, char *other, char *host, size_t bytes)
{
    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(device, 1, bytes));
    CHECK(cudaMemcpy(host, other, bytes, cudaMemcpyDeviceToHost));
}

static void async_round(char *device, char *other, char *host, size_t bytes, cudaStream_t s)
{
    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s));
    CHECK(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice, s));
    CHECK(cudaMemsetAsync(device, 1, bytes, s));
    CHECK(cudaMemcpyAsync(host, other, bytes, cudaMemcpyDeviceToHost, s));
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

    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&other, bytes));
    if (pinned)
        CHECK(cudaMallocHost(&host, bytes));
    else
        host = (char *)malloc(bytes);
    memset(host, 7, bytes);
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int i = 0; i < count; i++) {
        if (async)
            async_round(device, other, host, bytes, s);
        else
            sync_round(device, other, host, bytes);
        if (i % 10 == 9)
            CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaDeviceSynchronize());
    printf("copies: %d\n", host[bytes - 1]);
    return 0;
}
