/* SPDX-License-Identifier: MIT */
/* cublas: products of several sizes and types, batched ones, and vector operations. */
#include "library.h"
#include <cublas_v2.h>

#define MOST ((size_t)2048 * 2048)

static void products(cublasHandle_t handle, const float *a, const float *b, float *c)
{
    static const int sizes[] = {16, 100, 256, 512, 1000, 2048};
    const float one = 1, zero = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int n = sizes[i];

        for (int repeat = 0; repeat < 3; repeat++)
            OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, a, n, b, n, &zero, c,
                           n));
        library_print("sgemm", c, (size_t)n * (size_t)n);
        OK(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n / 2, n / 2, n / 2, &(double){1},
                       (const double *)a, n / 2, (const double *)b, n / 2, &(double){0},
                       (double *)c, n / 2));
    }
}

static void typed(cublasHandle_t handle, const float *a, const float *b, float *c)
{
    static const cudaDataType_t types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F};
    const float one = 1, zero = 0;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (int n = 64; n <= 1024; n *= 4)
            OK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, a, types[i], n, b,
                            types[i], n, &zero, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT));
    OK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, a, 64, 4096, b,
                                 64, 4096, &zero, c, 64, 4096, 32));
    library_print("batched", c, 4096 * 32);
}

static void vectors(cublasHandle_t handle, const float *a, float *c)
{
    const float factor = 0.5f;
    float result = 0;
    int where = 0;

    OK(cublasSaxpy(handle, 100000, &factor, a, 1, c, 1));
    OK(cublasSdot(handle, 100000, a, 1, a, 1, &result));
    OK(cublasIsamax(handle, 100000, a, 1, &where));
    OK(cublasSgemv(handle, CUBLAS_OP_N, 512, 512, &factor, a, 512, a, 1, &factor, c, 1));
    printf("dot %.3g, largest at %d\n", (double)result, where);
}

int main(void)
{
    float *a = library_floats(MOST), *b = library_floats(MOST), *c = library_floats(MOST);
    cublasHandle_t handle;
    cudaStream_t stream;

    OK(cublasCreate(&handle));
    products(handle, a, b, c);
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cublasSetStream(handle, stream));
    OK(cudaDeviceSynchronize());
    typed(handle, a, b, c);
    OK(cudaDeviceSynchronize());
    vectors(handle, a, c);
    OK(cudaDeviceSynchronize());
    OK(cublasDestroy(handle));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
    return 0;
}
