/* SPDX-License-Identifier: MIT */
/* NCCL's operations: summaries added up. */
#ifndef CT_REPORT_COLLECTIVES_H
#define CT_REPORT_COLLECTIVES_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/key_table.h"

/* Elements as in a file. All zero at first. */
struct ct_merged_collectives {
    struct ct_key_table keys; /* by operation, type, ranks and size */
    struct ct_file_collective *rows;
    size_t size;
};

void ct_collectives_add(struct ct_merged_collectives *c, const struct ct_summary *s);
void ct_collectives_free(struct ct_merged_collectives *c);

#endif
