/* SPDX-License-Identifier: MIT */
/*
 * Numbers of blocks by size, device and kind. Kept up to date block by block, with the largest sum
 * of bytes on top of a heap, so that the first of them are told without a look at the others. The
 * caller has a lock.
 */
#ifndef CT_BLOCK_SIZES_H
#define CT_BLOCK_SIZES_H

#include "containers/chains.h"
#include "cutrace/format.h"

#define CT_BLOCK_SIZES_TOLD 64 /* sizes at most, at once */

struct ct_block_size {
    struct ct_file_block blocks;
    uint32_t rank; /* the size's place in the heap */
};

struct ct_block_sizes {
    struct ct_chains index;
    struct ct_block_size *size;
    uint32_t *heap; /* places of sizes */
    uint32_t count;
    uint64_t blocks, bytes; /* sums over all */
};

/* Makes room for `most` sizes, as many as blocks at most. False: no memory. */
bool ct_block_sizes_init(struct ct_block_sizes *s, uint32_t most);

/* Counts a block more, or less, by its device, kind and bytes. */
void ct_block_sizes_add(struct ct_block_sizes *s, struct ct_file_block block);
void ct_block_sizes_remove(struct ct_block_sizes *s, struct ct_file_block block);

/* The sizes with the most bytes, these first; returns how many. *rest: sums of all others. */
uint32_t ct_block_sizes_largest(const struct ct_block_sizes *s,
                                struct ct_file_block largest[CT_BLOCK_SIZES_TOLD],
                                struct ct_file_block *rest);

#endif
