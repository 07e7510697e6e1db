/* SPDX-License-Identifier: MIT */
/*
 * From a call's arguments to a struct ct_work: a function for each operation kind of
 * driver_api.def. `null_stream`, which the row's form decides, stands in for a zero stream and for
 * CT_SYNC: the stream of a call that has no stream argument and returns when its work is done.
 */
#ifndef CT_ARGUMENTS_H
#define CT_ARGUMENTS_H

#include "base/base.h"
#include "counts/pass.h"
#include "cuda/api.h"
#include "launch/bracket.h"
#include "launch/replica_launch.h"

#define CT_SYNC ((CUstream)UINTPTR_MAX)

struct ct_dim3 {
    uint32_t x, y, z;
};

static inline CUstream ct_stream_meant(CUstream null_stream, CUstream stream)
{
    return stream && stream != CT_SYNC ? stream : null_stream;
}

/* Built in one piece: to copy a struct that is still being written makes the processor wait. */
static inline struct ct_work ct_work_kernel(CUstream null_stream, CUfunction f, struct ct_dim3 grid,
                                            struct ct_dim3 block, size_t shared_bytes,
                                            CUstream stream)
{
    return (struct ct_work){
        .kind = CT_ROW_KERNEL,
        .function = f,
        .stream = ct_stream_meant(null_stream, stream),
        .operations = 1,
        .shape = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes},
    };
}

static inline bool ct_may_pass(const struct ct_thread *t)
{
    return ct_unlikely(ct_pass_is_on) && ct_likely(t && !(t->driver_depth | t->nccl_depth));
}

/* The cost of passing is measured at one launch in so many: its begin in ticks; otherwise 0. */
#define CT_PASS_MEASURED 61
CT_INLINE uint64_t ct_pass_begin(struct ct_thread *t)
{
    if (!ct_may_pass(t) || ct_likely(++t->unmeasured < CT_PASS_MEASURED))
        return 0;
    t->unmeasured = 0;
    return ct_ticks();
}

/* The entry of a launch that goes by without a look; NULL: the launch has to be looked at. */
CT_INLINE struct ct_pass *ct_pass_kernel(struct ct_thread *t, CUstream null_stream, CUfunction f,
                                         struct ct_dim3 grid, struct ct_dim3 block,
                                         size_t shared_bytes, CUstream stream)
{
    if (!ct_may_pass(t))
        return NULL;
    return ct_pass_take(t->passes, f, (uint32_t[]){grid.x, grid.y, grid.z},
                        (uint32_t[]){block.x, block.y, block.z}, shared_bytes,
                        ct_stream_meant(null_stream, stream));
}

bool ct_is_programmatic(const CUlaunchConfig *config);

CT_INLINE struct ct_pass *ct_pass_kernel_ex(struct ct_thread *t, CUstream null_stream,
                                            const CUlaunchConfig *c, CUfunction f)
{
    if (ct_unlikely(!c) || (c->numAttrs && ct_is_programmatic(c)))
        return NULL;
    return ct_pass_kernel(
        t, null_stream, f, (struct ct_dim3){c->gridDimX, c->gridDimY, c->gridDimZ},
        (struct ct_dim3){c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, c->hStream);
}

CT_INLINE struct ct_pass *ct_pass_graph(struct ct_thread *t, CUstream null_stream,
                                        CUgraphExec graph, CUstream stream)
{
    static const uint32_t no_shape[3];
    if (!ct_may_pass(t))
        return NULL;
    struct ct_pass *p =
        ct_pass_take(t->passes, graph, no_shape, no_shape, 0, ct_stream_meant(null_stream, stream));
    return p && ct_replica_pass(graph, ct_stream(p->stream_index)) ? p : NULL;
}

struct ct_work ct_work_kernel_ex(CUstream null_stream, const CUlaunchConfig *config, CUfunction f);
struct ct_work ct_work_graph(CUstream null_stream, CUgraphExec graph, CUstream stream);
struct ct_work ct_work_copy(CUstream null_stream, enum ct_direction direction, size_t bytes,
                            CUstream stream);
/* Copies between an array and the host; the driver is asked for the kind of the host's memory. */
struct ct_work ct_work_copy_host(CUstream null_stream, enum ct_direction direction,
                                 const void *host, size_t bytes, CUstream stream);
/* The addresses tell the direction: a copy "to the device" may go to pinned host memory. */
struct ct_work ct_work_copy_any(CUstream null_stream, CUdeviceptr to, CUdeviceptr from,
                                size_t bytes, CUstream stream);
struct ct_work ct_work_copy_peer(CUstream null_stream, CUcontext to, CUcontext from, size_t bytes,
                                 CUstream stream);
struct ct_work ct_work_copy_2d(CUstream null_stream, const CUDA_MEMCPY2D *p, CUstream stream);
struct ct_work ct_work_copy_2d_v1(CUstream null_stream, const CUDA_MEMCPY2D_v1 *p, CUstream stream);
struct ct_work ct_work_copy_3d(CUstream null_stream, const CUDA_MEMCPY3D *p, CUstream stream);
struct ct_work ct_work_copy_3d_v1(CUstream null_stream, const CUDA_MEMCPY3D_v1 *p, CUstream stream);
struct ct_work ct_work_copy_3d_peer(CUstream null_stream, const CUDA_MEMCPY3D_PEER *p,
                                    CUstream stream);
struct ct_work ct_work_set(CUstream null_stream, size_t bytes, CUstream stream);
struct ct_work ct_work_prefetch(CUstream null_stream, size_t bytes, CUstream stream);
struct ct_work ct_work_prefetch_batch(CUstream null_stream, const size_t *bytes, size_t count,
                                      CUstream stream);

/* Operations of one call, a bracket each; of a launch on many devices only so many have one. */
#define CT_MULTI 16

struct ct_multi {
    unsigned count;
    struct ct_work work[CT_MULTI];
    struct ct_bracket bracket[CT_MULTI];
};

void ct_multi_open(struct ct_multi *m, const CUDA_LAUNCH_PARAMS *list, unsigned count,
                   struct ct_thread *t);
/* A batch of copies: an operation for each direction. */
void ct_batch_open(struct ct_multi *m, CUstream null_stream, const CUdeviceptr *to,
                   const CUdeviceptr *from, const size_t *bytes, size_t count, CUstream stream,
                   struct ct_thread *t);
void ct_batch_3d_open(struct ct_multi *m, CUstream null_stream, size_t count,
                      const CUDA_MEMCPY3D_BATCH_OP *ops, CUstream stream, struct ct_thread *t);
void ct_multi_close(struct ct_multi *m, CUresult result, uint64_t call_ticks, uint64_t done_ticks);

#endif
