/* SPDX-License-Identifier: MIT */
#include "containers/arena.h"

#include <stdatomic.h>

#include "system/mem.h"

#define CHUNK_BYTES ((size_t)64 * 1024)

static bool count_mapped(struct ct_arena *a, size_t bytes, size_t limit_bytes)
{
    ct_spin_lock(&a->lock);
    bool fits = bytes <= limit_bytes && a->mapped_bytes <= limit_bytes - bytes;
    a->mapped_bytes += fits ? bytes : 0;
    ct_spin_unlock(&a->lock);
    return fits;
}

static void count_unmapped(struct ct_arena *a, size_t bytes)
{
    ct_spin_lock(&a->lock);
    a->mapped_bytes -= bytes;
    ct_spin_unlock(&a->lock);
}

static char *map_chunk(struct ct_arena *a, size_t bytes, size_t limit_bytes)
{
    if (!count_mapped(a, bytes, limit_bytes))
        return NULL;
    char *p = ct_map(bytes);
    if (!p)
        count_unmapped(a, bytes);
    return p;
}

/*
 * Where there is no room, begins *chunk, which is NULL afterwards; returns NULL without a chunk.
 * The order of the stores is for a thread that is interrupted here for good: at no point may the
 * others see more room than there is, so first the room shrinks, then the place changes.
 */
static void *take_locked(struct ct_arena *a, size_t bytes, char **chunk)
{
    if (bytes > a->left_bytes) {
        if (!*chunk)
            return NULL;
        a->left_bytes = 0;
        atomic_signal_fence(memory_order_seq_cst);
        a->next = *chunk;
        atomic_signal_fence(memory_order_seq_cst);
        a->left_bytes = CHUNK_BYTES;
        *chunk = NULL;
    }
    void *p = a->next;
    a->left_bytes -= bytes;
    atomic_signal_fence(memory_order_seq_cst);
    a->next += bytes;
    return p;
}

static void *take(struct ct_arena *a, size_t bytes, char **chunk)
{
    ct_spin_lock(&a->lock);
    void *p = take_locked(a, bytes, chunk);
    ct_spin_unlock(&a->lock);
    return p;
}

/* A piece larger than a chunk has a mapping of its own. */
void *ct_arena_take(struct ct_arena *a, size_t bytes, size_t limit_bytes)
{
    char *chunk = NULL;
    if (bytes > CHUNK_BYTES)
        return map_chunk(a, bytes, limit_bytes);
    void *p = take(a, bytes, &chunk);
    if (p || !(chunk = map_chunk(a, CHUNK_BYTES, limit_bytes)))
        return p;
    p = take(a, bytes, &chunk);
    if (chunk) { /* another thread began a chunk first */
        ct_unmap(chunk, CHUNK_BYTES);
        count_unmapped(a, CHUNK_BYTES);
    }
    return p;
}
