/* SPDX-License-Identifier: MIT */
/* cusolver: systems of linear equations by LU decomposition, of several sizes. */
#include "library.h"
#include <cusolverDn.h>

#define MOST 512

/* Numbers that repeat, with a diagonal that keeps it regular; column by column. */
static float *matrix(int n)
{
    float *host = (float *)malloc((size_t)n * (size_t)n * sizeof(float)), *device = NULL;

    for (int i = 0; i < n * n; i++)
        host[i] = (float)(i % 7) * 0.1f + (i % (n + 1) ? 0.0f : (float)n);
    OK(cudaMalloc((void **)&device, (size_t)n * (size_t)n * sizeof(float)));
    OK(cudaMemcpy(device, host, (size_t)n * (size_t)n * sizeof(float), cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static void solve(cusolverDnHandle_t handle, int n, float *right)
{
    float *a = matrix(n), *room = NULL;
    int *pivots = NULL, *info = NULL, size = 0;

    OK(cusolverDnSgetrf_bufferSize(handle, n, n, a, n, &size));
    OK(cudaMalloc((void **)&room, (size_t)size * sizeof(float)));
    OK(cudaMalloc((void **)&pivots, (size_t)n * sizeof(int)));
    OK(cudaMalloc((void **)&info, sizeof(int)));
    OK(cusolverDnSgetrf(handle, n, n, a, n, room, pivots, info));
    OK(cusolverDnSgetrs(handle, CUBLAS_OP_N, n, 1, a, n, pivots, right, n, info));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(a));
    OK(cudaFree(room));
    OK(cudaFree(pivots));
    OK(cudaFree(info));
}

int main(void)
{
    cusolverDnHandle_t handle;
    float *right = library_floats(MOST);

    OK(cusolverDnCreate(&handle));
    for (int n = 64; n <= MOST; n *= 2)
        solve(handle, n, right);
    library_print("cusolver", right, MOST);
    OK(cusolverDnDestroy(handle));
    OK(cudaFree(right));
    return 0;
}
