/* SPDX-License-Identifier: MIT */
/*
 * vector_add [elements]: c = a + b, with the achieved GFLOP/s and GB/s.
 *
 * One addition for twelve bytes moved: no GPU can be busy computing here. The GB/s figure next to
 * the memory bandwidth of the device says how good the kernel is; GFLOP/s says nothing.
 */
#include "example.h"

#define THREADS 256
#define REPEATS 20

KERNEL(vector_add, const float *a, const float *b, float *c, size_t elements)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        c[i] = a[i] + b[i];
}

static void fill(float *a, float *b, size_t elements)
{
    for (size_t i = 0; i < elements; i++) {
        a[i] = (float)(i % 1000);
        b[i] = (float)(i % 77) * 0.5f;
    }
}

static int correct(const float *a, const float *b, const float *c, size_t elements)
{
    for (size_t i = 0; i < elements; i++)
        if (c[i] != a[i] + b[i])
            return 0;
    return 1;
}

/* Mean time of one launch, without the first one, which also loads the kernel. */
static float timed_ms(const float *a, const float *b, float *c, size_t elements)
{
    dim3 grid = example_dim(example_blocks(elements, THREADS), 1);
    cudaEvent_t start, stop;
    float ms = 0;

    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    LAUNCH(vector_add, grid, example_dim(THREADS, 1), 0, 0, a, b, c, elements);
    CHECK(cudaEventRecord(start, 0));
    for (int i = 0; i < REPEATS; i++)
        LAUNCH(vector_add, grid, example_dim(THREADS, 1), 0, 0, a, b, c, elements);
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ms / REPEATS;
}

int main(int argc, char **argv)
{
    size_t elements = argc > 1 ? strtoul(argv[1], NULL, 10) : (size_t)1 << 24;
    size_t bytes = elements * sizeof(float);
    float *a = (float *)example_malloc(bytes), *b = (float *)example_malloc(bytes);
    float *c = (float *)example_malloc(bytes);
    float *device_a = (float *)example_device_malloc(bytes);
    float *device_b = (float *)example_device_malloc(bytes);
    float *device_c = (float *)example_device_malloc(bytes);
    float ms;
    int status;

    fill(a, b, elements);
    CHECK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice));
    ms = timed_ms(device_a, device_b, device_c, elements);
    CHECK(cudaMemcpy(c, device_c, bytes, cudaMemcpyDeviceToHost));
    if (ms > 0)
        example_figure("%.3f ms a launch: %.1f GFLOP/s, %.1f GB/s", ms, (double)elements / ms / 1e6,
                       3.0 * (double)bytes / ms / 1e6);
    status = example_verdict("vector_add", correct(a, b, c, elements));
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    free(a);
    free(b);
    free(c);
    return status;
}
