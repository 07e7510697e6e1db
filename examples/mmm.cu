/* SPDX-License-Identifier: MIT */
/*
 * mmm [variant] [n]: C = A B for matrices of n x n doubles, one thread an element, 16 x 16 blocks.
 *
 *   plain     copy A and B in, one kernel, copy C out
 *   resident  A and B are made on the device, C stays there but for the check: no transfers
 *   streamed  rows of A and C in stripes over four streams, from pageable memory
 *   pinned    the same from pinned memory
 *   mapped    no copies: the kernel reads and writes host memory through the bus
 *
 * The kernel is the same each time and as simple as can be. What differs is where the data is and
 * when it moves; doc/tutorial.md says what to look for in the tables.
 */
#include "example.h"
#include <math.h>
#include <string.h>

#define TILE 16
#define STRIPES 4

KERNEL(mmm_naive, const double *a, const double *b, double *c, int n)
{
    int column = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    double sum = 0;

    if (row >= n || column >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * b[(size_t)k * n + column];
    c[(size_t)row * n + column] = sum;
}

KERNEL(fill_matrix, double *matrix, int n, int seed)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (i < (size_t)n * n)
        matrix[i] = (double)((i * 7 + (size_t)seed * 13) % 101) / 101.0;
}

static void fill_on_host(double *matrix, int n, int seed)
{
    for (size_t i = 0; i < (size_t)n * n; i++)
        matrix[i] = (double)((i * 7 + (size_t)seed * 13) % 101) / 101.0;
}

/* One row of the matrix times a vector. */
static double row_times(const double *row, const double *vector, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += row[i] * vector[i];
    return sum;
}

/*
 * Freivalds: C x = A (B x) for a vector x of varied entries. A wrong element of C changes its row's
 * product, and this takes n squared steps instead of n cubed.
 */
static int correct(const double *a, const double *b, const double *c, int n)
{
    double *x = (double *)example_malloc((size_t)n * sizeof(double));
    double *bx = (double *)example_malloc((size_t)n * sizeof(double));
    int good = 1;

    for (int i = 0; i < n; i++)
        x[i] = 1.0 + (double)(i * 31 % 17);
    for (int i = 0; i < n; i++)
        bx[i] = row_times(b + (size_t)i * n, x, n);
    for (int i = 0; i < n && good; i++) {
        double expected = row_times(a + (size_t)i * n, bx, n);

        good = fabs(row_times(c + (size_t)i * n, x, n) - expected) <= 1e-9 * fabs(expected);
    }
    free(x);
    free(bx);
    return good;
}

struct matrices {
    int n;
    size_t bytes;
    double *a, *b, *c; /* host */
};

static void launch(const double *a, const double *b, double *c, int rows, int n, cudaStream_t s)
{
    dim3 grid = example_dim(example_blocks((size_t)n, TILE), example_blocks((size_t)rows, TILE));

    LAUNCH(mmm_naive, grid, example_dim(TILE, TILE), 0, s, a, b, c, n);
}

static void plain(struct matrices *m)
{
    double *a = (double *)example_device_malloc(m->bytes);
    double *b = (double *)example_device_malloc(m->bytes);
    double *c = (double *)example_device_malloc(m->bytes);

    CHECK(cudaMemcpy(a, m->a, m->bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, m->b, m->bytes, cudaMemcpyHostToDevice));
    launch(a, b, c, m->n, m->n, 0);
    CHECK(cudaMemcpy(m->c, c, m->bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
}

static void resident(struct matrices *m)
{
    dim3 grid = example_dim(example_blocks((size_t)m->n * (size_t)m->n, 256), 1);
    double *a = (double *)example_device_malloc(m->bytes);
    double *b = (double *)example_device_malloc(m->bytes);
    double *c = (double *)example_device_malloc(m->bytes);

    LAUNCH(fill_matrix, grid, example_dim(256, 1), 0, 0, a, m->n, 1);
    LAUNCH(fill_matrix, grid, example_dim(256, 1), 0, 0, b, m->n, 2);
    launch(a, b, c, m->n, m->n, 0);
    CHECK(cudaMemcpy(m->c, c, m->bytes, cudaMemcpyDeviceToHost)); /* for the check alone */
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
}

/* The stripe's rows of A in, its kernel, its rows of C out: beside the other stripes. */
static void stripe(struct matrices *m, double *a, double *b, double *c, int first, int rows,
                   cudaStream_t s)
{
    size_t skip = (size_t)first * (size_t)m->n, bytes = (size_t)rows * (size_t)m->n * sizeof(*a);

    CHECK(cudaMemcpyAsync(a + skip, m->a + skip, bytes, cudaMemcpyHostToDevice, s));
    launch(a + skip, b, c + skip, rows, m->n, s);
    CHECK(cudaMemcpyAsync(m->c + skip, c + skip, bytes, cudaMemcpyDeviceToHost, s));
}

static void streamed(struct matrices *m)
{
    double *a = (double *)example_device_malloc(m->bytes);
    double *b = (double *)example_device_malloc(m->bytes);
    double *c = (double *)example_device_malloc(m->bytes);
    cudaStream_t streams[STRIPES];
    int rows = m->n / STRIPES;

    CHECK(cudaMemcpy(b, m->b, m->bytes, cudaMemcpyHostToDevice)); /* every stripe needs all of B */
    for (int i = 0; i < STRIPES; i++)
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (int i = 0; i < STRIPES; i++)
        stripe(m, a, b, c, i * rows, rows, streams[i]);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < STRIPES; i++)
        CHECK(cudaStreamDestroy(streams[i]));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
}

static void mapped(struct matrices *m)
{
    void *a, *b, *c;

    CHECK(cudaHostGetDevicePointer(&a, m->a, 0));
    CHECK(cudaHostGetDevicePointer(&b, m->b, 0));
    CHECK(cudaHostGetDevicePointer(&c, m->c, 0));
    launch((const double *)a, (const double *)b, (double *)c, m->n, m->n, 0);
    CHECK(cudaDeviceSynchronize());
}

static double *pageable_matrix(size_t bytes)
{
    return (double *)example_malloc(bytes);
}

static double *pinned_matrix(size_t bytes)
{
    void *memory = NULL;

    CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped));
    return (double *)memory;
}

static void free_pageable(double *matrix)
{
    free(matrix);
}

static void free_pinned(double *matrix)
{
    CHECK(cudaFreeHost(matrix));
}

static const struct variant {
    const char *name;
    double *(*allocate)(size_t bytes);
    void (*release)(double *matrix);
    void (*run)(struct matrices *m);
} variants[] = {
    {"plain", pageable_matrix, free_pageable, plain},
    {"resident", pageable_matrix, free_pageable, resident},
    {"streamed", pageable_matrix, free_pageable, streamed},
    {"pinned", pinned_matrix, free_pinned, streamed},
    {"mapped", pinned_matrix, free_pinned, mapped},
};

static const struct variant *find(const char *name)
{
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
        if (!strcmp(variants[i].name, name))
            return &variants[i];
    return NULL;
}

static int run(const struct variant *variant, int n)
{
    struct matrices m;
    double start_ms;
    int status;

    m.n = n;
    m.bytes = (size_t)n * (size_t)n * sizeof(double);
    m.a = variant->allocate(m.bytes);
    m.b = variant->allocate(m.bytes);
    m.c = variant->allocate(m.bytes);
    fill_on_host(m.a, n, 1);
    fill_on_host(m.b, n, 2);
    memset(m.c, 0xff, m.bytes); /* NaN: an element nobody writes is found */
    start_ms = example_now_ms();
    variant->run(&m);
    example_figure("mmm %s, n = %d: %.3f ms from start to result", variant->name, n,
                   example_now_ms() - start_ms);
    printf("mmm %s, n = %d, ", variant->name, n);
    status = example_verdict("product", correct(m.a, m.b, m.c, n));
    variant->release(m.a);
    variant->release(m.b);
    variant->release(m.c);
    return status;
}

int main(int argc, char **argv)
{
    const struct variant *variant = find(argc > 1 ? argv[1] : "plain");
    int n = argc > 2 ? atoi(argv[2]) : 1024;

    if (!variant || n < STRIPES || n % STRIPES) {
        fprintf(stderr, "usage: mmm [plain|resident|streamed|pinned|mapped] [n, multiple of %d]\n",
                STRIPES);
        return 2;
    }
    CHECK(cudaFree(NULL)); /* so that the figure is without the start of CUDA */
    return run(variant, n);
}
