/* SPDX-License-Identifier: MIT */
#include "system/mem.h"

#include <errno.h>
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
