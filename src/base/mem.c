/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define CHUNK_BYTES (64 * 1024)

void *ct_map(size_t bytes)
{
    int saved_errno = errno;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved_errno;
    return p == MAP_FAILED ? NULL : p;
}

void ct_unmap(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

static bool grow(struct ct_buffer *b, size_t need_bytes)
{
    size_t size = b->size_bytes ? b->size_bytes : CHUNK_BYTES;
    while (size < need_bytes)
        size *= 2;
    char *data = ct_map(size);
    if (!data)
        return false;
    if (b->len_bytes)
        __builtin_memcpy(data, b->data, b->len_bytes);
    ct_unmap(b->data, b->size_bytes);
    b->data = data;
    b->size_bytes = size;
    return true;
}

void *ct_buffer_add(struct ct_buffer *b, size_t len_bytes)
{
    size_t need = b->len_bytes + len_bytes;
    if ((need > b->size_bytes || !b->data) && !grow(b, need))
        return NULL;
    void *p = b->data + b->len_bytes;
    b->len_bytes = need;
    return p;
}

static char *map_chunk(struct ct_arena *a, size_t bytes, size_t limit_bytes)
{
    char *p = bytes <= limit_bytes && a->mapped_bytes <= limit_bytes - bytes ? ct_map(bytes) : NULL;
    if (p)
        a->mapped_bytes += bytes;
    return p;
}

/*
 * What is larger than a chunk has one of its own. Who is interrupted here for good must not leave
 * the others more room than there is: so there is first less, then another place.
 */
void *ct_arena_take(struct ct_arena *a, size_t bytes, size_t limit_bytes)
{
    if (bytes > CHUNK_BYTES)
        return map_chunk(a, bytes, limit_bytes);
    if (bytes > a->left_bytes) {
        char *chunk = map_chunk(a, CHUNK_BYTES, limit_bytes);
        if (!chunk)
            return NULL;
        a->left_bytes = 0;
        atomic_signal_fence(memory_order_seq_cst);
        a->next = chunk;
        atomic_signal_fence(memory_order_seq_cst);
        a->left_bytes = CHUNK_BYTES;
    }
    void *p = a->next;
    a->left_bytes -= bytes;
    atomic_signal_fence(memory_order_seq_cst);
    a->next += bytes;
    return p;
}
