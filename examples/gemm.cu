/* SPDX-License-Identifier: MIT */
/*
 * gemm [n]: C = alpha A B + beta C in single precision, row-major, by two kernels.
 *
 * gemm_rows lets each thread read its row and column from memory. gemm_tiled has each block bring
 * 32 x 32 tiles of A and B to shared memory first, so each value is fetched once per tile instead
 * of once per thread. Same result, same launches, another time.
 */
#include "example.h"
#include <math.h>
#include <string.h>

#define TILE 32

KERNEL(gemm_rows, const float *a, const float *b, float *c, int n, float alpha, float beta)
{
    int column = (int)(blockIdx.x * TILE + threadIdx.x);
    int row = (int)(blockIdx.y * TILE + threadIdx.y);
    float sum = 0;

    if (row >= n || column >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    c[(size_t)row * n + column] = alpha * sum + beta * c[(size_t)row * n + column];
}

KERNEL(gemm_tiled, const float *a, const float *b, float *c, int n, float alpha, float beta)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int column = (int)(blockIdx.x * TILE + threadIdx.x);
    int row = (int)(blockIdx.y * TILE + threadIdx.y);
    float sum = 0;

    for (int first = 0; first < n; first += TILE) {
        int k = first + (int)threadIdx.x, l = first + (int)threadIdx.y;

        tile_a[threadIdx.y][threadIdx.x] = row < n && k < n ? a[(size_t)row * n + k] : 0;
        tile_b[threadIdx.y][threadIdx.x] = column < n && l < n ? b[(size_t)l * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[(size_t)row * n + column] = alpha * sum + beta * c[(size_t)row * n + column];
}

static void fill(float *matrix, int n, int seed)
{
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        matrix[i] = (float)((i * 5 + (size_t)seed * 3) % 17) - 8.0f;
}

static double row_times(const float *row, const double *vector, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += (double)row[i] * vector[i];
    return sum;
}

/* Freivalds, as in mmm.cu; the entries are small integers, so single precision makes no error. */
static int correct(const float *a, const float *b, const float *c_before, const float *c, int n)
{
    double *x = (double *)example_malloc((size_t)n * sizeof(double));
    double *bx = (double *)example_malloc((size_t)n * sizeof(double));
    int good = 1;

    for (int i = 0; i < n; i++)
        x[i] = 1.0 + (double)(i * 31 % 17);
    for (int i = 0; i < n; i++)
        bx[i] = row_times(b + (size_t)i * n, x, n);
    for (int i = 0; i < n && good; i++) {
        double expected =
            2.0 * row_times(a + (size_t)i * n, bx, n) + row_times(c_before + (size_t)i * n, x, n);

        good = fabs(row_times(c + (size_t)i * n, x, n) - expected) <= 1e-6 * fabs(expected) + 1e-3;
    }
    free(x);
    free(bx);
    return good;
}

struct buffers {
    int n;
    size_t bytes;
    float *a, *b, *before, *c; /* host */
    float *device_a, *device_b, *device_c;
    cudaEvent_t start, stop;
};

static void launch(struct buffers *s, int tiled)
{
    unsigned int blocks = example_blocks((size_t)s->n, TILE);
    dim3 grid = example_dim(blocks, blocks), block = example_dim(TILE, TILE);

    if (tiled)
        LAUNCH(gemm_tiled, grid, block, 0, 0, s->device_a, s->device_b, s->device_c, s->n, 2.0f,
               1.0f);
    else
        LAUNCH(gemm_rows, grid, block, 0, 0, s->device_a, s->device_b, s->device_c, s->n, 2.0f,
               1.0f);
}

static int run(struct buffers *s, int tiled)
{
    const char *name = tiled ? "gemm_tiled" : "gemm_rows";
    float ms = 0;

    launch(s, tiled); /* loads the kernel */
    CHECK(cudaMemcpy(s->device_c, s->before, s->bytes, cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(s->start, 0));
    launch(s, tiled);
    CHECK(cudaEventRecord(s->stop, 0));
    CHECK(cudaMemcpy(s->c, s->device_c, s->bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaEventElapsedTime(&ms, s->start, s->stop));
    if (ms > 0)
        example_figure("%s: %.3f ms, %.0f GFLOP/s", name, ms, 2e-6 * s->n * s->n * s->n / ms);
    return example_verdict(name, correct(s->a, s->b, s->before, s->c, s->n));
}

static void set_up(struct buffers *s, int n)
{
    s->n = n;
    s->bytes = (size_t)n * (size_t)n * sizeof(float);
    s->a = (float *)example_malloc(s->bytes);
    s->b = (float *)example_malloc(s->bytes);
    s->before = (float *)example_malloc(s->bytes);
    s->c = (float *)example_malloc(s->bytes);
    fill(s->a, n, 1);
    fill(s->b, n, 2);
    fill(s->before, n, 3);
    s->device_a = (float *)example_device_malloc(s->bytes);
    s->device_b = (float *)example_device_malloc(s->bytes);
    s->device_c = (float *)example_device_malloc(s->bytes);
    CHECK(cudaMemcpy(s->device_a, s->a, s->bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(s->device_b, s->b, s->bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(s->device_c, 0, s->bytes));
    CHECK(cudaEventCreate(&s->start));
    CHECK(cudaEventCreate(&s->stop));
}

static void tear_down(struct buffers *s)
{
    CHECK(cudaEventDestroy(s->start));
    CHECK(cudaEventDestroy(s->stop));
    CHECK(cudaFree(s->device_a));
    CHECK(cudaFree(s->device_b));
    CHECK(cudaFree(s->device_c));
    free(s->a);
    free(s->b);
    free(s->before);
    free(s->c);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    struct buffers s;
    int status;

    if (n < 1) {
        fprintf(stderr, "usage: gemm [n]\n");
        return 2;
    }
    set_up(&s, n);
    status = run(&s, 0);
    status |= run(&s, 1);
    tear_down(&s);
    return status;
}
