/* SPDX-License-Identifier: MIT */
#include "base/intern.h"

#include "base/mem.h"
#include "base/spin.h"
#include "base/table.h"
#include "base/text.h"

#define INDEX_BITS 16

/* What falls out of the index when it is full is copied once more. */
static struct {
    struct ct_spin lock;
    struct ct_arena arena;
    struct ct_table index; /* hash -> copy */
} strings;

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
    char *copy = ct_arena_take(&strings.arena, len + 1, CT_INTERN_BYTES);
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
    strings.arena = (struct ct_arena){0};
    strings.index.slots = NULL;
    ct_spin_init(&strings.lock);
}
