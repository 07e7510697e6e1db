/* SPDX-License-Identifier: MIT */
/* cudnn: a convolution and an activation, forward. */
#include "library.h"
#include <cudnn.h>

#define N 8
#define C 16
#define S 32

int main(void)
{
    size_t count = (size_t)N * C * S * S, workspace_bytes = (size_t)64 << 20;
    float *in = library_floats(count), *weights = library_floats((size_t)C * C * 9);
    float *out = library_floats(count);
    const float one = 1, zero = 0;
    void *workspace;
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t tensor;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t convolution;
    cudnnActivationDescriptor_t activation;

    OK(cudaMalloc(&workspace, workspace_bytes));
    OK(cudnnCreate(&handle));
    OK(cudnnCreateTensorDescriptor(&tensor));
    OK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, S, S));
    OK(cudnnCreateFilterDescriptor(&filter));
    OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, C, C, 3, 3));
    OK(cudnnCreateConvolutionDescriptor(&convolution));
    OK(cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                       CUDNN_DATA_FLOAT));
    OK(cudnnCreateActivationDescriptor(&activation));
    OK(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    for (int i = 0; i < 10; i++) {
        OK(cudnnConvolutionForward(handle, &one, tensor, in, filter, weights, convolution,
                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, workspace,
                                   workspace_bytes, &zero, tensor, out));
        OK(cudnnActivationForward(handle, activation, &one, tensor, out, &zero, tensor, out));
    }
    library_print("cudnn", out, count);
    OK(cudnnDestroy(handle));
    OK(cudaFree(workspace));
    OK(cudaFree(in));
    OK(cudaFree(weights));
    OK(cudaFree(out));
    return 0;
}
