/* SPDX-License-Identifier: MIT */
/*
 * The differences of one payload from the one before, in blocks of 512 bytes, and their checksums,
 * of which only what changed is read for the checksum. The memory is the payload's size, from the
 * kernel.
 */
#ifndef CT_BLOCKS_H
#define CT_BLOCKS_H

#include "base/base.h"

struct ct_block {
    uint64_t changed; /* number of the last payload that brought what is in it; from 1 */
    uint32_t crc;     /* of a whole one */
};

/* Zeroed: nothing is known. */
struct ct_blocks {
    void *map;
    char *copy; /* of the payload before */
    struct ct_block *block;
    struct ct_crc32_shift *over_a_block;
    size_t bytes; /* of that payload */
    size_t room_bytes;
    size_t map_bytes;
};

/* The payload of that number, and its CRC-32. False: there is no memory, and nothing is known. */
bool ct_blocks_take(struct ct_blocks *b, uint64_t number, const void *payload, size_t bytes,
                    uint32_t *crc);

/*
 * The next part from *at on of what payloads after that number have changed, in bytes of the
 * payload that was taken last. False: there is no more.
 */
bool ct_blocks_next(const struct ct_blocks *b, uint64_t number, size_t *at, size_t *bytes);

void ct_blocks_drop(struct ct_blocks *b);

#endif
