/* SPDX-License-Identifier: MIT */
#include "containers/table.h"

#include "system/mem.h"

void ct_table_begin(struct ct_table *t, struct ct_table_slot *slots, unsigned bits)
{
    t->slots = slots;
    t->bits = bits;
    atomic_store_explicit(&t->used, 0, memory_order_relaxed);
    atomic_store_explicit(&t->changes, 0, memory_order_relaxed);
    ct_spin_init(&t->lock);
}

bool ct_table_init(struct ct_table *t, unsigned bits)
{
    ct_table_begin(t, ct_map(ct_table_bytes(bits)), bits);
    return t->slots != NULL;
}

static uint32_t changes(const struct ct_table *t)
{
    return atomic_load_explicit(&t->changes, memory_order_relaxed);
}

/* False: another thread is emptying the table. */
static bool begin_emptying(struct ct_table *t)
{
    ct_spin_lock(&t->lock);
    bool begins = !ct_table_is_emptied(changes(t));
    if (begins)
        atomic_store_explicit(&t->changes, changes(t) + 1, memory_order_release);
    ct_spin_unlock(&t->lock);
    return begins;
}

static void end_emptying(struct ct_table *t)
{
    ct_spin_lock(&t->lock);
    atomic_store_explicit(&t->used, 0, memory_order_relaxed);
    atomic_store_explicit(&t->changes, changes(t) + 1, memory_order_release);
    ct_spin_unlock(&t->lock);
}

/* Empties without the lock, as a megabyte takes long: meanwhile finds miss and puts are lost. */
void ct_table_clear(struct ct_table *t)
{
    if (!begin_emptying(t))
        return;
    for (uint64_t i = 0; i < (uint64_t)1 << t->bits; i++)
        atomic_store_explicit(&t->slots[i].key, 0, memory_order_relaxed);
    end_emptying(t);
}

/* At most three quarters full: a search always meets an empty slot. */
static bool is_full(const struct ct_table *t)
{
    uint64_t used = atomic_load_explicit(&t->used, memory_order_relaxed);
    return used >= 3 * ((uint64_t)1 << t->bits) / 4;
}

void ct_table_make_room(struct ct_table *t)
{
    if (is_full(t))
        ct_table_clear(t);
}

static void add_locked(struct ct_table *t, uint64_t key, uint64_t value)
{
    uint64_t mask = ((uint64_t)1 << t->bits) - 1, i = ct_table_home(t, key), k;
    while ((k = atomic_load_explicit(&t->slots[i].key, memory_order_relaxed)) && k != key)
        i = (i + 1) & mask;
    if (!k && is_full(t))
        return;
    atomic_store_explicit(&t->slots[i].value, value, memory_order_release);
    if (k)
        return;
    atomic_store_explicit(&t->slots[i].key, key, memory_order_release);
    atomic_fetch_add_explicit(&t->used, 1, memory_order_relaxed);
}

void ct_table_add(struct ct_table *t, uint64_t key, uint64_t value)
{
    ct_spin_lock(&t->lock);
    if (!ct_table_is_emptied(changes(t)))
        add_locked(t, key, value);
    ct_spin_unlock(&t->lock);
}

void ct_table_put(struct ct_table *t, uint64_t key, uint64_t value)
{
    ct_table_make_room(t);
    ct_table_add(t, key, value);
}
