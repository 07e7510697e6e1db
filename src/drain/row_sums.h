/* SPDX-License-Identifier: MIT */
/* Durations of operations, added to their rows (counts/row.h). Drain thread. */
#ifndef CT_ROW_SUMS_H
#define CT_ROW_SUMS_H

#include "base/base.h"
#include "counts/row.h"

/*
 * Adds a timed operation, or a batch, whose copies get equal shares of it: the raw bracket, the
 * duration, and the doubt of the duration, either way.
 */
void ct_row_add(struct ct_row *r, const struct ct_op *op, uint64_t raw_ns, uint64_t time_ns,
                uint64_t doubt_ns);

/* Projects the timed operations onto those that were sampled out, in all rows. Drain thread. */
void ct_rows_project(void);

#endif
