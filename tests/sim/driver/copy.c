/* SPDX-License-Identifier: MIT */
/* Copies in all their forms become rectangles between two sides; arrays are plain memory. */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>

struct side {
    char *start;
    size_t pitch, slice;
    char letter; /* H, D or A */
};

static char letter_of(uintptr_t p)
{
    const struct sim_block *b = sim_block_of(p);
    return b && b->place != SIM_HOST ? 'D' : 'H';
}

static const char *direction(char from, char to)
{
    const char name[] = {from, 't', 'o', to, 0};
    return sim_intern(name);
}

static struct sim_work copy_work(const char *name, struct sim_rect rect)
{
    struct sim_work w = {.kind = SIM_WORK_COPY, .name = name};
    w.copy.rect = rect;
    w.bytes = (uint64_t)rect.width * rect.height * rect.depth;
    w.duration_ns = sim_copy_ns(name, w.bytes);
    return w;
}

static struct sim_rect line(uintptr_t to, uintptr_t from, size_t bytes)
{
    return (struct sim_rect){
        .to = (char *)to, .from = (const char *)from, .width = bytes, .height = 1, .depth = 1};
}

/* ---- linear ---- */

static bool are_peers(uintptr_t to, uintptr_t from)
{
    const struct sim_block *t = sim_block_of(to), *f = sim_block_of(from);
    return t && f && t->place == SIM_DEVICE && f->place == SIM_DEVICE &&
           t->context->device != f->context->device;
}

CUresult sim_copy_line(uintptr_t to, uintptr_t from, size_t bytes, struct sim_work *out)
{
    if (bytes && (!to || !from))
        return CUDA_ERROR_INVALID_VALUE;
    const char *name =
        are_peers(to, from) ? sim_intern("PtoP") : direction(letter_of(from), letter_of(to));
    *out = copy_work(name, line(to, from, bytes));
    return CUDA_SUCCESS;
}

enum sort { SYNC, ASYNC };

static CUresult submit(struct sim_work w, CUstream stream, enum sort sort)
{
    CUstream s;
    if (!w.bytes) {
        sim_work_drop(&w);
        return sim_stream_of(stream, &s);
    }
    return sort == SYNC ? sim_submit_and_wait(stream, &w) : sim_submit_to(stream, &w);
}

static bool is_known(uintptr_t p, size_t bytes)
{
    const struct sim_block *b = sim_block_of(p);
    return b && p + bytes <= b->start + b->bytes;
}

/* Memory that is not page-locked goes through the driver's hands, while the call lasts. */
#define PAGEABLE_SLOWER 2

static bool is_pageable(uintptr_t to, uintptr_t from)
{
    return sim_settings.copy_engines && (!sim_block_of(to) || !sim_block_of(from));
}

static CUresult submit_pageable(struct sim_work w, CUstream stream)
{
    CUstream s;
    w.duration_ns *= PAGEABLE_SLOWER;
    CUresult r = submit(w, stream, ASYNC);
    if (r == CUDA_SUCCESS && sim_stream_of(stream, &s) == CUDA_SUCCESS && !s->capture)
        sim_wait_stream(s);
    return r;
}

static CUresult linear(uintptr_t to, uintptr_t from, size_t bytes, bool to_device, bool from_device,
                       CUstream stream, enum sort sort)
{
    struct sim_work w;
    if ((to_device && bytes && !is_known(to, bytes)) ||
        (from_device && bytes && !is_known(from, bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = sim_copy_line(to, from, bytes, &w);
    if (r == CUDA_SUCCESS && sort == ASYNC && is_pageable(to, from))
        return submit_pageable(w, stream);
    if (r == CUDA_SUCCESS && is_pageable(to, from))
        w.duration_ns *= PAGEABLE_SLOWER;
    return r == CUDA_SUCCESS ? submit(w, stream, sort) : r;
}

CUresult sim_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return linear(to, from, bytes, false, false, NULL, SYNC);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
    return linear(to, from, bytes, false, false, s, ASYNC);
}

CUresult sim_cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                         CUmemcpyAttributes *a, CUstream s)
{
    bool is_legacy = !sim_self.per_thread && (!s || s == CU_STREAM_LEGACY);
    if (!a || is_legacy)
        return CUDA_ERROR_INVALID_VALUE;
    return linear(to, from, bytes, false, false, s, ASYNC);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    return linear(to, (uintptr_t)from, bytes, true, false, NULL, SYNC);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream s)
{
    return linear(to, (uintptr_t)from, bytes, true, false, s, ASYNC);
}

CUresult sim_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    return linear((uintptr_t)to, from, bytes, false, true, NULL, SYNC);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream s)
{
    return linear((uintptr_t)to, from, bytes, false, true, s, ASYNC);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return linear(to, from, bytes, true, true, NULL, SYNC);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
    return linear(to, from, bytes, true, true, s, ASYNC);
}

static CUresult peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                     size_t bytes, CUstream stream, enum sort sort)
{
    if (sim_check(SIM_CONTEXT, to_context) || sim_check(SIM_CONTEXT, from_context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!is_known(to, bytes) || !is_known(from, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    const char *name = to_context == from_context ? "DtoD" : "PtoP";
    return submit(copy_work(sim_intern(name), line(to, from, bytes)), stream, sort);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                          CUcontext from_context, size_t bytes)
{
    return peer(to, to_context, from, from_context, bytes, NULL, SYNC);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes, CUstream s)
{
    return peer(to, to_context, from, from_context, bytes, s, ASYNC);
}

/* ---- arrays ---- */

static size_t element_bytes(CUarray_format format, unsigned channels)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2 * channels;
    default:
        return 4 * channels;
    }
}

CUresult sim_cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !shape || !shape->Width || !shape->NumChannels || shape->NumChannels > 4)
        return CUDA_ERROR_INVALID_VALUE;
    CUarray a = sim_take(SIM_ARRAY);
    a->shape = *shape;
    a->context = c;
    a->element_bytes = element_bytes(shape->Format, shape->NumChannels);
    size_t rows = (shape->Height ? shape->Height : 1) * (shape->Depth ? shape->Depth : 1);
    a->memory = calloc(shape->Width * rows, a->element_bytes);
    *out = a;
    return CUDA_SUCCESS;
}

CUresult sim_cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *shape)
{
    if (!shape)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR whole = {.Width = shape->Width,
                                     .Height = shape->Height,
                                     .Format = shape->Format,
                                     .NumChannels = shape->NumChannels};
    return sim_cuArray3DCreate_v2(out, &whole);
}

CUresult sim_cuArrayDestroy(CUarray a)
{
    CUresult r = sim_check(SIM_ARRAY, a);
    if (r == CUDA_SUCCESS) {
        sim_wait_context(a->context);
        free(a->memory);
        sim_give(SIM_ARRAY, a);
    }
    return r;
}

CUresult sim_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray a)
{
    CUresult r = sim_check(SIM_ARRAY, a);
    if (r == CUDA_SUCCESS)
        *out = a->shape;
    return r;
}

CUresult sim_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray a)
{
    CUresult r = sim_check(SIM_ARRAY, a);
    if (r == CUDA_SUCCESS)
        *out = (CUDA_ARRAY_DESCRIPTOR){a->shape.Width, a->shape.Height, a->shape.Format,
                                       a->shape.NumChannels};
    return r;
}

static struct side array_side(CUarray a, size_t x_bytes, size_t y, size_t z)
{
    size_t pitch = a->shape.Width * a->element_bytes;
    size_t slice = pitch * (a->shape.Height ? a->shape.Height : 1);
    return (struct side){a->memory + x_bytes + y * pitch + z * slice, pitch, slice, 'A'};
}

static CUresult array_copy(CUarray to, CUarray from, uintptr_t other, size_t to_offset,
                           size_t from_offset, size_t bytes, CUstream stream, enum sort sort)
{
    if ((to && sim_check(SIM_ARRAY, to)) || (from && sim_check(SIM_ARRAY, from)))
        return CUDA_ERROR_INVALID_HANDLE;
    struct side t = {(char *)other, 0, 0, letter_of(other)}, f = t;
    if (to)
        t = array_side(to, to_offset, 0, 0);
    if (from)
        f = array_side(from, from_offset, 0, 0);
    return submit(copy_work(direction(f.letter, t.letter),
                            line((uintptr_t)t.start, (uintptr_t)f.start, bytes)),
                  stream, sort);
}

CUresult sim_cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t bytes)
{
    return array_copy(to, NULL, (uintptr_t)from, offset, 0, bytes, NULL, SYNC);
}

CUresult sim_cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t bytes,
                                  CUstream s)
{
    return array_copy(to, NULL, (uintptr_t)from, offset, 0, bytes, s, ASYNC);
}

CUresult sim_cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t bytes)
{
    return array_copy(NULL, from, (uintptr_t)to, 0, offset, bytes, NULL, SYNC);
}

CUresult sim_cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t bytes, CUstream s)
{
    return array_copy(NULL, from, (uintptr_t)to, 0, offset, bytes, s, ASYNC);
}

CUresult sim_cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
{
    return array_copy(NULL, from, to, 0, offset, bytes, NULL, SYNC);
}

CUresult sim_cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes)
{
    return array_copy(to, NULL, from, offset, 0, bytes, NULL, SYNC);
}

CUresult sim_cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                             size_t bytes)
{
    return array_copy(to, from, 0, to_offset, from_offset, bytes, NULL, SYNC);
}

/* ---- planes and boxes ---- */

static CUresult side_of(struct side *out, CUmemorytype type, const void *host, CUdeviceptr device,
                        CUarray array, size_t pitch, size_t height, const size_t at[3])
{
    if (type == CU_MEMORYTYPE_ARRAY) {
        CUresult r = sim_check(SIM_ARRAY, array);
        if (r == CUDA_SUCCESS)
            *out = array_side(array, at[0], at[1], at[2]);
        return r;
    }
    uintptr_t start = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : (uintptr_t)device;
    char letter = type == CU_MEMORYTYPE_HOST     ? 'H'
                  : type == CU_MEMORYTYPE_DEVICE ? 'D'
                                                 : letter_of(start);
    size_t slice = pitch * height;
    if (!start || type < CU_MEMORYTYPE_HOST || type > CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    *out =
        (struct side){(char *)start + at[0] + at[1] * pitch + at[2] * slice, pitch, slice, letter};
    return CUDA_SUCCESS;
}

static CUresult box_work(const CUDA_MEMCPY3D *p, bool is_peer, struct sim_work *out)
{
    struct side to, from;
    const size_t from_at[] = {p->srcXInBytes, p->srcY, p->srcZ};
    const size_t to_at[] = {p->dstXInBytes, p->dstY, p->dstZ};
    CUresult r = side_of(&from, p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray,
                         p->srcPitch ? p->srcPitch : p->WidthInBytes,
                         p->srcHeight ? p->srcHeight : p->Height, from_at);
    if (r == CUDA_SUCCESS)
        r = side_of(&to, p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray,
                    p->dstPitch ? p->dstPitch : p->WidthInBytes,
                    p->dstHeight ? p->dstHeight : p->Height, to_at);
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_rect rect = {to.start, from.start, p->WidthInBytes, p->Height, p->Depth,
                            to.pitch, from.pitch, to.slice,        from.slice};
    is_peer = is_peer || are_peers((uintptr_t)to.start, (uintptr_t)from.start);
    *out = copy_work(is_peer ? sim_intern("PtoP") : direction(from.letter, to.letter), rect);
    return CUDA_SUCCESS;
}

CUresult sim_copy_of_node(const CUDA_MEMCPY3D *p, struct sim_work *out)
{
    return box_work(p, false, out);
}

static CUresult box(const CUDA_MEMCPY3D *p, bool is_peer, CUstream stream, enum sort sort)
{
    struct sim_work w;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = box_work(p, is_peer, &w);
    return r == CUDA_SUCCESS ? submit(w, stream, sort) : r;
}

static CUresult plane(const CUDA_MEMCPY2D *p, CUstream stream, enum sort sort)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D whole = {
        .srcXInBytes = p->srcXInBytes,
        .srcY = p->srcY,
        .srcHost = p->srcHost,
        .srcMemoryType = p->srcMemoryType,
        .srcDevice = p->srcDevice,
        .srcArray = p->srcArray,
        .srcPitch = p->srcPitch,
        .dstXInBytes = p->dstXInBytes,
        .dstY = p->dstY,
        .dstHost = p->dstHost,
        .dstMemoryType = p->dstMemoryType,
        .dstDevice = p->dstDevice,
        .dstArray = p->dstArray,
        .dstPitch = p->dstPitch,
        .WidthInBytes = p->WidthInBytes,
        .Height = p->Height,
        .Depth = 1,
    };
    return box(&whole, false, stream, sort);
}

CUresult sim_cuMemcpy2D_v2(const CUDA_MEMCPY2D *p)
{
    return plane(p, NULL, SYNC);
}

CUresult sim_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p)
{
    return plane(p, NULL, SYNC);
}

CUresult sim_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream s)
{
    return plane(p, s, ASYNC);
}

CUresult sim_cuMemcpy3D_v2(const CUDA_MEMCPY3D *p)
{
    return box(p, false, NULL, SYNC);
}

CUresult sim_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream s)
{
    return box(p, false, s, ASYNC);
}

static CUresult box_peer(const CUDA_MEMCPY3D_PEER *p, CUstream stream, enum sort sort)
{
    CUDA_MEMCPY3D whole;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&whole, 0, sizeof(whole));
    whole.srcXInBytes = p->srcXInBytes, whole.srcY = p->srcY, whole.srcZ = p->srcZ;
    whole.srcMemoryType = p->srcMemoryType, whole.srcHost = p->srcHost;
    whole.srcDevice = p->srcDevice, whole.srcArray = p->srcArray, whole.srcPitch = p->srcPitch;
    whole.srcHeight = p->srcHeight;
    whole.dstXInBytes = p->dstXInBytes, whole.dstY = p->dstY, whole.dstZ = p->dstZ;
    whole.dstMemoryType = p->dstMemoryType, whole.dstHost = p->dstHost;
    whole.dstDevice = p->dstDevice, whole.dstArray = p->dstArray, whole.dstPitch = p->dstPitch;
    whole.dstHeight = p->dstHeight;
    whole.WidthInBytes = p->WidthInBytes, whole.Height = p->Height, whole.Depth = p->Depth;
    bool between = p->srcContext != p->dstContext && p->srcMemoryType != CU_MEMORYTYPE_HOST &&
                   p->dstMemoryType != CU_MEMORYTYPE_HOST;
    return box(&whole, between, stream, sort);
}

CUresult sim_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *p)
{
    return box_peer(p, NULL, SYNC);
}

CUresult sim_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *p, CUstream s)
{
    return box_peer(p, s, ASYNC);
}
