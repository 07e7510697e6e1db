/* SPDX-License-Identifier: MIT */
#include "format/blocks.h"

#include "format/crc32.h"
#include "system/mem.h"

#define BLOCK_BYTES 512
#define LEAST_BYTES ((size_t)64 * 1024) /* the payload that the first buffer has room for */

/* Forgets the mapping first: the child of a fork in between must not unmap other memory. */
void ct_blocks_drop(struct ct_blocks *b)
{
    const struct ct_blocks before = *b;
    *b = (struct ct_blocks){0};
    ct_unmap(before.map, before.map_bytes);
}

/* Twice the need, as unused pages take no memory. The contents until now are dropped. */
static bool make_room(struct ct_blocks *b, size_t bytes)
{
    size_t blocks = 2 * (ct_max(bytes, LEAST_BYTES) / BLOCK_BYTES + 1);
    size_t map_bytes = sizeof(*b->over_a_block) + blocks * (sizeof(*b->block) + BLOCK_BYTES);
    ct_blocks_drop(b);
    char *map = ct_map(map_bytes);
    if (!map)
        return false;
    b->map = map;
    b->map_bytes = map_bytes;
    b->room_bytes = blocks * BLOCK_BYTES;
    b->over_a_block = b->map;
    b->block = (struct ct_block *)(b->over_a_block + 1);
    b->copy = (char *)(b->block + blocks);
    ct_crc32_shift(b->over_a_block, BLOCK_BYTES);
    return true;
}

static size_t bytes_of(size_t block, size_t bytes)
{
    return ct_min(bytes - block * BLOCK_BYTES, (size_t)BLOCK_BYTES);
}

static void take(struct ct_blocks *b, size_t block, uint64_t number, const char *data, size_t bytes)
{
    size_t at = block * BLOCK_BYTES;
    char *copy = b->copy + at;
    if (at + bytes <= b->bytes && !__builtin_memcmp(copy, data, bytes))
        return;
    __builtin_memcpy(copy, data, bytes);
    b->block[block] = (struct ct_block){number, ct_crc32(0, data, bytes)};
}

bool ct_blocks_take(struct ct_blocks *b, uint64_t number, const void *payload, size_t bytes,
                    uint32_t *crc)
{
    const char *data = payload;
    if (bytes > b->room_bytes && !make_room(b, bytes))
        return false;
    *crc = 0;
    for (size_t i = 0; i * BLOCK_BYTES < bytes; i++, data += BLOCK_BYTES) {
        size_t n = bytes_of(i, bytes);
        take(b, i, number, data, n);
        *crc = n == BLOCK_BYTES ? ct_crc32_join(b->over_a_block, *crc, b->block[i].crc)
                                : ct_crc32(*crc, data, n);
    }
    b->bytes = bytes;
    return true;
}

bool ct_blocks_next(const struct ct_blocks *b, uint64_t number, size_t *at, size_t *bytes)
{
    size_t first = (*at + BLOCK_BYTES - 1) / BLOCK_BYTES, all, last;
    all = (b->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    while (first < all && b->block[first].changed <= number)
        first++;
    last = first;
    while (last < all && b->block[last].changed > number)
        last++;
    if (first == last)
        return false;
    *at = first * BLOCK_BYTES;
    *bytes = ct_min(last * BLOCK_BYTES, b->bytes) - *at;
    return true;
}
