/* SPDX-License-Identifier: MIT */
/*
 * The program's allocations of CUDA: by device and kind, and block by block, so that frees can be
 * told from each other. One lock, for a few instructions on our own memory, however many blocks
 * there are, and a table of fixed size: blocks that find no room in it are counted. Keys are
 * addresses, or handles with CT_ALLOCATION_HANDLE.
 */
#ifndef CT_ALLOCATION_H
#define CT_ALLOCATION_H

#include "base/base.h"
#include "cuda/api.h"
#include "cutrace/format.h"

#define CT_ALLOCATION_HANDLE ((uint64_t)1 << 63)
#define CT_ALLOCATIONS_FOLLOWED 98304 /* blocks at most, at the same time */
#define CT_ALLOCATIONS_LISTED 64      /* sizes in the list of blocks still allocated */

/* A block. kind 0: none. */
struct ct_allocated {
    uint64_t key;
    CUcontext context; /* the context that it goes with; NULL: none */
    uint64_t bytes;
    uint32_t kind; /* enum ct_allocation */
    uint16_t device;
    uint16_t references; /* to physical memory, beyond the first */
};

bool ct_allocations_init(void);

/* Whether allocations are followed. */
bool ct_allocations_are_on(void);

void ct_allocations_add(struct ct_allocated block);
void ct_allocations_failed(uint32_t kind, uint32_t device, uint64_t bytes);

/*
 * To be called before memory is freed: another thread may get its address the moment it is. Counts
 * and returns the block; a block that is not known, which then has no key, counts for the kind and
 * device given. _keep takes a block back whose free failed, as if that had not been tried.
 */
struct ct_allocated ct_allocations_free(uint64_t key, uint32_t kind, uint32_t device);
void ct_allocations_keep(struct ct_allocated block);

/* Another reference to physical memory. */
void ct_allocations_retain(uint64_t key);

/* Ends all blocks of a context. */
void ct_allocations_end(CUcontext context);

/* The figures of a device and a kind; false: there are none. */
bool ct_allocations_figures(uint32_t device, uint32_t kind, struct ct_file_memory *figures);

/* Lists blocks still allocated by device, kind and size, most bytes first; all others are last. */
uint32_t ct_allocations_list(struct ct_file_block list[CT_ALLOCATIONS_LISTED + 1]);

#endif
