/* SPDX-License-Identifier: MIT */
/* Allocations by device and kind, and blocks that were not freed: summaries added up. */
#ifndef CT_REPORT_ALLOCATED_H
#define CT_REPORT_ALLOCATED_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/intern.h"

/* Elements as in a file, with our devices. All zero at first. */
struct ct_merged_allocated {
    struct ct_intern memory_keys; /* by device and kind */
    struct ct_file_memory *memory;
    size_t memory_size;
    struct ct_intern block_keys; /* by device, kind and size; all that no file lists are one */
    struct ct_file_block *blocks;
    size_t blocks_size;
};

/* device_map: of the file's devices to ours. */
void ct_allocated_add(struct ct_merged_allocated *a, const struct ct_summary *s,
                      const uint32_t *device_map);
void ct_allocated_free(struct ct_merged_allocated *a);

/* The bytes of all blocks that an entry stands for. */
uint64_t ct_allocated_bytes(const struct ct_file_block *block);

#endif
