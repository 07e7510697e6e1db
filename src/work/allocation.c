/* SPDX-License-Identifier: MIT */
#include "work/allocation.h"

#include <sched.h>

#include "base/config.h"
#include "containers/chains.h"
#include "state/context.h"
#include "system/mem.h"
#include "system/spin.h"
#include "work/block_sizes.h"

#define CHAIN_BITS 17
#define STEP 32 /* blocks looked at in one hold of the lock */
_Static_assert(CT_ALLOCATIONS_LISTED == CT_BLOCK_SIZES_TOLD, "the list has what is told");

struct allocations {
    struct ct_spin lock;
    struct ct_file_memory figures[CT_DEVICES][CT_ALLOCATION_COUNT];
    struct ct_chains index; /* by key */
    struct ct_allocated block[CT_ALLOCATIONS_FOLLOWED];
    struct ct_block_sizes sizes;
};

static CT_PROCESS struct allocations *all;

bool ct_allocations_init(void)
{
    if (ct_config.without_memory)
        return true;
    struct allocations *a = ct_map(sizeof(*a));
    if (!a || !ct_chains_init(&a->index, CHAIN_BITS, CT_ALLOCATIONS_FOLLOWED) ||
        !ct_block_sizes_init(&a->sizes, CT_ALLOCATIONS_FOLLOWED))
        return false;
    all = a;
    return true;
}

bool ct_allocations_are_on(void)
{
    return all != NULL;
}

/* ---- the table ---- */

static struct ct_allocated *find(uint64_t key)
{
    uint32_t i = ct_chains_first(&all->index, ct_chains_hash(key));
    while (i != CT_CHAINS_NONE && all->block[i].key != key)
        i = ct_chains_next(&all->index, i);
    return i == CT_CHAINS_NONE ? NULL : &all->block[i];
}

static struct ct_file_block size_of(const struct ct_allocated *b)
{
    return (struct ct_file_block){.device = b->device, .kind = b->kind, .bytes = b->bytes};
}

static bool put(const struct ct_allocated *new)
{
    uint32_t i = ct_chains_take(&all->index, ct_chains_hash(new->key));
    if (i == CT_CHAINS_NONE)
        return false;
    all->block[i] = *new;
    ct_block_sizes_add(&all->sizes, size_of(new));
    return true;
}

static void remove_block(struct ct_allocated *gone)
{
    ct_block_sizes_remove(&all->sizes, size_of(gone));
    ct_chains_give(&all->index, ct_chains_hash(gone->key), (uint32_t)(gone - all->block));
    gone->kind = 0;
}

/* ---- figures ---- */

static struct ct_file_memory *figures_of(uint32_t device, uint32_t kind)
{
    return &all->figures[ct_min(device, CT_DEVICES - 1)][kind];
}

/* Applies f to the figures of the block's kind and, on a device, to those of its whole memory. */
static void each_sum(const struct ct_allocated *b,
                     void (*f)(struct ct_file_memory *, uint64_t bytes))
{
    f(figures_of(b->device, b->kind), b->bytes);
    if (ct_allocation_is_on_device(b->kind))
        f(figures_of(b->device, CT_ALLOCATION_ON_DEVICE), b->bytes);
}

static void allocated(struct ct_file_memory *m, uint64_t bytes)
{
    m->allocations++;
    m->bytes += bytes;
}

static void unfollowed(struct ct_file_memory *m, uint64_t bytes)
{
    m->unfollowed++;
    m->unfollowed_bytes += bytes;
}

static void held(struct ct_file_memory *m, uint64_t bytes)
{
    m->held++;
    m->held_bytes += bytes;
    m->peak_bytes = ct_max(m->peak_bytes, m->held_bytes);
}

static void released(struct ct_file_memory *m, uint64_t bytes)
{
    m->held--;
    m->held_bytes -= bytes;
}

static void freed(struct ct_file_memory *m, uint64_t bytes)
{
    m->frees++;
    released(m, bytes);
}

static void kept(struct ct_file_memory *m, uint64_t bytes)
{
    m->frees--;
    held(m, bytes);
}

static void ended(struct ct_file_memory *m, uint64_t bytes)
{
    m->ended++;
    released(m, bytes);
}

static void failed(struct ct_file_memory *m, uint64_t bytes)
{
    m->failed++;
    m->failed_most_bytes = ct_max(m->failed_most_bytes, bytes);
}

/* A block whose address came again was freed by a call that was not seen. */
static void missed(struct ct_file_memory *m, uint64_t bytes)
{
    m->unseen_frees++;
    released(m, bytes);
}

/* ---- events ---- */

static void put_locked(const struct ct_allocated *b,
                       void (*count)(struct ct_file_memory *, uint64_t))
{
    struct ct_allocated *before = find(b->key);
    if (before) {
        each_sum(before, missed);
        remove_block(before);
    }
    each_sum(b, put(b) ? count : unfollowed);
}

void ct_allocations_add(struct ct_allocated block)
{
    ct_spin_lock(&all->lock);
    each_sum(&block, allocated);
    put_locked(&block, held);
    ct_spin_unlock(&all->lock);
}

void ct_allocations_failed(uint32_t kind, uint32_t device, uint64_t bytes)
{
    ct_spin_lock(&all->lock);
    each_sum(&(struct ct_allocated){.bytes = bytes, .kind = kind, .device = (uint16_t)device},
             failed);
    ct_spin_unlock(&all->lock);
}

struct ct_allocated ct_allocations_free(uint64_t key, uint32_t kind, uint32_t device)
{
    ct_spin_lock(&all->lock);
    struct ct_allocated *known = find(key);
    struct ct_allocated block = {.kind = kind, .device = (uint16_t)device};
    if (known)
        block = *known;
    if (!known) {
        figures_of(device, kind)->unknown_frees++;
    } else if (block.references) {
        known->references--;
    } else {
        each_sum(&block, freed);
        remove_block(known);
    }
    ct_spin_unlock(&all->lock);
    return block;
}

static void retain_locked(uint64_t key)
{
    struct ct_allocated *b = find(key);
    if (b && b->references < UINT16_MAX)
        b->references++;
}

void ct_allocations_keep(struct ct_allocated block)
{
    ct_spin_lock(&all->lock);
    if (!block.key)
        figures_of(block.device, block.kind)->unknown_frees--;
    else if (block.references)
        retain_locked(block.key);
    else
        put_locked(&block, kept);
    ct_spin_unlock(&all->lock);
}

void ct_allocations_retain(uint64_t key)
{
    ct_spin_lock(&all->lock);
    retain_locked(key);
    ct_spin_unlock(&all->lock);
}

/* Ends blocks from a place on; returns the place to go on from, or CT_CHAINS_NONE. */
static uint32_t end_some_locked(CUcontext context, uint32_t from)
{
    uint32_t to = (uint32_t)ct_min(from + STEP, all->index.met);
    for (uint32_t i = from; i < to; i++) {
        struct ct_allocated *b = &all->block[i];
        if (!b->kind || b->context != context)
            continue;
        each_sum(b, ended);
        remove_block(b);
    }
    return to < all->index.met ? to : CT_CHAINS_NONE;
}

/* In pieces, between which other threads may have the lock: no block moves meanwhile. */
void ct_allocations_end(CUcontext context)
{
    if (!all || !context)
        return;
    for (uint32_t at = 0; at != CT_CHAINS_NONE;) {
        ct_spin_lock(&all->lock);
        at = end_some_locked(context, at);
        ct_spin_unlock(&all->lock);
        if (at != CT_CHAINS_NONE)
            sched_yield();
    }
}

/* ---- for the file ---- */

bool ct_allocations_figures(uint32_t device, uint32_t kind, struct ct_file_memory *figures)
{
    static const struct ct_file_memory none;
    if (!all || device >= CT_DEVICES)
        return false;
    ct_spin_lock(&all->lock);
    *figures = all->figures[device][kind];
    ct_spin_unlock(&all->lock);
    bool known = __builtin_memcmp(figures, &none, sizeof(none));
    figures->device = device;
    figures->kind = kind;
    return known;
}

uint32_t ct_allocations_list(struct ct_file_block list[CT_ALLOCATIONS_LISTED + 1])
{
    struct ct_file_block rest = {.kind = CT_ALLOCATION_ON_DEVICE};
    if (!all)
        return 0;
    ct_spin_lock(&all->lock);
    uint32_t count = ct_block_sizes_largest(&all->sizes, list, &rest);
    ct_spin_unlock(&all->lock);
    if (rest.count)
        list[count++] = rest;
    return count;
}
