/* SPDX-License-Identifier: MIT */
/*
 * Launches that are passed over without being looked at: where operations are sampled, it is drawn
 * in advance how many launches of the same kernel, stream and shape, or of the same executable
 * graph and stream, go by before one is a candidate for being timed. Till then a launch costs a
 * comparison and a few counters, all of them the thread's.
 *
 * Findings about a launch hold until somebody calls ct_pass_renew(): then the next launch is looked
 * at again. The rest of a drawn number may be thrown away at any time, as launches to come do not
 * depend on it.
 */
#ifndef CT_PASS_H
#define CT_PASS_H

#include <stdatomic.h>

#include "base/base.h"
#include "counts/cluster.h"
#include "counts/tally.h"
#include "cuda/api.h"
#include "state/renewal.h"
#include "state/stream.h"
#include "time/op.h"

#define CT_PASSES 512 /* in each thread */

/* A kind of launch: fields for each launch, in a cache line. Owned by the launching thread. */
struct ct_pass {
    _Alignas(CT_CACHE_LINE) const void *handle; /* a kernel or an executable graph */
    CUstream stream;
    uint32_t grid[3]; /* a graph's shape is all 0, as no kernel's is */
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t left;          /* launches that go by before one is looked at */
    _Atomic uint64_t count; /* launches that went by; read by the drain thread */
    uint32_t generation;
    uint16_t stream_index;
    bool takes_turns : 1; /* ct_stream_take_turn() */
    bool candidate : 1;   /* the launch after `left` is to be timed; otherwise draw again */
    bool in_clusters : 1; /* launches are timed in clusters as well */
};
_Static_assert(sizeof(struct ct_pass) == CT_CACHE_LINE, "one cache line");
_Static_assert(CT_STREAMS <= UINT16_MAX + 1, "a stream's index has 16 bits");

/* Account for which a slot counts. Changes only when all that was counted has been taken. */
struct ct_pass_account {
    _Alignas(CT_CACHE_LINE) uint32_t row;
    uint32_t last_row; /* becomes the stream's */
    uint32_t loss;
    uint32_t cell;
    uint32_t every; /* rate of the draw of `left`: one in so many */
    uint64_t stream_id;
    CUcontext context;      /* default streams of all contexts have one handle */
    _Atomic uint64_t taken; /* part of `count` that the drain thread has taken */
};

struct ct_passes {
    struct ct_cluster cluster;
    struct ct_pass pass[CT_PASSES];
    struct ct_pass_account account[CT_PASSES];
    _Atomic uint64_t used[CT_PASSES / 64]; /* a bit for each slot that was ever armed */
};

/* Whether launches can be passed over at all: set once, before the first launch. */
extern bool ct_pass_is_on;

void ct_pass_init(bool on);

CT_INLINE struct ct_pass *ct_pass_slot(struct ct_passes *all, const void *handle, CUstream stream,
                                       uint32_t grid_x, uint32_t grid_y, uint32_t block_x)
{
    uint64_t x = ((uintptr_t)handle >> 4) + ((uintptr_t)stream >> 3) * 5 + grid_x * (uint64_t)9;
    x += ((uint64_t)grid_y << 40) + ((uint64_t)block_x << 20);
    return &all->pass[x * 0x9e3779b97f4a7c15u >> 55];
}
_Static_assert(CT_PASSES == 1 << (64 - 55), "a slot is chosen by so many bits");

static inline struct ct_pass_account *ct_pass_account(struct ct_passes *all,
                                                      const struct ct_pass *p)
{
    return &all->account[p - all->pass];
}

/* Whether the context that the launch is for is current. */
bool ct_pass_is_current(struct ct_passes *all, const struct ct_pass *p);

CT_INLINE bool ct_pass_has_turn(const struct ct_pass *p)
{
    uint32_t context =
        atomic_load_explicit(&ct_stream(p->stream_index)->context, memory_order_relaxed);
    uint32_t turns = atomic_load_explicit(&ct_context(context)->turns, memory_order_relaxed);
    return (turns & 1) == (p->stream == CU_STREAM_LEGACY);
}

/* Returns the slot of a launch that goes by; NULL: the launch has to be looked at. */
CT_INLINE struct ct_pass *ct_pass_take(struct ct_passes *all, const void *handle,
                                       const uint32_t *grid, const uint32_t *block,
                                       size_t shared_bytes, CUstream stream)
{
    struct ct_pass *p = ct_pass_slot(all, handle, stream, grid[0], grid[1], block[0]);
    if (!p->left || (all->cluster.is_open && p->in_clusters) || p->handle != handle ||
        p->stream != stream || p->grid[0] != grid[0] || p->grid[1] != grid[1] ||
        p->grid[2] != grid[2] || p->block[0] != block[0] || p->block[1] != block[1] ||
        p->block[2] != block[2] || p->shared_bytes != shared_bytes ||
        p->generation != atomic_load_explicit(&ct_pass_generation, memory_order_relaxed))
        return NULL;
    if ((uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD && !ct_pass_is_current(all, p))
        return NULL;
    if (p->takes_turns && !ct_pass_has_turn(p))
        return NULL;
    return p;
}

/* Measures the cost of a launch that goes by: before the real call, and from its end on. */
CT_COLD void ct_pass_measured(uint64_t begin_ticks, uint64_t call_ticks, uint64_t done_ticks);

CT_COLD void ct_pass_failed(struct ct_passes *all, const struct ct_pass *p);

/* The launch that went by has been made. */
CT_INLINE void ct_pass_made(struct ct_passes *all, struct ct_pass *p, CUresult result)
{
    p->left--;
    if (p->in_clusters)
        ct_cluster_passed(&all->cluster);
    if (ct_unlikely(result != CUDA_SUCCESS)) {
        ct_pass_failed(all, p);
        return;
    }
    uint64_t n = atomic_load_explicit(&p->count, memory_order_relaxed);
    atomic_store_explicit(&p->count, n + 1, memory_order_release);
    ct_stream_passed(ct_stream(p->stream_index), ct_pass_account(all, p)->last_row);
}

/* Findings about a launch that was looked at. */
struct ct_pass_finding {
    const void *handle;
    CUstream stream; /* as the program knows it */
    const struct ct_shape *shape;
    struct ct_stream *known_stream;
    struct ct_context *context;
    uint32_t row;
    uint32_t last_row;   /* stream's, from then on */
    uint32_t cell;       /* or CT_CELL_NONE: such launches are never timed */
    enum ct_loss loss;   /* reason under which launches that go by are counted */
    uint32_t generation; /* ct_pass_generation before the look */
};

/* Whether the turn of a launch that is not passed over was drawn in advance. */
struct ct_drawn ct_pass_candidate(struct ct_passes *all, const struct ct_pass_finding *f);

/* Draws how many such launches go by from now on. */
void ct_pass_arm(struct ct_passes *all, const struct ct_pass_finding *f, uint64_t *random);

/* Drain thread: counts launches that went by for rows, cells, streams; false: there were none. */
bool ct_passes_collect(struct ct_passes *all);
/* Drain thread: number of launches that it has counted as gone by. */
uint64_t ct_passes_collected(void);

#endif
