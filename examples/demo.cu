/* SPDX-License-Identifier: MIT */
/*
 * demo: a bit of everything, small and quick: what ./quickstart profiles.
 *
 * saxpy and a reduction over vectors, a tiled matrix product, copies from pinned memory in two
 * streams, a memset, and a graph that is captured once and launched many times.
 */
#include "example.h"
#include <math.h>

#define ELEMENTS (1u << 20)
#define THREADS 256
#define SIDE 512
#define TILE 16
#define STEPS 20
#define GRAPH_LAUNCHES 25

KERNEL(saxpy, float factor, const float *x, float *y, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        y[i] += factor * x[i];
}

KERNEL(reduce_sum, const float *data, float *sum, unsigned int elements)
{
    __shared__ float partial[THREADS];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;

    partial[t] = i < elements ? data[i] : 0;
    __syncthreads();
    for (unsigned int half = THREADS / 2; half; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    if (!t)
        atomicAdd(sum, partial[0]);
}

KERNEL(gemm_tile, const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int column = (int)blockIdx.x * TILE + x, row = (int)blockIdx.y * TILE + y;
    float sum = 0;

    for (int k = 0; k < n; k += TILE) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

static dim3 vector_grid(void)
{
    return example_dim(example_blocks(ELEMENTS, THREADS), 1);
}

static float *pinned(unsigned int elements, float value)
{
    void *memory = NULL;

    CHECK(cudaHostAlloc(&memory, elements * sizeof(float), cudaHostAllocDefault));
    for (unsigned int i = 0; i < elements; i++)
        ((float *)memory)[i] = value;
    return (float *)memory;
}

/* Two streams, each with its own vectors: y = 1 + STEPS * 0.5 * 2, then the sum of y. */
static int vectors(void)
{
    size_t bytes = ELEMENTS * sizeof(float);
    float *host_x = pinned(ELEMENTS, 2), *host_y = pinned(ELEMENTS, 1), *host_sum = pinned(2, 0);
    float *x[2], *y[2], *sum[2];
    cudaStream_t stream[2];
    int good;

    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        x[i] = (float *)example_device_malloc(bytes);
        y[i] = (float *)example_device_malloc(bytes);
        sum[i] = (float *)example_device_malloc(sizeof(float));
        CHECK(cudaMemcpyAsync(x[i], host_x, bytes, cudaMemcpyHostToDevice, stream[i]));
        CHECK(cudaMemcpyAsync(y[i], host_y, bytes, cudaMemcpyHostToDevice, stream[i]));
        CHECK(cudaMemsetAsync(sum[i], 0, sizeof(float), stream[i]));
    }
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < 2; i++)
            LAUNCH(saxpy, vector_grid(), example_dim(THREADS, 1), 0, stream[i], 0.5f, x[i], y[i],
                   ELEMENTS);
    for (int i = 0; i < 2; i++) {
        LAUNCH(reduce_sum, vector_grid(), example_dim(THREADS, 1), 0, stream[i], y[i], sum[i],
               ELEMENTS);
        CHECK(cudaMemcpyAsync(host_sum + i, sum[i], sizeof(float), cudaMemcpyDeviceToHost,
                              stream[i]));
    }
    CHECK(cudaDeviceSynchronize());
    good = host_sum[0] == (STEPS + 1.0f) * ELEMENTS && host_sum[1] == host_sum[0];
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamDestroy(stream[i]));
        CHECK(cudaFree(x[i]));
        CHECK(cudaFree(y[i]));
        CHECK(cudaFree(sum[i]));
    }
    CHECK(cudaFreeHost(host_x));
    CHECK(cudaFreeHost(host_y));
    CHECK(cudaFreeHost(host_sum));
    return example_verdict("saxpy and sum", good);
}

static int constant(const float *device_data, unsigned int elements, float expected)
{
    float *host = (float *)example_malloc(elements * sizeof(float));
    int good = 1;

    CHECK(cudaMemcpy(host, device_data, elements * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned int i = 0; i < elements && good; i++)
        good = host[i] == expected;
    free(host);
    return good;
}

static int product(void)
{
    size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
    float *ones = (float *)example_malloc(bytes), *a, *b, *c;
    int status;

    for (int i = 0; i < SIDE * SIDE; i++)
        ones[i] = 1;
    a = (float *)example_device_malloc(bytes);
    b = (float *)example_device_malloc(bytes);
    c = (float *)example_device_malloc(bytes);
    CHECK(cudaMemcpy(a, ones, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(c, 0, bytes));
    for (int i = 0; i < 5; i++)
        LAUNCH(gemm_tile, example_dim(SIDE / TILE, SIDE / TILE), example_dim(TILE, TILE), 0, 0, a,
               b, c, SIDE);
    status = example_verdict("matrix product", constant(c, SIDE * SIDE, SIDE));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    free(ones);
    return status;
}

static cudaGraphExec_t capture(cudaStream_t stream, float *x, float *y)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 4; i++)
        LAUNCH(saxpy, vector_grid(), example_dim(THREADS, 1), 0, stream, 0.25f, x, y, ELEMENTS);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

/* x = 1, y = 0; each launch of the graph adds 4 * 0.25. */
static int graphs(void)
{
    size_t bytes = ELEMENTS * sizeof(float);
    float *ones = (float *)example_malloc(bytes), *x, *y;
    cudaGraphExec_t exec;
    cudaStream_t stream;
    int status;

    for (unsigned int i = 0; i < ELEMENTS; i++)
        ones[i] = 1;
    x = (float *)example_device_malloc(bytes);
    y = (float *)example_device_malloc(bytes);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMemcpyAsync(x, ones, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(y, 0, bytes, stream));
    exec = capture(stream, x, y);
    for (int i = 0; i < GRAPH_LAUNCHES; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    status = example_verdict("graph", constant(y, ELEMENTS, GRAPH_LAUNCHES));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    free(ones);
    return status;
}

int main(void)
{
    struct cudaDeviceProp device;
    int status;

    CHECK(cudaGetDeviceProperties(&device, 0));
    example_figure("demo on %s", device.name);
    status = vectors();
    status |= product();
    status |= graphs();
    return status;
}
