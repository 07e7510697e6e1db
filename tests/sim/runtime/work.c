/* SPDX-License-Identifier: MIT */
/* Streams, events, launches and graphs. */
#include "runtime/calls.h"

#include <string.h>

#define WITH_CONTEXT(call)                                                                         \
    do {                                                                                           \
        cudaError_t need = rt_need_context();                                                      \
        return need == cudaSuccess ? (cudaError_t)(call) : need;                                   \
    } while (0)

/* ---- streams ---- */

cudaError_t rt_cudaStreamCreateWithPriority(cudaStream_t *out, unsigned int flags, int priority)
{
    WITH_CONTEXT(DRV(cuStreamCreateWithPriority, out, flags, priority));
}

cudaError_t rt_cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
    return rt_cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t rt_cudaStreamCreate(cudaStream_t *out)
{
    return rt_cudaStreamCreateWithPriority(out, cudaStreamDefault, 0);
}

cudaError_t rt_cudaStreamDestroy(cudaStream_t s)
{
    WITH_CONTEXT(DRV(cuStreamDestroy, s));
}

cudaError_t rt_cudaStreamSynchronize(cudaStream_t s)
{
    WITH_CONTEXT(DRV(cuStreamSynchronize, s));
}

cudaError_t rt_cudaStreamQuery(cudaStream_t s)
{
    WITH_CONTEXT(DRV(cuStreamQuery, s));
}

cudaError_t rt_cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned int flags)
{
    WITH_CONTEXT(DRV(cuStreamWaitEvent, s, e, flags));
}

cudaError_t rt_cudaStreamGetFlags(cudaStream_t s, unsigned int *out)
{
    WITH_CONTEXT(DRV(cuStreamGetFlags, s, out));
}

cudaError_t rt_cudaStreamGetPriority(cudaStream_t s, int *out)
{
    WITH_CONTEXT(DRV(cuStreamGetPriority, s, out));
}

cudaError_t rt_cudaStreamGetId(cudaStream_t s, unsigned long long *out)
{
    WITH_CONTEXT(DRV(cuStreamGetId, s, out));
}

cudaError_t rt_cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t callback, void *data,
                                     unsigned int flags)
{
    WITH_CONTEXT(DRV(cuStreamAddCallback, s, (CUstreamCallback)callback, data, flags));
}

cudaError_t rt_cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t function, void *data)
{
    WITH_CONTEXT(DRV(cuLaunchHostFunc, s, function, data));
}

uint64_t rt_cudaLaunchHostFunc_v2(uint64_t s, uint64_t function, uint64_t data, uint64_t mode)
{
    WITH_CONTEXT(
        DRV(cuLaunchHostFunc_v2, (CUstream)s, (CUhostFn)function, (void *)data, (unsigned)mode));
}

uint64_t rt_cudaMemcpyWithAttributesAsync(uint64_t to, uint64_t from, uint64_t bytes, uint64_t a,
                                          uint64_t s)
{
    WITH_CONTEXT(
        DRV(cuMemcpyWithAttributesAsync, to, from, bytes, (CUmemcpyAttributes *)a, (CUstream)s));
}

uint64_t rt_cudaMemcpy3DWithAttributesAsync(uint64_t op, uint64_t flags, uint64_t s)
{
    WITH_CONTEXT(
        DRV(cuMemcpy3DWithAttributesAsync, (CUDA_MEMCPY3D_BATCH_OP *)op, flags, (CUstream)s));
}

/* Where the driver's call has two arguments, the fourth word is a structure of them. */
uint64_t rt_cudaStreamBeginRecaptureToGraph(uint64_t s, uint64_t mode, uint64_t graph,
                                            uint64_t callback, uint64_t unused)
{
    void **pair = (void **)callback;
    (void)unused;
    WITH_CONTEXT(DRV(cuStreamBeginRecaptureToGraph, (CUstream)s, (CUstreamCaptureMode)mode,
                     (CUgraph)graph, pair ? (CUgraphRecaptureCallback)pair[0] : NULL,
                     pair ? pair[1] : NULL));
}

/* ---- capture ---- */

cudaError_t rt_cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode)
{
    WITH_CONTEXT(DRV(cuStreamBeginCapture, s, (CUstreamCaptureMode)mode));
}

cudaError_t rt_cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
    WITH_CONTEXT(DRV(cuStreamEndCapture, s, out));
}

cudaError_t rt_cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *out)
{
    WITH_CONTEXT(DRV(cuStreamIsCapturing, s, (CUstreamCaptureStatus *)out));
}

cudaError_t rt_cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    WITH_CONTEXT(DRV(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *)mode));
}

uint64_t rt_cudaStreamGetCaptureInfo(uint64_t s, uint64_t status, uint64_t id, uint64_t graph,
                                     uint64_t nodes, uint64_t edges, uint64_t count)
{
    (void)graph, (void)nodes, (void)edges, (void)count; /* of 13.0, all may be NULL */
    WITH_CONTEXT(DRV(cuStreamGetCaptureInfo, (CUstream)s, (CUstreamCaptureStatus *)status,
                     (cuuint64_t *)id, NULL, NULL, NULL));
}

/* ---- events ---- */

cudaError_t rt_cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags)
{
    WITH_CONTEXT(DRV(cuEventCreate, out, flags));
}

cudaError_t rt_cudaEventCreate(cudaEvent_t *out)
{
    return rt_cudaEventCreateWithFlags(out, cudaEventDefault);
}

cudaError_t rt_cudaEventDestroy(cudaEvent_t e)
{
    WITH_CONTEXT(DRV(cuEventDestroy, e));
}

cudaError_t rt_cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    WITH_CONTEXT(DRV(cuEventRecord, e, s));
}

cudaError_t rt_cudaEventQuery(cudaEvent_t e)
{
    WITH_CONTEXT(DRV(cuEventQuery, e));
}

cudaError_t rt_cudaEventSynchronize(cudaEvent_t e)
{
    WITH_CONTEXT(DRV(cuEventSynchronize, e));
}

cudaError_t rt_cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    WITH_CONTEXT(DRV(cuEventElapsedTime, ms, from, to));
}

/* ---- launches ---- */

static cudaError_t launch(CUfunction f, dim3 grid, dim3 block, void **arguments,
                          size_t shared_bytes, cudaStream_t stream)
{
    cudaError_t r = DRV(cuLaunchKernel, f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                        (unsigned)shared_bytes, stream, arguments, NULL);
    return r == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : r;
}

cudaError_t rt_cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
                                size_t shared_bytes, cudaStream_t stream)
{
    CUfunction f = NULL;
    cudaError_t r = rt_function_of(stub, &f);
    return r == cudaSuccess ? launch(f, grid, block, arguments, shared_bytes, stream) : r;
}

cudaError_t rt___cudaGetKernel(cudaKernel_t *out, const void *stub)
{
    return rt_function_of(stub, (CUfunction *)out);
}

cudaError_t rt_cudaGetKernel(cudaKernel_t *out, const void *stub)
{
    return rt_function_of(stub, (CUfunction *)out);
}

cudaError_t rt___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                  size_t shared_bytes, cudaStream_t stream)
{
    WITH_CONTEXT(launch((CUfunction)kernel, grid, block, arguments, shared_bytes, stream));
}

cudaError_t rt_cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block,
                                           void **arguments, size_t shared_bytes,
                                           cudaStream_t stream)
{
    CUfunction f = NULL;
    cudaError_t r = rt_function_of(stub, &f);
    return r == cudaSuccess ? DRV(cuLaunchCooperativeKernel, f, grid.x, grid.y, grid.z, block.x,
                                  block.y, block.z, (unsigned)shared_bytes, stream, arguments)
                            : r;
}

cudaError_t rt_cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *stub, void **arguments)
{
    CUfunction f = NULL;
    cudaError_t r = c ? rt_function_of(stub, &f) : cudaErrorInvalidValue;
    if (r != cudaSuccess)
        return r;
    CUlaunchConfig config = {
        .gridDimX = c->gridDim.x,
        .gridDimY = c->gridDim.y,
        .gridDimZ = c->gridDim.z,
        .blockDimX = c->blockDim.x,
        .blockDimY = c->blockDim.y,
        .blockDimZ = c->blockDim.z,
        .sharedMemBytes = (unsigned)c->dynamicSmemBytes,
        .hStream = c->stream,
        .attrs = (CUlaunchAttribute *)c->attrs,
        .numAttrs = c->numAttrs,
    };
    return DRV(cuLaunchKernelEx, &config, f, arguments, NULL);
}

cudaError_t rt_cudaGetFuncBySymbol(cudaFunction_t *out, const void *stub)
{
    CUfunction f = NULL;
    cudaError_t r = rt_function_of(stub, &f);
    if (r == cudaSuccess && DRV(cuKernelGetFunction, out, (CUkernel)f) != cudaSuccess)
        *out = f;
    return r;
}

cudaError_t rt_cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *stub)
{
    CUfunction f = NULL;
    cudaError_t r = rt_function_of(stub, &f);
    memset(out, 0, sizeof(*out));
    if (r == cudaSuccess)
        r = DRV(cuFuncGetAttribute, &out->numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
    if (r == cudaSuccess)
        r = DRV(cuFuncGetAttribute, &out->maxThreadsPerBlock,
                CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    return r;
}

cudaError_t rt_cudaFuncSetAttribute(const void *stub, enum cudaFuncAttribute which, int value)
{
    CUfunction f = NULL;
    (void)which, (void)value;
    return rt_function_of(stub, &f);
}

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *stub,
                                                                      int threads,
                                                                      size_t shared_bytes,
                                                                      unsigned int flags)
{
    CUfunction f = NULL;
    cudaError_t r = rt_function_of(stub, &f);
    return r == cudaSuccess ? DRV(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, f,
                                  threads, shared_bytes, flags)
                            : r;
}

cudaError_t rt_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *stub,
                                                             int threads, size_t shared_bytes)
{
    return rt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, stub, threads,
                                                                     shared_bytes, 0);
}

/* ---- graphs ---- */

cudaError_t rt_cudaGraphCreate(cudaGraph_t *out, unsigned int flags)
{
    WITH_CONTEXT(DRV(cuGraphCreate, out, flags));
}

cudaError_t rt_cudaGraphDestroy(cudaGraph_t g)
{
    WITH_CONTEXT(DRV(cuGraphDestroy, g));
}

cudaError_t rt_cudaGraphClone(cudaGraph_t *out, cudaGraph_t g)
{
    WITH_CONTEXT(DRV(cuGraphClone, out, g));
}

cudaError_t rt_cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *count)
{
    WITH_CONTEXT(DRV(cuGraphGetNodes, g, out, count));
}

cudaError_t rt_cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g,
                                             unsigned long long flags)
{
    if (!rt_driver()->cuGraphInstantiateWithFlags)
        WITH_CONTEXT(DRV(cuGraphInstantiate, out, g, NULL, NULL, 0)); /* before 11.4 */
    WITH_CONTEXT(DRV(cuGraphInstantiateWithFlags, out, g, flags));
}

/* 11: (exec, graph, error node, log, its size); from 12 on: (exec, graph, flags) */
uint64_t rt_cudaGraphInstantiate(uint64_t out, uint64_t g, uint64_t a, uint64_t b, uint64_t c)
{
    (void)b, (void)c;
    return rt_cudaGraphInstantiateWithFlags((cudaGraphExec_t *)out, (cudaGraph_t)g,
                                            RT_VERSION >= 12000 ? a : 0);
}

cudaError_t rt_cudaGraphExecDestroy(cudaGraphExec_t e)
{
    WITH_CONTEXT(DRV(cuGraphExecDestroy, e));
}

cudaError_t rt_cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t s)
{
    WITH_CONTEXT(DRV(cuGraphLaunch, e, s));
}

cudaError_t rt_cudaGraphUpload(cudaGraphExec_t e, cudaStream_t s)
{
    WITH_CONTEXT(DRV(cuGraphUpload, e, s));
}
