/* SPDX-License-Identifier: MIT */
/*
 * runtime_misc: what the runtime can submit and the examples do not: symbols, arrays, planes,
 * stream-ordered memory, cooperative and extended launches, host functions, nested parallelism in
 * graphs, device reset, and errors.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const unsigned int ELEMENTS = 16384;
__device__ int table[ELEMENTS];
__constant__ int factors[16];

__global__ void use_table(int *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = table[i] * factors[i % 16];
}

template <typename T, int step> __global__ void templated(T *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] += (T)step;
}

static void symbols(int *out, int *host, cudaStream_t stream)
{
    OK(cudaMemcpyToSymbol(table, host, ELEMENTS * sizeof(int)));
    OK(cudaMemcpyToSymbolAsync(factors, host, 64, 0, cudaMemcpyHostToDevice, stream));
    OK(cudaStreamSynchronize(stream));
    use_table<<<ELEMENTS / 256, 256, 0, stream>>>(out);
    OK(cudaMemcpyFromSymbolAsync(host, table, 4096, 0, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpyFromSymbol(host, factors, 64));
}

static void planes(int *out, int *host, cudaStream_t stream)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    cudaExtent extent = make_cudaExtent(64, 8, 4);
    cudaPitchedPtr pitched;

    OK(cudaMallocArray(&array, &format, 128, 32));
    OK(cudaMemcpy2DToArray(array, 0, 0, host, 512, 512, 32, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DToArrayAsync(array, 0, 0, out, 512, 256, 16, cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemcpy2DFromArrayAsync(host, 512, array, 0, 0, 512, 32, cudaMemcpyDeviceToHost, stream));
    OK(cudaMemcpy2DAsync(out, 512, host, 512, 256, 20, cudaMemcpyHostToDevice, stream));
    OK(cudaMemset2DAsync(out, 512, 1, 100, 10, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFreeArray(array));
    OK(cudaMalloc3D(&pitched, extent));
    OK(cudaMemset3D(pitched, 5, extent));
    OK(cudaMemset3DAsync(pitched, 6, extent, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFree(pitched.ptr));
}

static void launches(int *out, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    void *arguments[] = {&out};

    config.gridDim = dim3(8);
    config.blockDim = dim3(256);
    config.stream = stream;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (int i = 0; i < 5; i++)
        OK(cudaLaunchKernelEx(&config, templated<int, 3>, out));
    for (int i = 0; i < 4; i++)
        OK(cudaLaunchCooperativeKernel((const void *)templated<int, 5>, dim3(8), dim3(256),
                                       arguments, 0, stream));
    for (int i = 0; i < 3; i++)
        OK(cudaLaunchKernel((const void *)templated<unsigned int, 7>, dim3(4), dim3(64), arguments,
                            0, stream));
    OK(cudaStreamSynchronize(stream));
}

static void CUDART_CB called(void *counter)
{
    ++*(int *)counter;
}

static void ordered_memory(cudaStream_t stream)
{
    int *memory, calls = 0;

    for (int i = 0; i < 10; i++) {
        OK(cudaMallocAsync(&memory, 65536, stream));
        OK(cudaMemsetAsync(memory, 0, 65536, stream));
        templated<int, 1><<<64, 256, 0, stream>>>(memory);
        OK(cudaLaunchHostFunc(stream, called, &calls));
        OK(cudaFreeAsync(memory, stream));
    }
    OK(cudaStreamSynchronize(stream));
    printf("host functions: %d\n", calls);
}

static void errors(int *out)
{
    templated<int, 9><<<1, 4096>>>(out);
    printf("last error: %d", (int)cudaPeekAtLastError());
    printf(" %d", (int)cudaGetLastError());
    printf(" %d", (int)cudaGetLastError());
    printf(" %d", (int)cudaMemcpy(out, NULL, 16, cudaMemcpyHostToDevice));
    printf(" %d\n", (int)cudaGetLastError());
}

static void round_trip(int *host)
{
    cudaStream_t stream;
    int *out;
    unsigned int sum = 0;

    for (unsigned int i = 0; i < ELEMENTS; i++)
        host[i] = (int)i;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&out, ELEMENTS * sizeof(int)));
    symbols(out, host, stream);
    planes(out, host, stream);
    launches(out, stream);
    ordered_memory(stream);
    errors(out);
    OK(cudaMemcpy(host, out, ELEMENTS * sizeof(int), cudaMemcpyDefault));
    for (unsigned int i = 0; i < ELEMENTS; i++)
        sum = sum * 31 + (unsigned int)host[i];
    printf("runtime: %08x\n", sum);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(out));
}

int main()
{
    int *host;

    for (int i = 0; i < 2; i++) { /* with a reset in between */
        OK(cudaHostAlloc(&host, ELEMENTS * sizeof(int), 0));
        round_trip(host);
        OK(cudaFreeHost(host));
        OK(cudaDeviceReset());
    }
    return 0;
}
