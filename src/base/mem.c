/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <sys/mman.h>

#include "base/spin.h"

#define CHUNK_BYTES (64 * 1024)

void *ct_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
    if (need > b->size_bytes && !grow(b, need))
        return NULL;
    void *p = b->data + b->len_bytes;
    b->len_bytes = need;
    return p;
}

/* Interned strings lie in chunks that are never given back: names live as long as the process. */
static struct {
    struct ct_spin lock;
    char *next;
    size_t left_bytes;
} strings;

static char *take(size_t bytes)
{
    if (bytes > CHUNK_BYTES)
        return ct_map(bytes);
    if (bytes > strings.left_bytes) {
        char *chunk = ct_map(CHUNK_BYTES);
        if (!chunk)
            return NULL;
        strings.next = chunk;
        strings.left_bytes = CHUNK_BYTES;
    }
    char *p = strings.next;
    strings.next += bytes;
    strings.left_bytes -= bytes;
    return p;
}

const char *ct_intern(const char *s, size_t len)
{
    ct_spin_lock(&strings.lock);
    char *copy = take(len + 1);
    ct_spin_unlock(&strings.lock);
    if (!copy)
        return NULL;
    __builtin_memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

void ct_intern_forget(void)
{
    strings.next = NULL;
    strings.left_bytes = 0;
    ct_spin_init(&strings.lock);
}
