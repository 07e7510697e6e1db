/* SPDX-License-Identifier: MIT */
#include "counts/tally.h"

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void collect(struct ct_tallies *t, unsigned i, uint64_t key)
{
    uint64_t operations = get(&t->slot[i].operations), bytes = get(&t->slot[i].bytes);
    ct_row_lose((uint32_t)((key - 1) >> 8), (enum ct_loss)((key - 1) & 0xff),
                operations - t->seen[i].operations, bytes - t->seen[i].bytes);
    t->seen[i].operations = operations;
    t->seen[i].bytes = bytes;
}

/* The thread writes `changes` last: a count that it does not show yet is for the next time. */
bool ct_tallies_collect(struct ct_tallies *t)
{
    uint64_t changes = atomic_load_explicit(&t->changes, memory_order_acquire);
    if (changes == t->seen_changes)
        return false;
    t->seen_changes = changes;
    for (unsigned i = 0; i < CT_TALLIES; i++) {
        uint64_t key = atomic_load_explicit(&t->slot[i].key, memory_order_acquire);
        if (key)
            collect(t, i, key);
    }
    return true;
}
