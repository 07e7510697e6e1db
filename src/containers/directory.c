/* SPDX-License-Identifier: MIT */
#include "containers/directory.h"

#include "system/mem.h"

#define FIRST_BITS 4
#define PAGE_BITS 8 /* slots of a page of 4 KiB */
#define MOST_BITS 12

bool ct_directory_init(struct ct_directory *d, bool (*stays)(uint64_t value))
{
    struct ct_directory_shelf *shelf = ct_map(CT_DIRECTORY_SHELVES * sizeof(*shelf));
    struct ct_directory_slot *slots = ct_map((CT_DIRECTORY_SHELVES << FIRST_BITS) * sizeof(*slots));
    if (!shelf || !slots)
        return false;
    for (uint32_t i = 0; i < CT_DIRECTORY_SHELVES; i++) {
        uintptr_t first = (uintptr_t)&slots[(size_t)i << FIRST_BITS];
        atomic_store_explicit(&shelf[i].slots, first | FIRST_BITS, memory_order_relaxed);
    }
    d->stays = stays;
    d->shelf = shelf;
    return true;
}

static struct ct_directory_slot *slots_in(uintptr_t told, unsigned *bits)
{
    *bits = told & 63;
    return (void *)(told & ~(uintptr_t)63);
}

static struct ct_directory_slot *slots_of(const struct ct_directory_shelf *s, unsigned *bits)
{
    return slots_in(atomic_load_explicit(&s->slots, memory_order_relaxed), bits);
}

static bool is_there(const struct ct_directory_slot *slot)
{
    return atomic_load_explicit(&slot->key, memory_order_relaxed) &&
           atomic_load_explicit(&slot->value, memory_order_relaxed) != CT_DIRECTORY_NONE;
}

static uint32_t count(const struct ct_directory_slot *slot, unsigned bits)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < 1u << bits; i++)
        n += is_there(&slot[i]);
    return n;
}

/* The slot of a key, or the empty one where the key belongs. */
static struct ct_directory_slot *slot_for(struct ct_directory_slot *slot, unsigned bits,
                                          uint64_t key)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1, i = ct_directory_hash(key) >> 32 & mask, k;
    while ((k = atomic_load_explicit(&slot[i].key, memory_order_relaxed)) && k != key)
        i = (i + 1) & mask;
    return &slot[i];
}

/* Released: a reader that sees the new key or value sees the rebuilding that freed the slot. */
static void fill(struct ct_directory_slot *slot, uint64_t key, uint64_t value)
{
    atomic_store_explicit(&slot->value, value, memory_order_release);
    atomic_store_explicit(&slot->key, key, memory_order_release);
}

static uint32_t copy(struct ct_directory_slot *to, unsigned to_bits,
                     const struct ct_directory_slot *from, unsigned bits, bool (*stays)(uint64_t))
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < 1u << bits; i++) {
        uint64_t key = atomic_load_explicit(&from[i].key, memory_order_relaxed);
        uint64_t value = atomic_load_explicit(&from[i].value, memory_order_relaxed);
        if (!is_there(&from[i]) || (stays && !stays(value)))
            continue;
        fill(slot_for(to, to_bits, key), key, value);
        n++;
    }
    return n;
}

static bool has_room(const struct ct_directory_shelf *s)
{
    unsigned bits;
    slots_of(s, &bits);
    return s->used < 3u << (bits - 2);
}

/* The way to rebuild a shelf. */
struct rebuilding {
    unsigned bits;
    bool is_full; /* no more room than now: entries that need not stay go */
};

/* Twice as large where more than half of the slots have entries, up to MOST_BITS. */
static struct rebuilding rebuilding_of(const struct ct_directory_shelf *s)
{
    unsigned bits;
    const struct ct_directory_slot *slots = slots_of(s, &bits);
    bool is_small = count(slots, bits) > 1u << (bits - 1);
    bool is_full = is_small && bits == MOST_BITS;
    return (struct rebuilding){is_small && !is_full ? (unsigned)ct_max(bits + 1, PAGE_BITS) : bits,
                               is_full};
}

/*
 * Copies all but removed entries. A look may still be in the slots of before: those become the
 * spare slots of the next rebuilding if they are as many, and are kept unused if they are fewer.
 * False: no room, or no spare slots of the wanted size, whose bits are *wanted then.
 */
static bool rebuild_locked(struct ct_directory *d, struct ct_directory_shelf *s, unsigned *wanted)
{
    unsigned bits, to_bits;
    struct ct_directory_slot *from = slots_of(s, &bits), *to = slots_in(s->spare, &to_bits);
    struct rebuilding r = rebuilding_of(s);
    if (r.is_full && !d->stays)
        return false;
    if (!to || to_bits != r.bits) {
        *wanted = r.bits;
        return false;
    }
    for (uint32_t i = 0; i < 1u << to_bits; i++)
        fill(&to[i], 0, 0);
    s->used = copy(to, to_bits, from, bits, r.is_full ? d->stays : NULL);
    s->spare = to_bits == bits ? (uintptr_t)from | bits : 0;
    atomic_store_explicit(&s->slots, (uintptr_t)to | to_bits, memory_order_release);
    uint32_t rebuilt = atomic_load_explicit(&s->rebuilt, memory_order_relaxed);
    atomic_store_explicit(&s->rebuilt, rebuilt + 1, memory_order_release);
    return true;
}

static bool put_locked(struct ct_directory *d, struct ct_directory_shelf *s, uint64_t key,
                       uint64_t value, unsigned *wanted)
{
    unsigned bits;
    struct ct_directory_slot *slots = slots_of(s, &bits), *slot = slot_for(slots, bits, key);
    if (atomic_load_explicit(&slot->key, memory_order_relaxed)) {
        atomic_store_explicit(&slot->value, value, memory_order_release);
        return true;
    }
    if (!has_room(s) && (!rebuild_locked(d, s, wanted) || !has_room(s)))
        return false;
    slots = slots_of(s, &bits);
    fill(slot_for(slots, bits, key), key, value);
    s->used++;
    return true;
}

/* Spare memory of another size stays mapped: a look may still be in it. */
static bool give_spare(struct ct_directory_shelf *s, unsigned bits)
{
    struct ct_directory_slot *slots = ct_map(sizeof(*slots) << bits), *before;
    unsigned before_bits;
    if (!slots)
        return false;
    for (uint32_t i = 0; i < 1u << bits; i++)
        fill(&slots[i], 0, 0); /* so that the pages are not touched under the lock */
    ct_spin_lock(&s->lock);
    before = slots_in(s->spare, &before_bits);
    bool is_wanted = !before || before_bits != bits;
    if (is_wanted)
        s->spare = (uintptr_t)slots | bits;
    ct_spin_unlock(&s->lock);
    if (!is_wanted)
        ct_unmap(slots, sizeof(*slots) << bits);
    return true;
}

void ct_directory_ready(struct ct_directory *d, uint64_t key)
{
    unsigned bits, spare_bits;
    if (!d->shelf)
        return;
    struct ct_directory_shelf *s = ct_directory_shelf(d, ct_directory_hash(key));
    ct_spin_lock(&s->lock);
    bits = has_room(s) ? 0 : rebuilding_of(s).bits;
    if (slots_in(s->spare, &spare_bits) && spare_bits == bits)
        bits = 0;
    ct_spin_unlock(&s->lock);
    if (bits)
        give_spare(s, bits);
}

bool ct_directory_put(struct ct_directory *d, uint64_t key, uint64_t value)
{
    if (!d->shelf)
        return false;
    struct ct_directory_shelf *s = ct_directory_shelf(d, ct_directory_hash(key));
    unsigned wanted;
    bool ok;
    do {
        wanted = 0;
        ct_spin_lock(&s->lock);
        ok = put_locked(d, s, key, value, &wanted);
        ct_spin_unlock(&s->lock);
    } while (wanted && give_spare(s, wanted));
    return ok;
}

void ct_directory_remove(struct ct_directory *d, uint64_t key, uint64_t value)
{
    uint64_t known;
    unsigned bits;
    if (!ct_directory_find(d, key, &known) || known != value)
        return;
    struct ct_directory_shelf *s = ct_directory_shelf(d, ct_directory_hash(key));
    ct_spin_lock(&s->lock);
    struct ct_directory_slot *slot = slots_of(s, &bits);
    slot = slot_for(slot, bits, key);
    if (atomic_load_explicit(&slot->value, memory_order_relaxed) == value)
        atomic_store_explicit(&slot->value, CT_DIRECTORY_NONE, memory_order_release);
    ct_spin_unlock(&s->lock);
}
