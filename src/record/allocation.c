/* SPDX-License-Identifier: MIT */
#include "record/allocation.h"

#include "base/config.h"
#include "base/mem.h"
#include "base/spin.h"
#include "record/context.h"

#define SLOT_BITS 17
#define SLOTS (1u << SLOT_BITS)
_Static_assert(CT_ALLOCATIONS_FOLLOWED <= SLOTS / 4 * 3, "a search has to end");

#define SIZES 4096 /* of blocks that are told apart in the list */

struct allocations {
    struct ct_spin lock;
    uint32_t used;
    struct ct_file_memory figures[CT_DEVICES][CT_ALLOCATION_COUNT];
    struct ct_allocated slots[SLOTS];
    struct ct_file_block sizes[SIZES]; /* of the list, while it is made */
};

static struct allocations *all;

bool ct_allocations_init(void)
{
    if (ct_config.without_memory)
        return true;
    all = ct_map(sizeof(*all));
    return all != NULL;
}

void ct_allocations_forget(void)
{
    all = NULL;
}

bool ct_allocations_are_on(void)
{
    return all != NULL;
}

/* ---- the table: linear probing, and what follows is moved up when a block goes ---- */

static uint32_t hash(uint64_t key, unsigned bits)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    return (uint32_t)((h ^ h >> 32) * 0x9e3779b97f4a7c15u >> (64 - bits));
}

static struct ct_allocated *slot_of(uint64_t key)
{
    uint32_t i = hash(key, SLOT_BITS);
    while (all->slots[i].kind && all->slots[i].key != key)
        i = (i + 1) % SLOTS;
    return &all->slots[i];
}

static void remove_slot(struct ct_allocated *gone)
{
    uint32_t hole = (uint32_t)(gone - all->slots);
    for (uint32_t i = (hole + 1) % SLOTS; all->slots[i].kind; i = (i + 1) % SLOTS) {
        uint32_t home = hash(all->slots[i].key, SLOT_BITS);
        if ((i - home) % SLOTS < (i - hole) % SLOTS)
            continue;
        all->slots[hole] = all->slots[i];
        hole = i;
    }
    all->slots[hole] = (struct ct_allocated){.kind = 0};
    all->used--;
}

/* ---- figures ---- */

static struct ct_file_memory *figures_of(uint32_t device, uint32_t kind)
{
    return &all->figures[ct_min(device, CT_DEVICES - 1)][kind];
}

/* Of its kind and, on a device, of all that takes up the device's memory. */
static void each_sum(const struct ct_allocated *b,
                     void (*f)(struct ct_file_memory *, uint64_t bytes))
{
    f(figures_of(b->device, b->kind), b->bytes);
    if (ct_allocation_is_on_device(b->kind))
        f(figures_of(b->device, CT_ALLOCATION_ON_DEVICE), b->bytes);
}

static void allocated(struct ct_file_memory *m, uint64_t bytes)
{
    m->allocations++;
    m->bytes += bytes;
}

static void unfollowed(struct ct_file_memory *m, uint64_t bytes)
{
    m->unfollowed++;
    m->unfollowed_bytes += bytes;
}

static void held(struct ct_file_memory *m, uint64_t bytes)
{
    m->held++;
    m->held_bytes += bytes;
    m->peak_bytes = ct_max(m->peak_bytes, m->held_bytes);
}

static void released(struct ct_file_memory *m, uint64_t bytes)
{
    m->held--;
    m->held_bytes -= bytes;
}

static void freed(struct ct_file_memory *m, uint64_t bytes)
{
    m->frees++;
    released(m, bytes);
}

static void kept(struct ct_file_memory *m, uint64_t bytes)
{
    m->frees--;
    held(m, bytes);
}

static void ended(struct ct_file_memory *m, uint64_t bytes)
{
    m->ended++;
    released(m, bytes);
}

static void failed(struct ct_file_memory *m, uint64_t bytes)
{
    m->failed++;
    m->failed_most_bytes = ct_max(m->failed_most_bytes, bytes);
}

/* Its address came again: it was freed by a call that was not seen. */
static void missed(struct ct_file_memory *m, uint64_t bytes)
{
    m->unseen_frees++;
    released(m, bytes);
}

/* ---- events ---- */

static void put_locked(const struct ct_allocated *b,
                       void (*count)(struct ct_file_memory *, uint64_t))
{
    struct ct_allocated *slot = slot_of(b->key);
    if (slot->kind) {
        each_sum(slot, missed);
    } else if (all->used == CT_ALLOCATIONS_FOLLOWED) {
        each_sum(b, unfollowed);
        return;
    } else {
        all->used++;
    }
    *slot = *b;
    each_sum(b, count);
}

void ct_allocations_add(struct ct_allocated block)
{
    ct_spin_lock(&all->lock);
    each_sum(&block, allocated);
    put_locked(&block, held);
    ct_spin_unlock(&all->lock);
}

void ct_allocations_failed(uint32_t kind, uint32_t device, uint64_t bytes)
{
    ct_spin_lock(&all->lock);
    each_sum(&(struct ct_allocated){.bytes = bytes, .kind = kind, .device = (uint16_t)device},
             failed);
    ct_spin_unlock(&all->lock);
}

struct ct_allocated ct_allocations_free(uint64_t key, uint32_t kind, uint32_t device)
{
    ct_spin_lock(&all->lock);
    struct ct_allocated *slot = slot_of(key), block = *slot;
    if (!block.kind) {
        block = (struct ct_allocated){.kind = kind, .device = (uint16_t)device};
        figures_of(device, kind)->unknown_frees++;
    } else if (block.references) {
        slot->references--;
    } else {
        each_sum(&block, freed);
        remove_slot(slot);
    }
    ct_spin_unlock(&all->lock);
    return block;
}

static void retain_locked(uint64_t key)
{
    struct ct_allocated *slot = slot_of(key);
    if (slot->kind && slot->references < UINT16_MAX)
        slot->references++;
}

void ct_allocations_keep(struct ct_allocated block)
{
    ct_spin_lock(&all->lock);
    if (!block.key)
        figures_of(block.device, block.kind)->unknown_frees--;
    else if (block.references)
        retain_locked(block.key);
    else
        put_locked(&block, kept);
    ct_spin_unlock(&all->lock);
}

void ct_allocations_retain(uint64_t key)
{
    ct_spin_lock(&all->lock);
    retain_locked(key);
    ct_spin_unlock(&all->lock);
}

/* What is moved up comes from behind, and round the end from slots that were looked at: once more.
 */
static bool end_one_locked(CUcontext context, uint32_t *at)
{
    for (; *at < SLOTS; ++*at) {
        struct ct_allocated *slot = &all->slots[*at];
        if (!slot->kind || slot->context != context)
            continue;
        each_sum(slot, ended);
        remove_slot(slot);
        return true;
    }
    return false;
}

void ct_allocations_end(CUcontext context)
{
    if (!all || !context)
        return;
    ct_spin_lock(&all->lock);
    for (int pass = 0; pass < 2 && all->used; pass++)
        for (uint32_t at = 0; end_one_locked(context, &at);)
            ;
    ct_spin_unlock(&all->lock);
}

/* ---- what is told ---- */

bool ct_allocations_figures(uint32_t device, uint32_t kind, struct ct_file_memory *figures)
{
    static const struct ct_file_memory none;
    if (!all || device >= CT_DEVICES)
        return false;
    ct_spin_lock(&all->lock);
    *figures = all->figures[device][kind];
    ct_spin_unlock(&all->lock);
    bool known = __builtin_memcmp(figures, &none, sizeof(none));
    figures->device = device;
    figures->kind = kind;
    return known;
}

static bool is_larger(const struct ct_file_block *a, const struct ct_file_block *b)
{
    if (a->bytes * a->count != b->bytes * b->count)
        return a->bytes * a->count > b->bytes * b->count;
    return a->bytes > b->bytes;
}

/* One size more or one that is known; without room what has no size of its own. */
static void add_size(const struct ct_allocated *b, struct ct_file_block *rest)
{
    uint64_t key = b->bytes ^ (uint64_t)b->kind << 56 ^ (uint64_t)b->device << 48;
    uint32_t i = hash(key, 12);
    for (uint32_t tries = 0; tries < 64; tries++, i = (i + 1) % SIZES) {
        struct ct_file_block *s = &all->sizes[i];
        if (s->count && (s->bytes != b->bytes || s->kind != b->kind || s->device != b->device))
            continue;
        s->device = b->device;
        s->kind = b->kind;
        s->bytes = b->bytes;
        s->count++;
        return;
    }
    rest->count++;
    rest->bytes += b->bytes;
}
_Static_assert(SIZES == 1 << 12, "hash() gives a size's place");

/* Into the list, which is in order; what falls off its end belongs to the rest. */
static uint32_t insert(struct ct_file_block *list, uint32_t count, struct ct_file_block size,
                       struct ct_file_block *rest)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_larger(&size, &list[i])) {
            struct ct_file_block smaller = list[i];
            list[i] = size;
            size = smaller;
        }
    if (count < CT_ALLOCATIONS_LISTED) {
        list[count] = size;
        return count + 1;
    }
    rest->count += size.count;
    rest->bytes += size.count * size.bytes;
    return count;
}

uint32_t ct_allocations_list(struct ct_file_block list[CT_ALLOCATIONS_LISTED + 1])
{
    struct ct_file_block rest = {.kind = CT_ALLOCATION_ON_DEVICE};
    uint32_t count = 0;
    if (!all)
        return 0;
    ct_spin_lock(&all->lock);
    __builtin_memset(all->sizes, 0, sizeof(all->sizes));
    for (uint32_t i = 0; i < SLOTS && all->used; i++)
        if (all->slots[i].kind)
            add_size(&all->slots[i], &rest);
    for (uint32_t i = 0; i < SIZES; i++)
        if (all->sizes[i].count)
            count = insert(list, count, all->sizes[i], &rest);
    ct_spin_unlock(&all->lock);
    if (rest.count)
        list[count++] = rest;
    return count;
}
