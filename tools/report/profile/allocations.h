/* SPDX-License-Identifier: MIT */
/* Allocations by device and kind, and blocks that were not freed: summaries added up. */
#ifndef CT_REPORT_ALLOCATIONS_H
#define CT_REPORT_ALLOCATIONS_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/key_table.h"

/* Elements as in a file, with our devices. All zero at first. */
struct ct_merged_allocations {
    struct ct_key_table memory_keys; /* by device and kind */
    struct ct_file_memory *memory;
    size_t memory_size;
    struct ct_key_table block_keys; /* by device, kind and size; all that no file lists are one */
    struct ct_file_block *blocks;
    size_t blocks_size;
};

/* device_map: of the file's devices to ours. */
void ct_allocations_add(struct ct_merged_allocations *a, const struct ct_summary *s,
                        const uint32_t *device_map);
void ct_allocations_free(struct ct_merged_allocations *a);

/* The bytes of all blocks that an entry stands for. */
uint64_t ct_allocations_bytes(const struct ct_file_block *block);

#endif
