/* SPDX-License-Identifier: MIT */
/*
 * The differences of a payload from the one before, in blocks of 512 bytes, and its checksum, for
 * which only changed blocks are read. The memory is twice the payload's size and more, from the
 * kernel, touched as far as it is used.
 */
#ifndef CT_BLOCKS_H
#define CT_BLOCKS_H

#include "base/base.h"

struct ct_block {
    uint64_t changed; /* number, from 1, of the last payload that changed the block */
    uint32_t crc;     /* the block's CRC-32 */
};

/* Zeroed: nothing is known. */
struct ct_blocks {
    void *map;
    char *copy; /* the payload that was taken last */
    struct ct_block *block;
    struct ct_crc32_shift *over_a_block;
    size_t bytes; /* the copy's length */
    size_t room_bytes;
    size_t map_bytes;
};

/* Takes payload `number`; *crc is its CRC-32. False: memory is out, and nothing is known. */
bool ct_blocks_take(struct ct_blocks *b, uint64_t number, const void *payload, size_t bytes,
                    uint32_t *crc);

/*
 * The next part from *at on that payloads after that number have changed, in bytes of the payload
 * that was taken last. False: there is no more.
 */
bool ct_blocks_next(const struct ct_blocks *b, uint64_t number, size_t *at, size_t *bytes);

void ct_blocks_drop(struct ct_blocks *b);

#endif
