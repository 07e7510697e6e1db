/* SPDX-License-Identifier: MIT */
#include "containers/intern.h"

#include "base/text.h"
#include "containers/arena.h"
#include "containers/table.h"
#include "system/mem.h"
#include "system/spin.h"

#define INDEX_BITS 16

/* Texts that fall out of the index when it is emptied are copied once more. */
static CT_PROCESS struct {
    struct ct_spin lock; /* for publishing a copy, and the index */
    struct ct_arena arena;
    struct ct_table index; /* hash -> copy */
    atomic_bool has_index;
} strings;

static bool has_index(void)
{
    return atomic_load_explicit(&strings.has_index, memory_order_acquire);
}

static const char *find(uint64_t key, const char *s, size_t len)
{
    uint64_t known;
    if (!has_index() || !ct_table_find(&strings.index, key, &known))
        return NULL;
    const char *copy = (const char *)(uintptr_t)known;
    return ct_same_text(copy, s, len) ? copy : NULL;
}

/* Several threads may make an index: that of the first stays. */
static void make_index(void)
{
    struct ct_table_slot *slots = ct_map(ct_table_bytes(INDEX_BITS));
    if (!slots)
        return;
    ct_spin_lock(&strings.lock);
    bool is_first = !has_index();
    if (is_first) {
        ct_table_begin(&strings.index, slots, INDEX_BITS);
        atomic_store_explicit(&strings.has_index, true, memory_order_release);
    }
    ct_spin_unlock(&strings.lock);
    if (!is_first)
        ct_unmap(slots, ct_table_bytes(INDEX_BITS));
}

/* Publishes a copy; returns another thread's if that was first with the string. */
static const char *tell(uint64_t key, const char *copy, size_t len)
{
    if (!has_index())
        make_index();
    if (!has_index())
        return copy;
    ct_table_make_room(&strings.index);
    ct_spin_lock(&strings.lock);
    const char *known = find(key, copy, len);
    if (!known)
        ct_table_add(&strings.index, key, (uintptr_t)copy);
    ct_spin_unlock(&strings.lock);
    return known ? known : copy;
}

/* Copies, and maps memory, before any lock that others wait for. */
const char *ct_intern(const char *s, size_t len)
{
    uint64_t key = ct_hash_bytes(s, len) | 1;
    const char *known = find(key, s, len);
    if (known)
        return known;
    char *copy = ct_arena_take(&strings.arena, len + 1, CT_INTERN_BYTES);
    if (!copy)
        return NULL;
    __builtin_memcpy(copy, s, len);
    copy[len] = '\0';
    return tell(key, copy, len);
}
