/* SPDX-License-Identifier: MIT */
#include "base/intern.h"

#include "base/mem.h"
#include "base/spin.h"
#include "base/table.h"
#include "base/text.h"

#define CHUNK_BYTES ((size_t)64 * 1024)
#define INDEX_BITS 16

/* Chunks are never given back. What falls out of the index when it is full is copied once more. */
static struct {
    struct ct_spin lock;
    char *next;
    size_t left_bytes;
    size_t total_bytes;
    struct ct_table index; /* hash -> copy */
} strings;

static char *take_chunk(size_t bytes)
{
    if (strings.total_bytes + bytes > CT_INTERN_BYTES)
        return NULL;
    char *p = ct_map(bytes);
    if (p)
        strings.total_bytes += bytes;
    return p;
}

static char *take(size_t bytes)
{
    if (bytes > CHUNK_BYTES)
        return take_chunk(bytes);
    if (bytes > strings.left_bytes) {
        char *chunk = take_chunk(CHUNK_BYTES);
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

static const char *find(uint64_t key, const char *s, size_t len)
{
    uint64_t known;
    if (!strings.index.slots || !ct_table_find(&strings.index, key, &known))
        return NULL;
    const char *copy = (const char *)(uintptr_t)known;
    return ct_same_text(copy, s, len) ? copy : NULL;
}

static const char *add(uint64_t key, const char *s, size_t len)
{
    char *copy = take(len + 1);
    if (!copy)
        return NULL;
    __builtin_memcpy(copy, s, len);
    copy[len] = '\0';
    if (strings.index.slots || ct_table_init(&strings.index, INDEX_BITS))
        ct_table_put(&strings.index, key, (uintptr_t)copy);
    return copy;
}

const char *ct_intern(const char *s, size_t len)
{
    uint64_t key = ct_hash_bytes(s, len) | 1;
    ct_spin_lock(&strings.lock);
    const char *copy = find(key, s, len);
    if (!copy)
        copy = add(key, s, len);
    ct_spin_unlock(&strings.lock);
    return copy;
}

void ct_intern_forget(void)
{
    strings.next = NULL;
    strings.left_bytes = strings.total_bytes = 0;
    strings.index.slots = NULL;
    ct_spin_init(&strings.lock);
}
