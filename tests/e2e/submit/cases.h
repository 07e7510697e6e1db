/* SPDX-License-Identifier: MIT */
/*
 * One call for each function of the driver that puts work on the GPU:
 *
 *   CASE(function, kind, name, (arguments))     kind and name as the device's truth has them
 *   REFUSED(function, (arguments))              the simulated device does not do it
 *
 * A twin is called with the same arguments; stream is the default stream or a created one, own is
 * never the former.
 */
/* clang-format off */
#define CASES(CASE, REFUSED) \
    CASE(cuLaunch, "kernel", "alpha", (alpha)) \
    CASE(cuLaunchGrid, "kernel", "alpha", (alpha, 2, 3)) \
    CASE(cuLaunchGridAsync, "kernel", "alpha", (alpha, 2, 3, stream)) \
    CASE(cuLaunchKernel, "kernel", "beta", (beta, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)) \
    CASE(cuLaunchKernelEx, "kernel", "beta", (&launch, beta, NULL, NULL)) \
    CASE(cuLaunchCooperativeKernel, "kernel", "beta", (beta, 1, 1, 1, 32, 1, 1, 0, stream, NULL)) \
    CASE(cuLaunchCooperativeKernelMultiDevice, "kernel", "beta", (&multi, 1, 0)) \
    CASE(cuGraphLaunch, "graph", "graph", (graph, stream)) \
    \
    CASE(cuMemcpy, "copy", "PtoP", (far, device, 4096)) \
    CASE(cuMemcpyAsync, "copy", "DtoD", (other, device, 4096, stream)) \
    CASE(cuMemcpyHtoD_v2, "copy", "HtoD", (device, host, 8192)) \
    CASE(cuMemcpyHtoDAsync_v2, "copy", "HtoD", (device, host, 100, stream)) \
    CASE(cuMemcpyDtoH_v2, "copy", "DtoH", (host, device, 8192)) \
    CASE(cuMemcpyDtoHAsync_v2, "copy", "DtoH", (host, device, 200, stream)) \
    CASE(cuMemcpyDtoD_v2, "copy", "PtoP", (far, device, 8192)) \
    CASE(cuMemcpyDtoDAsync_v2, "copy", "PtoP", (device, far, 300, stream)) \
    CASE(cuMemcpyPeer, "copy", "PtoP", (far, far_context, device, context, 4096)) \
    CASE(cuMemcpyPeerAsync, "copy", "PtoP", (far, far_context, device, context, 400, stream)) \
    CASE(cuMemcpyHtoA_v2, "copy", "HtoA", (array, 0, host, 1024)) \
    CASE(cuMemcpyHtoAAsync_v2, "copy", "HtoA", (array, 0, host, 512, stream)) \
    CASE(cuMemcpyAtoH_v2, "copy", "AtoH", (host, array, 0, 1024)) \
    CASE(cuMemcpyAtoHAsync_v2, "copy", "AtoH", (host, array, 0, 512, stream)) \
    CASE(cuMemcpyAtoD_v2, "copy", "AtoD", (device, array, 0, 1024)) \
    CASE(cuMemcpyDtoA_v2, "copy", "DtoA", (array, 0, device, 1024)) \
    CASE(cuMemcpyAtoA_v2, "copy", "AtoA", (array, 0, array, 1024, 1024)) \
    CASE(cuMemcpy2D_v2, "copy", "HtoD", (&plane)) \
    CASE(cuMemcpy2DUnaligned_v2, "copy", "PtoP", (&plane_far)) \
    CASE(cuMemcpy2DAsync_v2, "copy", "HtoD", (&plane, stream)) \
    CASE(cuMemcpy3D_v2, "copy", "DtoH", (&box)) \
    CASE(cuMemcpy3DAsync_v2, "copy", "PtoP", (&box_far, stream)) \
    CASE(cuMemcpy3DPeer, "copy", "PtoP", (&box_peer)) \
    CASE(cuMemcpy3DPeerAsync, "copy", "PtoP", (&box_peer, stream)) \
    CASE(cuMemcpyBatchAsync, "copy", "HtoD", (&device, &source, &bytes, 1, &attributes, &first, 1, &failed, own)) \
    CASE(cuMemcpyBatchAsync_v2, "copy", "HtoD", (&device, &source, &bytes, 1, &attributes, &first, 1, own)) \
    CASE(cuMemcpy3DBatchAsync, "copy", "PtoP", (1, &operation_far, &failed, 0, own)) \
    CASE(cuMemcpy3DBatchAsync_v2, "copy", "HtoD", (1, &operation, 0, own)) \
    CASE(cuMemcpyWithAttributesAsync, "copy", "HtoD", (device, source, bytes, &attributes, own)) \
    CASE(cuMemcpy3DWithAttributesAsync, "copy", "HtoD", (&operation, 0, own)) \
    \
    CASE(cuMemsetD8_v2, "set", "memset", (device, 1, 4096)) \
    CASE(cuMemsetD8Async, "set", "memset", (device, 1, 100, stream)) \
    CASE(cuMemsetD16_v2, "set", "memset", (device, 1, 4096)) \
    CASE(cuMemsetD16Async, "set", "memset", (device, 1, 200, stream)) \
    CASE(cuMemsetD32_v2, "set", "memset", (device, 1, 4096)) \
    CASE(cuMemsetD32Async, "set", "memset", (device, 1, 300, stream)) \
    CASE(cuMemsetD2D8_v2, "set", "memset", (device, 512, 1, 256, 8)) \
    CASE(cuMemsetD2D8Async, "set", "memset", (device, 512, 1, 128, 8, stream)) \
    CASE(cuMemsetD2D16_v2, "set", "memset", (device, 512, 1, 128, 8)) \
    CASE(cuMemsetD2D16Async, "set", "memset", (device, 512, 1, 64, 8, stream)) \
    CASE(cuMemsetD2D32_v2, "set", "memset", (device, 512, 1, 64, 8)) \
    CASE(cuMemsetD2D32Async, "set", "memset", (device, 512, 1, 32, 8, stream)) \
    \
    CASE(cuMemPrefetchAsync, "prefetch", "HtoD", (managed, 4096, 0, stream)) \
    CASE(cuMemPrefetchAsync_v2, "prefetch", "HtoD", (managed, 8192, here, 0, stream)) \
    CASE(cuMemPrefetchBatchAsync, "prefetch", "HtoD", (&managed, &bytes, 1, &here, &first, 1, 0, own)) \
    REFUSED(cuMemDiscardAndPrefetchBatchAsync, (&managed, &bytes, 1, &here, &first, 1, 0, own)) \
    \
    /* of CUDA before 3.2: addresses and sizes have 32 bits */ \
    REFUSED(cuMemcpyHtoD, (16, host, 64)) \
    REFUSED(cuMemcpyHtoDAsync, (16, host, 64, stream)) \
    REFUSED(cuMemcpyDtoH, (host, 16, 64)) \
    REFUSED(cuMemcpyDtoHAsync, (host, 16, 64, stream)) \
    REFUSED(cuMemcpyDtoD, (16, 32, 64)) \
    REFUSED(cuMemcpyDtoDAsync, (16, 32, 64, stream)) \
    REFUSED(cuMemcpyHtoA, (array, 0, host, 64)) \
    REFUSED(cuMemcpyHtoAAsync, (array, 0, host, 64, stream)) \
    REFUSED(cuMemcpyAtoH, (host, array, 0, 64)) \
    REFUSED(cuMemcpyAtoHAsync, (host, array, 0, 64, stream)) \
    REFUSED(cuMemcpyAtoD, (16, array, 0, 64)) \
    REFUSED(cuMemcpyDtoA, (array, 0, 16, 64)) \
    REFUSED(cuMemcpyAtoA, (array, 0, array, 64, 64)) \
    REFUSED(cuMemcpy2D, (&plane_v1)) \
    REFUSED(cuMemcpy2DUnaligned, (&plane_v1)) \
    REFUSED(cuMemcpy2DAsync, (&plane_v1, stream)) \
    REFUSED(cuMemcpy3D, (&box_v1)) \
    REFUSED(cuMemcpy3DAsync, (&box_v1, stream)) \
    REFUSED(cuMemsetD8, (16, 1, 64)) \
    REFUSED(cuMemsetD16, (16, 1, 64)) \
    REFUSED(cuMemsetD32, (16, 1, 64)) \
    REFUSED(cuMemsetD2D8, (16, 64, 1, 8, 8)) \
    REFUSED(cuMemsetD2D16, (16, 64, 1, 8, 8)) \
    REFUSED(cuMemsetD2D32, (16, 64, 1, 8, 8))
/* clang-format on */
