/* SPDX-License-Identifier: MIT */
#include "report/profile/allocations.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"

/* Processes on one device have their peaks at different times: the highest of one is a fact. */
static void add_memory(struct ct_merged_allocations *a, const struct ct_file_memory *from,
                       uint32_t device)
{
    uint32_t key[] = {device, from->kind}, at = ct_key_table_add(&a->memory_keys, key, sizeof(key));
    a->memory = ct_memory_grow(a->memory, &a->memory_size, (size_t)at + 1, sizeof(*a->memory));
    struct ct_file_memory *to = &a->memory[at];
    to->device = device;
    to->kind = from->kind;
    ct_merge_add_to(&to->allocations, from->allocations);
    ct_merge_add_to(&to->bytes, from->bytes);
    ct_merge_add_to(&to->failed, from->failed);
    to->failed_most_bytes = ct_max(to->failed_most_bytes, from->failed_most_bytes);
    ct_merge_add_to(&to->frees, from->frees);
    ct_merge_add_to(&to->ended, from->ended);
    ct_merge_add_to(&to->unseen_frees, from->unseen_frees);
    ct_merge_add_to(&to->unknown_frees, from->unknown_frees);
    ct_merge_add_to(&to->unfollowed, from->unfollowed);
    ct_merge_add_to(&to->unfollowed_bytes, from->unfollowed_bytes);
    ct_merge_add_to(&to->held, from->held);
    ct_merge_add_to(&to->held_bytes, from->held_bytes);
    to->peak_bytes = ct_max(to->peak_bytes, from->peak_bytes);
}

static void add_block(struct ct_merged_allocations *a, const struct ct_file_block *from,
                      uint32_t device)
{
    bool listed = from->kind != CT_ALLOCATION_ON_DEVICE;
    uint64_t key[] = {listed ? device : 0, from->kind, listed ? from->bytes : 0};
    uint32_t at = ct_key_table_add(&a->block_keys, key, sizeof(key));
    a->blocks = ct_memory_grow(a->blocks, &a->blocks_size, (size_t)at + 1, sizeof(*a->blocks));
    struct ct_file_block *to = &a->blocks[at];
    to->device = (uint32_t)key[0];
    to->kind = from->kind;
    to->bytes = listed ? from->bytes : ct_merge_sum(to->bytes, from->bytes);
    ct_merge_add_to(&to->count, from->count);
}

void ct_allocations_add(struct ct_merged_allocations *a, const struct ct_summary *s,
                        const uint32_t *device_map)
{
    for (size_t i = 0; i < s->memory_count; i++)
        add_memory(a, &s->memory[i], device_map[s->memory[i].device]);
    for (size_t i = 0; i < s->blocks_count; i++)
        add_block(a, &s->blocks[i], device_map[s->blocks[i].device]);
}

uint64_t ct_allocations_bytes(const struct ct_file_block *block)
{
    bool listed = block->kind != CT_ALLOCATION_ON_DEVICE;
    return listed ? ct_merge_product(block->bytes, block->count) : block->bytes;
}

void ct_allocations_free(struct ct_merged_allocations *a)
{
    ct_key_table_free(&a->memory_keys);
    ct_key_table_free(&a->block_keys);
    free(a->memory);
    free(a->blocks);
    memset(a, 0, sizeof(*a));
}
