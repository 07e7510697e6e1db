/* SPDX-License-Identifier: MIT */
/*
 * Many copies or prefetches by one call. In its stream a batch is one operation, whose parts follow
 * each other without a gap; each part counts by itself.
 */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>

static struct sim_plan *plan_new(size_t room)
{
    struct sim_plan *p = calloc(1, sizeof(*p));
    p->references = 1;
    p->works = calloc(room, sizeof(*p->works));
    return p;
}

static void plan_add(struct sim_plan *p, const struct sim_work *w)
{
    if (!w->bytes)
        return;
    p->works[p->count++] = *w;
    p->duration_ns += w->duration_ns;
}

/* Into a capture they go one by one. */
static CUresult capture(CUstream s, struct sim_plan *p)
{
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; r == CUDA_SUCCESS && i < p->count; i++)
        r = sim_submit(s, &p->works[i]);
    sim_plan_release(p);
    return r;
}

static CUresult submit(CUstream handle, struct sim_plan *p, CUresult r)
{
    CUstream s;
    if (r == CUDA_SUCCESS)
        r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS && s->capture)
        return capture(s, p);
    if (r != CUDA_SUCCESS || !p->count) {
        sim_plan_release(p);
        return r;
    }
    struct sim_work w = {.kind = SIM_WORK_BATCH, .plan = p, .duration_ns = p->duration_ns};
    return sim_submit(s, &w);
}

CUresult sim_cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                                   CUmemcpyAttributes *attributes, size_t *first, size_t n,
                                   CUstream stream)
{
    CUresult r = CUDA_SUCCESS;
    struct sim_work w;
    if (!to || !from || !bytes || !count || !attributes || !first || !n || !stream)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_plan *p = plan_new(count);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        r = sim_copy_line(to[i], from[i], bytes[i], &w);
        if (r == CUDA_SUCCESS)
            plan_add(p, &w);
    }
    return submit(stream, p, r);
}

CUresult sim_cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                                CUmemcpyAttributes *attributes, size_t *first, size_t n,
                                size_t *failed, CUstream stream)
{
    if (failed)
        *failed = SIZE_MAX;
    return sim_cuMemcpyBatchAsync_v2(to, from, bytes, count, attributes, first, n, stream);
}

/* Lengths of rows and heights of layers are in elements of the array on the other side, or bytes.
 */
static CUresult operand(const CUmemcpy3DOperand *o, size_t unit, CUmemorytype *type, CUarray *array,
                        CUdeviceptr *p, size_t *pitch, size_t *height, size_t *x)
{
    if (o->type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
        *type = CU_MEMORYTYPE_UNIFIED;
        *p = o->op.ptr.ptr;
        *pitch = o->op.ptr.rowLength * unit;
        *height = o->op.ptr.layerHeight;
        return CUDA_SUCCESS;
    }
    *type = CU_MEMORYTYPE_ARRAY;
    *array = o->op.array.array;
    *x = o->op.array.offset.x * unit;
    return o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static size_t unit_of(const CUmemcpy3DOperand *o)
{
    bool is_array = o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY && sim_is(SIM_ARRAY, o->op.array.array);
    return is_array ? o->op.array.array->element_bytes : 1;
}

static CUresult box_work(const CUDA_MEMCPY3D_BATCH_OP *o, struct sim_work *out)
{
    CUDA_MEMCPY3D q;
    size_t unit = unit_of(&o->src) > 1 ? unit_of(&o->src) : unit_of(&o->dst);
    memset(&q, 0, sizeof(q));
    q.WidthInBytes = o->extent.width * unit;
    q.Height = o->extent.height;
    q.Depth = o->extent.depth;
    if (o->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        q.srcY = o->src.op.array.offset.y, q.srcZ = o->src.op.array.offset.z;
    if (o->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        q.dstY = o->dst.op.array.offset.y, q.dstZ = o->dst.op.array.offset.z;
    CUresult r = operand(&o->src, unit, &q.srcMemoryType, &q.srcArray, &q.srcDevice, &q.srcPitch,
                         &q.srcHeight, &q.srcXInBytes);
    if (r == CUDA_SUCCESS)
        r = operand(&o->dst, unit, &q.dstMemoryType, &q.dstArray, &q.dstDevice, &q.dstPitch,
                    &q.dstHeight, &q.dstXInBytes);
    return r == CUDA_SUCCESS ? sim_copy_of_node(&q, out) : r;
}

CUresult sim_cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *list,
                                     unsigned long long flags, CUstream stream)
{
    CUresult r = CUDA_SUCCESS;
    struct sim_work w;
    if (!count || !list || flags || !stream)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_plan *p = plan_new(count);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        r = box_work(&list[i], &w);
        if (r == CUDA_SUCCESS)
            plan_add(p, &w);
    }
    return submit(stream, p, r);
}

CUresult sim_cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed,
                                  unsigned long long flags, CUstream stream)
{
    if (failed)
        *failed = SIZE_MAX;
    return sim_cuMemcpy3DBatchAsync_v2(count, list, flags, stream);
}

CUresult sim_cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
                                           CUstream stream)
{
    return sim_cuMemcpy3DBatchAsync_v2(1, op, flags, stream);
}

CUresult sim_cuMemPrefetchBatchAsync(CUdeviceptr *at, size_t *bytes, size_t count,
                                     CUmemLocation *to, size_t *first, size_t locations,
                                     unsigned long long flags, CUstream stream)
{
    CUresult r = CUDA_SUCCESS;
    struct sim_work w;
    if (!at || !bytes || !count || !to || !first || !locations || first[0] || flags)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_plan *p = plan_new(count);
    for (size_t i = 0, k = 0; r == CUDA_SUCCESS && i < count; i++) {
        while (k + 1 < locations && first[k + 1] <= i)
            k++;
        r = sim_prefetch_work(at[i], bytes[i], to[k].type != CU_MEM_LOCATION_TYPE_DEVICE, &w);
        if (r == CUDA_SUCCESS)
            plan_add(p, &w);
    }
    return submit(stream, p, r);
}
