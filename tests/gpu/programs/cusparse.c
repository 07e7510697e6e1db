/* SPDX-License-Identifier: MIT */
/* cusparse: a matrix of three diagonals times a vector, and times a dense matrix. */
#include "library.h"
#include <cusparse.h>

#define N 100000
#define COLUMNS 32

static int *indices(size_t count, int (*value)(int))
{
    int *host = (int *)malloc(count * sizeof(int)), *device = NULL;

    for (size_t i = 0; i < count; i++)
        host[i] = value((int)i);
    OK(cudaMalloc((void **)&device, count * sizeof(int)));
    OK(cudaMemcpy(device, host, count * sizeof(int), cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static int row_start(int i)
{
    return 3 * i;
}

/* Around the diagonal; the first and the last row stay inside. */
static int column(int i)
{
    int middle = i / 3 < 1 ? 1 : i / 3 > N - 2 ? N - 2 : i / 3;
    return middle - 1 + i % 3;
}

int main(void)
{
    const float one = 1.0f, none = 0.0f;
    int *rows = indices(N + 1, row_start), *columns = indices((size_t)3 * N, column);
    float *values = library_floats((size_t)3 * N), *in = library_floats((size_t)N * COLUMNS),
          *out = library_floats((size_t)N * COLUMNS);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    cusparseDnMatDescr_t b, c;
    size_t size = 0, more = 0;
    void *room = NULL;

    OK(cusparseCreate(&handle));
    OK(cusparseCreateCsr(&matrix, N, N, 3 * N, rows, columns, values, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    OK(cusparseCreateDnVec(&x, N, in, CUDA_R_32F));
    OK(cusparseCreateDnVec(&y, N, out, CUDA_R_32F));
    OK(cusparseCreateDnMat(&b, N, COLUMNS, N, in, CUDA_R_32F, CUSPARSE_ORDER_COL));
    OK(cusparseCreateDnMat(&c, N, COLUMNS, N, out, CUDA_R_32F, CUSPARSE_ORDER_COL));
    OK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &none, y,
                               CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, &size));
    OK(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                               CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, b, &none, c,
                               CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG1, &more));
    OK(cudaMalloc(&room, (size > more ? size : more) + 1));
    for (int i = 0; i < 20; i++) {
        OK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &none, y,
                        CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, room));
        OK(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                        &one, matrix, b, &none, c, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG1, room));
    }
    library_print("cusparse", out, (size_t)N * COLUMNS);
    OK(cusparseDestroy(handle));
    return 0;
}
