/* SPDX-License-Identifier: MIT */
/*
 * How many blocks there are of each size, by device and kind. Kept up to date block by block, with
 * the largest sum of bytes on top of a heap, so that the first of them are told without looking at
 * the others. The caller has a lock.
 */
#ifndef CT_BLOCK_SIZES_H
#define CT_BLOCK_SIZES_H

#include "containers/chains.h"
#include "cutrace/format.h"

#define CT_BLOCK_SIZES_TOLD 64 /* at most, at once */

struct ct_block_size {
    struct ct_file_block blocks;
    uint32_t rank; /* its place in the heap */
};

struct ct_block_sizes {
    struct ct_chains index;
    struct ct_block_size *size;
    uint32_t *heap; /* places of sizes */
    uint32_t count;
    uint64_t blocks, bytes; /* of all */
};

/* As many sizes as there are blocks at most. False: no memory. */
bool ct_block_sizes_init(struct ct_block_sizes *s, uint32_t most);

/* A block more, or less, as its device, kind and bytes tell. */
void ct_block_sizes_add(struct ct_block_sizes *s, struct ct_file_block block);
void ct_block_sizes_remove(struct ct_block_sizes *s, struct ct_file_block block);

/* The sizes that have the most bytes, these first; returns how many. In *rest what is left. */
uint32_t ct_block_sizes_largest(const struct ct_block_sizes *s,
                                struct ct_file_block largest[CT_BLOCK_SIZES_TOLD],
                                struct ct_file_block *rest);

#endif
