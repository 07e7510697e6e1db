/* SPDX-License-Identifier: MIT */
#include "launch/arguments.h"

#include "work/way.h"

static struct ct_work work(uint32_t kind, CUstream null_stream, CUstream stream)
{
    return (struct ct_work){
        .kind = kind,
        .stream = ct_stream_meant(null_stream, stream),
        .operations = 1,
        .op_flags = stream == CT_SYNC ? CT_OP_WAITED_FOR : 0,
    };
}

/* A call with zero bytes to move or set gives the GPU nothing: it is no operation. */
static struct ct_work sized(struct ct_work w, size_t bytes)
{
    w.bytes = bytes;
    if (!bytes)
        w.kind = 0;
    return w;
}

bool ct_is_programmatic(const CUlaunchConfig *config)
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
            config->attrs[i].value.programmaticStreamSerializationAllowed)
            return true;
    return false;
}

/* A call without a configuration is no operation: the driver refuses it. */
struct ct_work ct_work_kernel_ex(CUstream null_stream, const CUlaunchConfig *config, CUfunction f)
{
    if (!config)
        return (struct ct_work){0};
    struct ct_work w = ct_work_kernel(
        null_stream, f, (struct ct_dim3){config->gridDimX, config->gridDimY, config->gridDimZ},
        (struct ct_dim3){config->blockDimX, config->blockDimY, config->blockDimZ},
        config->sharedMemBytes, config->hStream);
    w.programmatic = ct_is_programmatic(config);
    return w;
}

struct ct_work ct_work_graph(CUstream null_stream, CUgraphExec graph, CUstream stream)
{
    struct ct_work w = work(CT_ROW_GRAPH, null_stream, stream);
    w.graph = graph;
    return w;
}

static struct ct_work copy(CUstream null_stream, enum ct_direction direction, struct ct_way way,
                           size_t bytes, CUstream stream)
{
    struct ct_work w = work(CT_ROW_COPY, null_stream, stream);
    w.detail = direction;
    w.op_flags |= ct_op_memories(way.from, way.to);
    return sized(w, bytes);
}

/* The kinds of memory that a direction implies; the host's is asked for in ct_work_copy_host(). */
static const struct ct_way ways[CT_DIRECTION_COUNT] = {
    [CT_HTOA] = {CT_MEMORY_UNKNOWN, CT_MEMORY_ARRAY, false},
    [CT_ATOH] = {CT_MEMORY_ARRAY, CT_MEMORY_UNKNOWN, false},
    [CT_ATOA] = {CT_MEMORY_ARRAY, CT_MEMORY_ARRAY, false},
    [CT_ATOD] = {CT_MEMORY_ARRAY, CT_MEMORY_DEVICE, false},
    [CT_DTOA] = {CT_MEMORY_DEVICE, CT_MEMORY_ARRAY, false},
    [CT_DTOD] = {CT_MEMORY_DEVICE, CT_MEMORY_DEVICE, false},
    [CT_PTOP] = {CT_MEMORY_DEVICE, CT_MEMORY_DEVICE, false},
};

struct ct_work ct_work_copy(CUstream null_stream, enum ct_direction direction, size_t bytes,
                            CUstream stream)
{
    return copy(null_stream, direction, ways[direction], bytes, stream);
}

struct ct_work ct_work_copy_host(CUstream null_stream, enum ct_direction direction,
                                 const void *host, size_t bytes, CUstream stream)
{
    struct ct_way way = ways[direction];
    *(direction == CT_HTOA ? &way.from : &way.to) = ct_memory_of_host(host);
    return copy(null_stream, direction, way, bytes, stream);
}

static struct ct_work copy_way(CUstream null_stream, struct ct_way way, size_t bytes,
                               CUstream stream)
{
    return copy(null_stream, ct_direction_of(way), way, bytes, stream);
}

struct ct_work ct_work_copy_any(CUstream null_stream, CUdeviceptr to, CUdeviceptr from,
                                size_t bytes, CUstream stream)
{
    return copy_way(null_stream, ct_way_between(from, to), bytes, stream);
}

struct ct_work ct_work_copy_peer(CUstream null_stream, CUcontext to, CUcontext from, size_t bytes,
                                 CUstream stream)
{
    return ct_work_copy(null_stream, to == from ? CT_DTOD : CT_PTOP, bytes, stream);
}

/* The two- and three-dimensional parameter structures differ in their types, not in these names. */
#define COPY_BETWEEN(p, null_stream, bytes, stream)                                                \
    (p ? copy_way(null_stream,                                                                     \
                  ct_way_of_ends((struct ct_end){p->srcMemoryType, p->srcHost, p->srcDevice},      \
                                 (struct ct_end){p->dstMemoryType, p->dstHost, p->dstDevice}),     \
                  bytes, stream)                                                                   \
       : (struct ct_work){0})

struct ct_work ct_work_copy_2d(CUstream null_stream, const CUDA_MEMCPY2D *p, CUstream stream)
{
    return COPY_BETWEEN(p, null_stream, p->WidthInBytes * p->Height, stream);
}

struct ct_work ct_work_copy_2d_v1(CUstream null_stream, const CUDA_MEMCPY2D_v1 *p, CUstream stream)
{
    return COPY_BETWEEN(p, null_stream, (size_t)p->WidthInBytes * p->Height, stream);
}

struct ct_work ct_work_copy_3d(CUstream null_stream, const CUDA_MEMCPY3D *p, CUstream stream)
{
    return COPY_BETWEEN(p, null_stream, p->WidthInBytes * p->Height * p->Depth, stream);
}

struct ct_work ct_work_copy_3d_v1(CUstream null_stream, const CUDA_MEMCPY3D_v1 *p, CUstream stream)
{
    return COPY_BETWEEN(p, null_stream, (size_t)p->WidthInBytes * p->Height * p->Depth, stream);
}

struct ct_work ct_work_copy_3d_peer(CUstream null_stream, const CUDA_MEMCPY3D_PEER *p,
                                    CUstream stream)
{
    if (p && p->srcContext != p->dstContext && p->srcMemoryType != CU_MEMORYTYPE_HOST &&
        p->dstMemoryType != CU_MEMORYTYPE_HOST)
        return ct_work_copy(null_stream, CT_PTOP, p->WidthInBytes * p->Height * p->Depth, stream);
    return COPY_BETWEEN(p, null_stream, p->WidthInBytes * p->Height * p->Depth, stream);
}

static size_t sum(const size_t *bytes, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; bytes && i < count; i++)
        total += bytes[i];
    return total;
}

struct ct_work ct_work_set(CUstream null_stream, size_t bytes, CUstream stream)
{
    return sized(work(CT_ROW_SET, null_stream, stream), bytes);
}

struct ct_work ct_work_prefetch(CUstream null_stream, size_t bytes, CUstream stream)
{
    return sized(work(CT_ROW_PREFETCH, null_stream, stream), bytes);
}

struct ct_work ct_work_prefetch_batch(CUstream null_stream, const size_t *bytes, size_t count,
                                      CUstream stream)
{
    return ct_work_prefetch(null_stream, sum(bytes, count), stream);
}

static void open_all(struct ct_multi *m, struct ct_thread *t)
{
    for (unsigned i = 0; i < m->count; i++)
        ct_bracket_open(&m->bracket[i], &m->work[i], t);
}

void ct_multi_open(struct ct_multi *m, const CUDA_LAUNCH_PARAMS *list, unsigned count,
                   struct ct_thread *t)
{
    m->count = list ? (unsigned)ct_min(count, CT_MULTI) : 0;
    for (unsigned i = 0; i < m->count; i++) {
        const CUDA_LAUNCH_PARAMS *p = &list[i];
        m->work[i] = ct_work_kernel(CU_STREAM_LEGACY, p->function,
                                    (struct ct_dim3){p->gridDimX, p->gridDimY, p->gridDimZ},
                                    (struct ct_dim3){p->blockDimX, p->blockDimY, p->blockDimZ},
                                    p->sharedMemBytes, p->hStream);
    }
    open_all(m, t);
}

static void batch_start(struct ct_multi *m, CUstream null_stream, CUstream stream)
{
    m->count = 0;
    m->work[0] = work(CT_ROW_COPY, null_stream, stream);
}

/* Copies of one direction may differ in their kinds of memory, which then count as unknown. */
static void batch_join(struct ct_work *w, struct ct_way way)
{
    enum ct_memory from = ct_op_from(w->op_flags), to = ct_op_to(w->op_flags);
    w->op_flags &= ~ct_op_memories(from != way.from ? from : CT_MEMORY_UNKNOWN,
                                   to != way.to ? to : CT_MEMORY_UNKNOWN);
}

/* A copy joins the operation of its direction; directions are few. */
static void batch_add(struct ct_multi *m, struct ct_way way, uint64_t bytes)
{
    unsigned i = 0;
    enum ct_direction direction = ct_direction_of(way);
    if (!bytes)
        return;
    while (i < m->count && m->work[i].detail != direction)
        i++;
    if (i == m->count) {
        m->work[i] = m->work[0];
        m->work[i].detail = direction;
        m->work[i].op_flags = ct_op_memories(way.from, way.to);
        m->work[i].operations = m->work[i].bytes = 0;
        m->count++;
    }
    batch_join(&m->work[i], way);
    m->work[i].operations++;
    m->work[i].bytes += bytes;
}

/* A batch is timed as a whole: of several directions in it none has a time of its own. */
static void batch_open(struct ct_multi *m, struct ct_thread *t)
{
    for (unsigned i = 0; m->count > 1 && i < m->count; i++)
        m->work[i].mixed = true;
    open_all(m, t);
}

void ct_batch_open(struct ct_multi *m, CUstream null_stream, const CUdeviceptr *to,
                   const CUdeviceptr *from, const size_t *bytes, size_t count, CUstream stream,
                   struct ct_thread *t)
{
    batch_start(m, null_stream, stream);
    for (size_t i = 0; to && from && bytes && i < count; i++)
        batch_add(m, ct_way_between(from[i], to[i]), bytes[i]);
    batch_open(m, t);
}

static struct ct_end end_of(const CUmemcpy3DOperand *o)
{
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return (struct ct_end){.type = CU_MEMORYTYPE_ARRAY};
    return (struct ct_end){.type = CU_MEMORYTYPE_UNIFIED, .device = o->op.ptr.ptr};
}

/* An extent counts elements of the array at either end, or bytes where neither end is an array. */
static size_t unit_of(const CUDA_MEMCPY3D_BATCH_OP *o)
{
    const CUmemcpy3DOperand *array =
        o->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? &o->src : &o->dst;
    bool is_array = array->type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
    return is_array ? ct_array_element_bytes(array->op.array.array) : 1;
}

void ct_batch_3d_open(struct ct_multi *m, CUstream null_stream, size_t count,
                      const CUDA_MEMCPY3D_BATCH_OP *ops, CUstream stream, struct ct_thread *t)
{
    batch_start(m, null_stream, stream);
    for (size_t i = 0; ops && i < count; i++) {
        const CUextent3D *e = &ops[i].extent;
        batch_add(m, ct_way_of_ends(end_of(&ops[i].src), end_of(&ops[i].dst)),
                  (uint64_t)e->width * e->height * e->depth * unit_of(&ops[i]));
    }
    batch_open(m, t);
}

void ct_multi_close(struct ct_multi *m, CUresult result, uint64_t call_ticks, uint64_t done_ticks)
{
    for (unsigned i = 0; i < m->count; i++)
        ct_bracket_close(&m->bracket[i], &m->work[i], result, call_ticks, done_ticks);
}
