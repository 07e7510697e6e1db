/* SPDX-License-Identifier: MIT */
/*
 * How many blocks of a kernel a device has room for at a time, by a multiprocessor's limits (CUDA C
 * Programming Guide, "Technical Specifications per Compute Capability", 8.0 to 10.0): one that has
 * less is full sooner.
 */
#ifndef CT_OCCUPANCY_H
#define CT_OCCUPANCY_H

#include "base/base.h"
#include "time/op.h"

#define CT_SM_BLOCKS 32
#define CT_SM_THREADS 2048
#define CT_SM_REGISTERS 65536
#define CT_SM_SHARED_BYTES 233472
#define CT_BLOCK_SHARED_BYTES 1024 /* that the system takes of them for each block */

static inline uint64_t ct_sm_blocks(const struct ct_shape *shape, uint32_t block_registers,
                                    uint32_t static_shared_bytes)
{
    uint64_t blocks = CT_SM_BLOCKS;
    uint64_t shared_bytes =
        shape->dynamic_shared_bytes + static_shared_bytes + CT_BLOCK_SHARED_BYTES;
    blocks = ct_min(blocks, CT_SM_THREADS / ct_max(ct_shape_threads(shape), 1));
    blocks = ct_min(blocks, CT_SM_REGISTERS / ct_max(block_registers, 1));
    blocks = ct_min(blocks, CT_SM_SHARED_BYTES / shared_bytes);
    return ct_max(blocks, 1);
}

/* Whether a kernel has a block for each place: then those of the next one have to wait. */
static inline bool ct_fills_device(uint32_t sm_count, const struct ct_shape *shape,
                                   uint32_t block_registers, uint32_t static_shared_bytes)
{
    uint64_t blocks = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
    return sm_count && blocks >= sm_count &&
           blocks >= sm_count * ct_sm_blocks(shape, block_registers, static_shared_bytes);
}

#endif
