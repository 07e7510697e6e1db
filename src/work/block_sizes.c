/* SPDX-License-Identifier: MIT */
#include "work/block_sizes.h"

#include "system/mem.h"

#define CHAIN_BITS 16

bool ct_block_sizes_init(struct ct_block_sizes *s, uint32_t most)
{
    s->size = ct_map(most * sizeof(*s->size));
    s->heap = ct_map(most * sizeof(*s->heap));
    return s->size && s->heap && ct_chains_init(&s->index, CHAIN_BITS, most);
}

/* ---- the heap ---- */

static bool is_larger(const struct ct_file_block *a, const struct ct_file_block *b)
{
    if (a->bytes * a->count != b->bytes * b->count)
        return a->bytes * a->count > b->bytes * b->count;
    return a->bytes > b->bytes;
}

static const struct ct_file_block *at(const struct ct_block_sizes *s, uint32_t rank)
{
    return &s->size[s->heap[rank]].blocks;
}

static void put(struct ct_block_sizes *s, uint32_t rank, uint32_t place)
{
    s->heap[rank] = place;
    s->size[place].rank = rank;
}

static void rise(struct ct_block_sizes *s, uint32_t place)
{
    uint32_t rank = s->size[place].rank;
    for (uint32_t above; rank && is_larger(&s->size[place].blocks, at(s, above = (rank - 1) / 2));
         rank = above)
        put(s, rank, s->heap[above]);
    put(s, rank, place);
}

static void sink(struct ct_block_sizes *s, uint32_t place)
{
    uint32_t rank = s->size[place].rank, below;
    while ((below = 2 * rank + 1) < s->count) {
        if (below + 1 < s->count && is_larger(at(s, below + 1), at(s, below)))
            below++;
        if (!is_larger(at(s, below), &s->size[place].blocks))
            break;
        put(s, rank, s->heap[below]);
        rank = below;
    }
    put(s, rank, place);
}

/* ---- blocks ---- */

static uint64_t hash_of(const struct ct_file_block *b)
{
    return ct_chains_hash(b->bytes ^ (uint64_t)b->kind << 56 ^ (uint64_t)b->device << 48);
}

static uint32_t find(const struct ct_block_sizes *s, const struct ct_file_block *b)
{
    uint32_t i = ct_chains_first(&s->index, hash_of(b));
    for (; i != CT_CHAINS_NONE; i = ct_chains_next(&s->index, i)) {
        const struct ct_file_block *known = &s->size[i].blocks;
        if (known->bytes == b->bytes && known->kind == b->kind && known->device == b->device)
            break;
    }
    return i;
}

static uint32_t add_size(struct ct_block_sizes *s, const struct ct_file_block *b)
{
    uint32_t place = ct_chains_take(&s->index, hash_of(b));
    if (place == CT_CHAINS_NONE)
        return place;
    s->size[place].blocks =
        (struct ct_file_block){.device = b->device, .kind = b->kind, .bytes = b->bytes};
    put(s, s->count, place);
    s->count++;
    return place;
}

static void remove_size(struct ct_block_sizes *s, uint32_t place)
{
    uint32_t rank = s->size[place].rank, last = s->heap[--s->count];
    if (last != place) {
        put(s, rank, last);
        rise(s, last);
        sink(s, last);
    }
    ct_chains_give(&s->index, hash_of(&s->size[place].blocks), place);
}

/* Sums first, and last in _remove: they hold all blocks wherever a signal interrupts for good. */
void ct_block_sizes_add(struct ct_block_sizes *s, struct ct_file_block block)
{
    s->blocks++;
    s->bytes += block.bytes;
    uint32_t place = find(s, &block);
    if (place == CT_CHAINS_NONE && (place = add_size(s, &block)) == CT_CHAINS_NONE)
        return;
    s->size[place].blocks.count++;
    rise(s, place);
}

void ct_block_sizes_remove(struct ct_block_sizes *s, struct ct_file_block block)
{
    uint32_t place = find(s, &block);
    if (place != CT_CHAINS_NONE && --s->size[place].blocks.count)
        sink(s, place);
    else if (place != CT_CHAINS_NONE)
        remove_size(s, place);
    s->blocks--;
    s->bytes -= block.bytes;
}

/* ---- the largest ---- */

/* Ranks that may come next: those below the ranks that were told. */
struct front {
    uint32_t count;
    uint32_t rank[CT_BLOCK_SIZES_TOLD + 1];
};

static void come_up(const struct ct_block_sizes *s, struct front *f, uint32_t rank)
{
    if (rank < s->count && f->count < ct_countof(f->rank))
        f->rank[f->count++] = rank;
}

static uint32_t take_largest(const struct ct_block_sizes *s, struct front *f)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < f->count; i++)
        if (is_larger(at(s, f->rank[i]), at(s, f->rank[best])))
            best = i;
    uint32_t rank = f->rank[best];
    f->rank[best] = f->rank[--f->count];
    return rank;
}

/* A size that was moving when its thread was interrupted for good is in the heap twice. */
uint32_t ct_block_sizes_largest(const struct ct_block_sizes *s,
                                struct ct_file_block largest[CT_BLOCK_SIZES_TOLD],
                                struct ct_file_block *rest)
{
    struct front front = {.count = 0};
    uint32_t told = 0;
    rest->count = s->blocks;
    rest->bytes = s->bytes;
    come_up(s, &front, 0);
    for (unsigned i = 0; i < CT_BLOCK_SIZES_TOLD && front.count; i++) {
        uint32_t rank = take_largest(s, &front);
        come_up(s, &front, 2 * rank + 1);
        come_up(s, &front, 2 * rank + 2);
        if (s->size[s->heap[rank]].rank != rank)
            continue;
        largest[told] = *at(s, rank);
        rest->count -= largest[told].count;
        rest->bytes -= largest[told].count * largest[told].bytes;
        told++;
    }
    return told;
}
