/* SPDX-License-Identifier: MIT */
#include "base/table.h"

#include "base/mem.h"

bool ct_table_init(struct ct_table *t, unsigned bits)
{
    t->slots = ct_map(sizeof(*t->slots) << bits);
    t->bits = bits;
    t->used = 0;
    atomic_store_explicit(&t->emptied, 0, memory_order_relaxed);
    ct_spin_init(&t->lock);
    return t->slots != NULL;
}

static void clear_locked(struct ct_table *t)
{
    for (uint64_t i = 0; i < (uint64_t)1 << t->bits; i++)
        atomic_store_explicit(&t->slots[i].key, 0, memory_order_relaxed);
    uint32_t emptied = atomic_load_explicit(&t->emptied, memory_order_relaxed);
    atomic_store_explicit(&t->emptied, emptied + 1, memory_order_release);
    t->used = 0;
}

void ct_table_clear(struct ct_table *t)
{
    ct_spin_lock(&t->lock);
    clear_locked(t);
    ct_spin_unlock(&t->lock);
}

/* At most three quarters full: a search always meets an empty slot. */
void ct_table_put(struct ct_table *t, uint64_t key, uint64_t value)
{
    uint64_t mask = ((uint64_t)1 << t->bits) - 1;
    ct_spin_lock(&t->lock);
    if (t->used >= 3 * (mask + 1) / 4)
        clear_locked(t);
    uint64_t i = ct_table_home(t, key);
    uint64_t k;
    while ((k = atomic_load_explicit(&t->slots[i].key, memory_order_relaxed)) && k != key)
        i = (i + 1) & mask;
    atomic_store_explicit(&t->slots[i].value, value, memory_order_release);
    if (!k) {
        atomic_store_explicit(&t->slots[i].key, key, memory_order_release);
        t->used++;
    }
    ct_spin_unlock(&t->lock);
}
