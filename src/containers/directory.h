/* SPDX-License-Identifier: MIT */
/*
 * Directory from a non-zero 64-bit key (a handle) to a 64-bit value, for facts that must not be
 * lost: an entry stays until it is removed. A look takes no lock and begins anew only if its shelf
 * was rebuilt meanwhile. There are CT_DIRECTORY_SHELVES shelves, each with a lock of its own, that
 * grow from 16 slots to 4096: a directory has room for 786,000 entries, takes 64 KiB at first and
 * 48 MiB at most. A lock is held for 4096 slots at most, and nothing is mapped under it.
 */
#ifndef CT_DIRECTORY_H
#define CT_DIRECTORY_H

#include <stdatomic.h>

#include "base/base.h"
#include "system/spin.h"

#define CT_DIRECTORY_SHELF_BITS 8
#define CT_DIRECTORY_SHELVES (1u << CT_DIRECTORY_SHELF_BITS)
#define CT_DIRECTORY_NONE UINT64_MAX /* the value of an entry that was removed */

struct ct_directory_slot {
    _Atomic uint64_t key;
    _Atomic uint64_t value;
};

struct ct_directory_shelf {
    _Atomic uintptr_t slots; /* the address, and in its lower six bits the number: 2^bits */
    _Atomic uint32_t rebuilt;
    struct ct_spin lock; /* for these: */
    uint32_t used;       /* slots with a key, of removed entries as well */
    uintptr_t spare;     /* slots for the next rebuilding, in the form of `slots`; 0: none */
};

struct ct_directory {
    struct ct_directory_shelf *shelf; /* NULL: there is no directory, and nothing is found */
    /* Whether an entry with this value stays where room is out; NULL: each does. */
    bool (*stays)(uint64_t value);
};

/* False: no memory. */
bool ct_directory_init(struct ct_directory *d, bool (*stays)(uint64_t value));

/*
 * Puts an entry, or changes its value. False: no room, or no memory, for one more. A caller under a
 * lock calls _ready before taking it, so that no memory has to be mapped under the lock.
 */
void ct_directory_ready(struct ct_directory *d, uint64_t key);
bool ct_directory_put(struct ct_directory *d, uint64_t key, uint64_t value);

/* Removes the entry if it has that value. */
void ct_directory_remove(struct ct_directory *d, uint64_t key, uint64_t value);

static inline uint64_t ct_directory_hash(uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
}

static inline struct ct_directory_shelf *ct_directory_shelf(const struct ct_directory *d,
                                                            uint64_t hash)
{
    return &d->shelf[hash >> (64 - CT_DIRECTORY_SHELF_BITS)];
}

static inline uint64_t ct_directory_look(uintptr_t slots, uint64_t hash, uint64_t key)
{
    const struct ct_directory_slot *slot = (void *)(slots & ~(uintptr_t)63);
    uint64_t mask = ((uint64_t)1 << (slots & 63)) - 1;
    for (uint64_t i = hash >> 32 & mask;; i = (i + 1) & mask) {
        uint64_t k = atomic_load_explicit(&slot[i].key, memory_order_acquire);
        if (k == key)
            return atomic_load_explicit(&slot[i].value, memory_order_acquire);
        if (!k)
            return CT_DIRECTORY_NONE;
    }
}

/*
 * Slots are filled anew only after the rebuilding that left them was told: a reader that sees a
 * newer entry in them sees that too, and looks again.
 */
static inline bool ct_directory_find(const struct ct_directory *d, uint64_t key, uint64_t *value)
{
    if (!d->shelf)
        return false;
    uint64_t hash = ct_directory_hash(key), found;
    struct ct_directory_shelf *s = ct_directory_shelf(d, hash);
    uint32_t rebuilt;
    do {
        rebuilt = atomic_load_explicit(&s->rebuilt, memory_order_acquire);
        found = ct_directory_look(atomic_load_explicit(&s->slots, memory_order_acquire), hash, key);
    } while (ct_unlikely(atomic_load_explicit(&s->rebuilt, memory_order_relaxed) != rebuilt));
    if (found == CT_DIRECTORY_NONE)
        return false;
    *value = found;
    return true;
}

#endif
