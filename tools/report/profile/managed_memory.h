/* SPDX-License-Identifier: MIT */
/* Managed memory that moved, and page faults, by device and kind: summaries added up. */
#ifndef CT_REPORT_MANAGED_MEMORY_H
#define CT_REPORT_MANAGED_MEMORY_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/key_table.h"

/* Elements as in a file, with our devices. All zero at first. */
struct ct_managed_memory {
    struct ct_key_table keys; /* by device and kind; faults of the CPU by kind alone */
    struct ct_file_unified *rows;
    size_t size;
};

/* device_map: of the file's devices to ours. */
void ct_managed_memory_add(struct ct_managed_memory *m, const struct ct_summary *s,
                           const uint32_t *device_map);
void ct_managed_memory_free(struct ct_managed_memory *m);

/* NULL: there are none. */
const struct ct_file_unified *ct_managed_memory_find(const struct ct_managed_memory *m,
                                                     uint32_t device, enum ct_unified kind);

#endif
