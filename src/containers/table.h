/* SPDX-License-Identifier: MIT */
/*
 * Hash table from a non-zero 64-bit key (a handle) to a 64-bit value. A hit takes no lock and
 * touches one cache line: a search begins with the first slot of a line, which has room for four.
 * Keys are never removed one by one; a full table is emptied, during which readers miss and nothing
 * is put: it is a cache of facts that can be found out again.
 */
#ifndef CT_TABLE_H
#define CT_TABLE_H

#include <stdatomic.h>

#include "base/base.h"
#include "system/spin.h"

struct ct_table_slot {
    _Atomic uint64_t key;
    _Atomic uint64_t value;
};

struct ct_table {
    struct ct_table_slot *slots;
    unsigned bits;            /* the table has 2^bits slots */
    _Atomic uint32_t changes; /* odd: the table is being emptied */
    _Atomic uint32_t used;    /* changed under the lock */
    struct ct_spin lock;      /* for adding, and for the begin and end of emptying */
};

static inline size_t ct_table_bytes(unsigned bits)
{
    return sizeof(struct ct_table_slot) << bits;
}

/* False: no memory. _begin is given zeroed slots, ct_table_bytes(bits). */
bool ct_table_init(struct ct_table *t, unsigned bits);
void ct_table_begin(struct ct_table *t, struct ct_table_slot *slots, unsigned bits);

/* Empties the table first if it is full. While another thread empties it, nothing is put. */
void ct_table_put(struct ct_table *t, uint64_t key, uint64_t value);
void ct_table_clear(struct ct_table *t);

/* The steps of _put for a caller with a lock: before and under it. A full table stays as it is. */
void ct_table_make_room(struct ct_table *t);
void ct_table_add(struct ct_table *t, uint64_t key, uint64_t value);

#define CT_TABLE_LINE (CT_CACHE_LINE / sizeof(struct ct_table_slot))

/* Multiplied twice: once leaves clusters of keys at regular distances, as handles are. */
static inline uint64_t ct_table_home(const struct ct_table *t, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    return hash >> (64 - t->bits) & ~(uint64_t)(CT_TABLE_LINE - 1);
}

static inline bool ct_table_is_emptied(uint32_t changes)
{
    return changes & 1;
}

/*
 * A slot keeps its key till the table is emptied. A reader that sees a value put after that sees
 * also that `changes` moved: a refilled slot reads as a miss.
 */
static inline bool ct_table_find(const struct ct_table *t, uint64_t key, uint64_t *value)
{
    uint64_t mask = ((uint64_t)1 << t->bits) - 1;
    uint32_t changes = atomic_load_explicit(&t->changes, memory_order_acquire);
    for (uint64_t i = ct_table_home(t, key);; i = (i + 1) & mask) {
        struct ct_table_slot *s = &t->slots[i];
        uint64_t k = atomic_load_explicit(&s->key, memory_order_acquire);
        if (k == key) {
            *value = atomic_load_explicit(&s->value, memory_order_acquire);
            return atomic_load_explicit(&t->changes, memory_order_relaxed) == changes &&
                   !ct_table_is_emptied(changes);
        }
        if (!k)
            return false;
    }
}

#endif
