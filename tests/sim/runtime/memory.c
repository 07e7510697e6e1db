/* SPDX-License-Identifier: MIT */
/* Memory, copies, sets and prefetches. */
#include "runtime/calls.h"

#include <string.h>

#define NEED_CONTEXT()                                                                             \
    do {                                                                                           \
        cudaError_t need = rt_need_context();                                                      \
        if (need != cudaSuccess)                                                                   \
            return need;                                                                           \
    } while (0)

static CUdeviceptr ptr(const void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

/* ---- allocation ---- */

cudaError_t rt_cudaMalloc(void **out, size_t bytes)
{
    NEED_CONTEXT();
    if (!out)
        return cudaErrorInvalidValue;
    *out = NULL;
    return bytes ? DRV(cuMemAlloc, (CUdeviceptr *)out, bytes) : cudaSuccess;
}

cudaError_t rt_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    NEED_CONTEXT();
    return DRV(cuMemAllocPitch, (CUdeviceptr *)out, pitch, width, height, 4);
}

cudaError_t rt_cudaMallocManaged(void **out, size_t bytes, unsigned int flags)
{
    NEED_CONTEXT();
    return DRV(cuMemAllocManaged, (CUdeviceptr *)out, bytes, flags);
}

cudaError_t rt_cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    NEED_CONTEXT();
    return DRV(cuMemAllocAsync, (CUdeviceptr *)out, bytes, stream);
}

cudaError_t rt_cudaMallocHost(void **out, size_t bytes)
{
    NEED_CONTEXT();
    return DRV(cuMemHostAlloc, out, bytes, 0);
}

cudaError_t rt_cudaHostAlloc(void **out, size_t bytes, unsigned int flags)
{
    NEED_CONTEXT();
    return DRV(cuMemHostAlloc, out, bytes, flags);
}

cudaError_t rt_cudaFree(void *p)
{
    NEED_CONTEXT();
    return p ? DRV(cuMemFree, ptr(p)) : cudaSuccess;
}

cudaError_t rt_cudaFreeAsync(void *p, cudaStream_t stream)
{
    NEED_CONTEXT();
    return DRV(cuMemFreeAsync, ptr(p), stream);
}

cudaError_t rt_cudaFreeHost(void *p)
{
    NEED_CONTEXT();
    return p ? DRV(cuMemFreeHost, p) : cudaSuccess;
}

cudaError_t rt_cudaHostGetDevicePointer(void **out, void *p, unsigned int flags)
{
    NEED_CONTEXT();
    return DRV(cuMemHostGetDevicePointer, (CUdeviceptr *)out, p, flags);
}

cudaError_t rt_cudaHostRegister(void *p, size_t bytes, unsigned int flags)
{
    NEED_CONTEXT();
    return DRV(cuMemHostRegister, p, bytes, flags);
}

cudaError_t rt_cudaHostUnregister(void *p)
{
    NEED_CONTEXT();
    return DRV(cuMemHostUnregister, p);
}

cudaError_t rt_cudaMemGetInfo(size_t *available, size_t *total)
{
    NEED_CONTEXT();
    return DRV(cuMemGetInfo, available, total);
}

cudaError_t rt_cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    unsigned type = 0, managed = 0;
    NEED_CONTEXT();
    memset(out, 0, sizeof(*out));
    if (DRV(cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr(p)) != cudaSuccess)
        return cudaSuccess; /* memory of the program's own */
    DRV(cuPointerGetAttribute, &managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, ptr(p));
    DRV(cuPointerGetAttribute, &out->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ptr(p));
    out->type = managed                      ? cudaMemoryTypeManaged
                : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                             : cudaMemoryTypeDevice;
    out->devicePointer = (void *)(uintptr_t)p;
    out->hostPointer = out->type == cudaMemoryTypeDevice ? NULL : out->devicePointer;
    return cudaSuccess;
}

/* ---- linear copies ---- */

cudaError_t rt_cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                               cudaStream_t stream)
{
    NEED_CONTEXT();
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return DRV(cuMemcpyHtoDAsync, ptr(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return DRV(cuMemcpyDtoHAsync, to, ptr(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return DRV(cuMemcpyDtoDAsync, ptr(to), ptr(from), bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return DRV(cuMemcpyAsync, ptr(to), ptr(from), bytes, stream);
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t rt_cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    NEED_CONTEXT();
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return DRV(cuMemcpyHtoD, ptr(to), from, bytes);
    case cudaMemcpyDeviceToHost:
        return DRV(cuMemcpyDtoH, to, ptr(from), bytes);
    case cudaMemcpyDeviceToDevice:
        return DRV(cuMemcpyDtoD, ptr(to), ptr(from), bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return DRV(cuMemcpy, ptr(to), ptr(from), bytes);
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

static cudaError_t context_of(int device, CUcontext *out)
{
    return DRV(cuDevicePrimaryCtxRetain, out, device);
}

cudaError_t rt_cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                   size_t bytes, cudaStream_t stream)
{
    CUcontext a, b;
    NEED_CONTEXT();
    cudaError_t r = context_of(to_device, &a);
    if (r == cudaSuccess)
        r = context_of(from_device, &b);
    return r == cudaSuccess ? DRV(cuMemcpyPeerAsync, ptr(to), a, ptr(from), b, bytes, stream) : r;
}

cudaError_t rt_cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                              size_t bytes)
{
    CUcontext a, b;
    NEED_CONTEXT();
    cudaError_t r = context_of(to_device, &a);
    if (r == cudaSuccess)
        r = context_of(from_device, &b);
    return r == cudaSuccess ? DRV(cuMemcpyPeer, ptr(to), a, ptr(from), b, bytes) : r;
}

/* ---- symbols ---- */

static cudaError_t place(const void *symbol, size_t offset, void **out)
{
    CUdeviceptr p = 0;
    cudaError_t r = rt_symbol_of(symbol, &p, NULL);
    *out = (void *)(uintptr_t)(p + offset);
    return r;
}

cudaError_t rt_cudaGetSymbolAddress(void **out, const void *symbol)
{
    return place(symbol, 0, out);
}

cudaError_t rt_cudaGetSymbolSize(size_t *out, const void *symbol)
{
    CUdeviceptr p;
    return rt_symbol_of(symbol, &p, out);
}

cudaError_t rt_cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                       size_t offset, enum cudaMemcpyKind kind, cudaStream_t s)
{
    void *to;
    cudaError_t r = place(symbol, offset, &to);
    return r == cudaSuccess ? rt_cudaMemcpyAsync(to, from, bytes, kind, s) : r;
}

cudaError_t rt_cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                  enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t r = place(symbol, offset, &to);
    return r == cudaSuccess ? rt_cudaMemcpy(to, from, bytes, kind) : r;
}

cudaError_t rt_cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                         enum cudaMemcpyKind kind, cudaStream_t s)
{
    void *from;
    cudaError_t r = place(symbol, offset, &from);
    return r == cudaSuccess ? rt_cudaMemcpyAsync(to, from, bytes, kind, s) : r;
}

cudaError_t rt_cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t r = place(symbol, offset, &from);
    return r == cudaSuccess ? rt_cudaMemcpy(to, from, bytes, kind) : r;
}

/* ---- planes, boxes and arrays ---- */

cudaError_t rt_cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format,
                                 struct cudaExtent extent, unsigned int flags)
{
    unsigned channels = (format->x > 0) + (format->y > 0) + (format->z > 0) + (format->w > 0);
    CUarray_format kind = format->x == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
                          : format->x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                                            : CU_AD_FORMAT_FLOAT;
    CUDA_ARRAY3D_DESCRIPTOR shape = {extent.width, extent.height, extent.depth,
                                     kind,         channels,      flags};
    NEED_CONTEXT();
    return DRV(cuArray3DCreate, (CUarray *)out, &shape);
}

cudaError_t rt_cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format,
                               size_t width, size_t height, unsigned int flags)
{
    return rt_cudaMalloc3DArray(out, format, (struct cudaExtent){width, height, 0}, flags);
}

struct cudaChannelFormatDesc rt_cudaCreateChannelDesc(int x, int y, int z, int w,
                                                      enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

cudaError_t rt_cudaFreeArray(cudaArray_t array)
{
    NEED_CONTEXT();
    return DRV(cuArrayDestroy, (CUarray)array);
}

static void set_side(CUmemorytype *type, const void **host, CUdeviceptr *device, const void *p,
                     bool is_host)
{
    *type = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    *(is_host ? host : (const void **)device) = p;
}

static bool from_host(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
}

static bool to_host(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
}

static void set_from(CUDA_MEMCPY3D *p, const void *from, size_t pitch, enum cudaMemcpyKind kind)
{
    p->srcPitch = pitch;
    set_side(&p->srcMemoryType, &p->srcHost, &p->srcDevice, from, from_host(kind));
    if (kind == cudaMemcpyDefault)
        p->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
}

static void set_to(CUDA_MEMCPY3D *p, void *to, size_t pitch, enum cudaMemcpyKind kind)
{
    p->dstPitch = pitch;
    set_side(&p->dstMemoryType, (const void **)&p->dstHost, &p->dstDevice, to, to_host(kind));
    if (kind == cudaMemcpyDefault)
        p->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
}

static void set_size(CUDA_MEMCPY3D *p, size_t width, size_t height, size_t depth)
{
    p->WidthInBytes = width;
    p->Height = height;
    p->Depth = depth;
}

static cudaError_t copy(const CUDA_MEMCPY3D *p, bool async, cudaStream_t stream)
{
    NEED_CONTEXT();
    return async ? DRV(cuMemcpy3DAsync, p, stream) : DRV(cuMemcpy3D, p);
}

static cudaError_t plane(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind, bool async,
                         cudaStream_t stream)
{
    CUDA_MEMCPY3D p = {0};
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidPitchValue;
    set_from(&p, from, from_pitch, kind);
    set_to(&p, to, to_pitch, kind);
    set_size(&p, width, height, 1);
    return copy(&p, async, stream);
}

cudaError_t rt_cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return plane(to, to_pitch, from, from_pitch, width, height, kind, false, NULL);
}

cudaError_t rt_cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                 size_t width, size_t height, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    return plane(to, to_pitch, from, from_pitch, width, height, kind, true, stream);
}

static cudaError_t to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind, bool async,
                            cudaStream_t stream)
{
    CUDA_MEMCPY3D p = {.dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = (CUarray)to,
                       .dstXInBytes = x, .dstY = y};
    set_from(&p, from, pitch, kind);
    set_size(&p, width, height, 1);
    return copy(&p, async, stream);
}

cudaError_t rt_cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t pitch, size_t width, size_t height,
                                   enum cudaMemcpyKind kind)
{
    return to_array(to, x, y, from, pitch, width, height, kind, false, NULL);
}

cudaError_t rt_cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                        size_t pitch, size_t width, size_t height,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return to_array(to, x, y, from, pitch, width, height, kind, true, stream);
}

static cudaError_t from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                              size_t width, size_t height, enum cudaMemcpyKind kind, bool async,
                              cudaStream_t stream)
{
    CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = (CUarray)(uintptr_t)from,
                       .srcXInBytes = x, .srcY = y};
    set_to(&p, to, pitch, kind);
    set_size(&p, width, height, 1);
    return copy(&p, async, stream);
}

cudaError_t rt_cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                     size_t y, size_t width, size_t height,
                                     enum cudaMemcpyKind kind)
{
    return from_array(to, pitch, from, x, y, width, height, kind, false, NULL);
}

cudaError_t rt_cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                          size_t y, size_t width, size_t height,
                                          enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return from_array(to, pitch, from, x, y, width, height, kind, true, stream);
}

static CUDA_MEMCPY3D box(const struct cudaMemcpy3DParms *q)
{
    CUDA_MEMCPY3D p = {0};
    if (q->srcArray) {
        p.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        p.srcArray = (CUarray)q->srcArray;
    } else {
        set_from(&p, q->srcPtr.ptr, q->srcPtr.pitch, q->kind);
        p.srcHeight = q->srcPtr.ysize;
    }
    if (q->dstArray) {
        p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        p.dstArray = (CUarray)q->dstArray;
    } else {
        set_to(&p, q->dstPtr.ptr, q->dstPtr.pitch, q->kind);
        p.dstHeight = q->dstPtr.ysize;
    }
    p.srcXInBytes = q->srcPos.x, p.srcY = q->srcPos.y, p.srcZ = q->srcPos.z;
    p.dstXInBytes = q->dstPos.x, p.dstY = q->dstPos.y, p.dstZ = q->dstPos.z;
    set_size(&p, q->extent.width, q->extent.height, q->extent.depth);
    return p;
}

cudaError_t rt_cudaMemcpy3D(const struct cudaMemcpy3DParms *q)
{
    CUDA_MEMCPY3D p = box(q);
    return copy(&p, false, NULL);
}

cudaError_t rt_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *q, cudaStream_t stream)
{
    CUDA_MEMCPY3D p = box(q);
    return copy(&p, true, stream);
}

/* ---- sets ---- */

cudaError_t rt_cudaMemset(void *p, int value, size_t bytes)
{
    NEED_CONTEXT();
    return DRV(cuMemsetD8, ptr(p), (unsigned char)value, bytes);
}

cudaError_t rt_cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    NEED_CONTEXT();
    return DRV(cuMemsetD8Async, ptr(p), (unsigned char)value, bytes, stream);
}

cudaError_t rt_cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    NEED_CONTEXT();
    return DRV(cuMemsetD2D8, ptr(p), pitch, (unsigned char)value, width, height);
}

cudaError_t rt_cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                                 cudaStream_t stream)
{
    NEED_CONTEXT();
    return DRV(cuMemsetD2D8Async, ptr(p), pitch, (unsigned char)value, width, height, stream);
}

/* ---- managed memory, in the signature of each version ---- */

static cudaError_t prefetch(const void *p, size_t bytes, int device, cudaStream_t stream)
{
    NEED_CONTEXT();
    return DRV(cuMemPrefetchAsync, ptr(p), bytes, device, stream);
}

#if RT_VERSION >= 13000
static int device_of(uint64_t location)
{
    struct cudaMemLocation l;
    memcpy(&l, &location, sizeof(l));
    return l.type == cudaMemLocationTypeDevice ? l.id : cudaCpuDeviceId;
}

uint64_t rt_cudaMemPrefetchAsync(uint64_t p, uint64_t bytes, uint64_t location, uint64_t flags,
                                 uint64_t stream)
{
    return (uint32_t)flags ? cudaErrorInvalidValue
                           : prefetch((void *)p, bytes, device_of(location), (cudaStream_t)stream);
}

uint64_t rt_cudaMemAdvise(uint64_t p, uint64_t bytes, uint64_t advice, uint64_t location)
{
    NEED_CONTEXT();
    return DRV(cuMemAdvise, p, bytes, (CUmem_advise)advice, device_of(location));
}
#else
uint64_t rt_cudaMemPrefetchAsync(uint64_t p, uint64_t bytes, uint64_t device, uint64_t stream,
                                 uint64_t unused)
{
    (void)unused;
    return prefetch((void *)p, bytes, (int)device, (cudaStream_t)stream);
}

uint64_t rt_cudaMemAdvise(uint64_t p, uint64_t bytes, uint64_t advice, uint64_t device)
{
    NEED_CONTEXT();
    return DRV(cuMemAdvise, p, bytes, (CUmem_advise)advice, (int)device);
}
#endif
