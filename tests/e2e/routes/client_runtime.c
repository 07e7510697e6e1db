/* SPDX-License-Identifier: MIT */
/*
 * A program of the runtime API, compiled once for each way of being linked with it. Kernels come
 * from example.h; how long they take is the simulated device's to say (CUDASIM_KERNELS).
 *
 * CLIENT_CUDART: major version of the runtime it is made for, as far as signatures differ.
 */
#include "example.h"

#include <string.h>

#ifndef CLIENT_CUDART
#define CLIENT_CUDART 13
#endif

#define BYTES 65536

KERNEL(alpha, float *x)
{
    x[0] = 1;
}

KERNEL(beta, float *x, int n)
{
    x[n] = 2;
}

static float shadow; /* stands for a __device__ variable */
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

__attribute__((constructor)) static void register_variable(void)
{
    static const unsigned long long image[2] = {0x00100001ba55ed50ull, 0};
    static __fatBinC_Wrapper_t wrapper = {FATBINC_MAGIC, FATBINC_VERSION, image, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterVar(handle, (char *)&shadow, (char *)"shadow", "shadow", 0, sizeof(shadow), 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

/* Before 13.0 the place was a device's ordinal. */
#if CLIENT_CUDART < 13
cudaError_t prefetch_to(const void *, size_t, int, cudaStream_t) __asm__("cudaMemPrefetchAsync");
#define PREFETCH(p, bytes, device, stream) prefetch_to(p, bytes, device, stream)
#else
#define PREFETCH(p, bytes, device, stream)                                                         \
    cudaMemPrefetchAsync(p, bytes,                                                                 \
                         (struct cudaMemLocation){.type = cudaMemLocationTypeDevice,               \
                                                  .id = device},                                   \
                         0, stream)
#endif

static void copies(float *device, float *host, cudaStream_t stream)
{
    float *other;
    CHECK(cudaMalloc((void **)&other, BYTES));
    for (int i = 1; i <= 5; i++) {
        CHECK(cudaMemcpy(device, host, 1000 * (size_t)i, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpyAsync(other, device, 512 * (size_t)i, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaMemcpyAsync(host, other, 256 * (size_t)i, cudaMemcpyDefault, stream));
    }
    CHECK(cudaMemcpy2D(device, 1024, host, 512, 512, 16, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DAsync(host, 512, device, 1024, 512, 16, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyToSymbol(&shadow, host, sizeof(shadow), 0, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyFromSymbolAsync(host, &shadow, sizeof(shadow), 0, cudaMemcpyDeviceToHost, NULL));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(other));
}

static void arrays(float *device, float *host)
{
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0,
                                                                cudaChannelFormatKindFloat);
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 64, 16, 0));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 256, 256, 16, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DFromArray(device, 256, array, 0, 0, 256, 16, cudaMemcpyDeviceToDevice));
    CHECK(cudaFreeArray(array));
}

static void sets(float *device, cudaStream_t stream)
{
    CHECK(cudaMemset(device, 0, BYTES));
    CHECK(cudaMemsetAsync(device, 1, BYTES / 2, stream));
    CHECK(cudaMemset2DAsync(device, 512, 2, 256, 8, stream));
}

static void managed(void)
{
    float *p;
    CHECK(cudaMallocManaged((void **)&p, BYTES, cudaMemAttachGlobal));
    CHECK(PREFETCH(p, BYTES, 0, NULL));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(p));
}

static void launches(float *device, cudaStream_t stream)
{
    for (int i = 0; i < 40; i++) {
        LAUNCH(alpha, example_dim(4, 1), example_dim(64, 1), 0, NULL, device);
        LAUNCH(beta, example_dim(2, 2), example_dim(32, 2), 128, stream, device, 1);
    }
    void *arguments[] = {&device};
#if CLIENT_CUDART >= 12
    cudaLaunchConfig_t config = {.gridDim = example_dim(1, 1), .blockDim = example_dim(32, 1),
                                 .stream = stream};
    CHECK(cudaLaunchKernelExC(&config, (const void *)(uintptr_t)alpha, arguments));
#endif
    CHECK(cudaLaunchCooperativeKernel((const void *)(uintptr_t)alpha, example_dim(1, 1),
                                      example_dim(32, 1), arguments, 0, stream));
}

static void graphs(float *device, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    LAUNCH(alpha, example_dim(1, 1), example_dim(32, 1), 0, stream, device);
    CHECK(cudaMemsetAsync(device, 0, 64, stream));
    LAUNCH(beta, example_dim(1, 1), example_dim(32, 1), 0, stream, device, 0);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 6; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

int main(void)
{
    float *device, *host;
    cudaStream_t stream;
    CHECK(cudaMalloc((void **)&device, BYTES));
    CHECK(cudaHostAlloc((void **)&host, BYTES, cudaHostAllocDefault));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    launches(device, stream);
    copies(device, host, stream);
    arrays(device, host);
    sets(device, stream);
    managed();
    graphs(device, stream);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    puts("done");
    return 0;
}
