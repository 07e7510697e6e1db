/* SPDX-License-Identifier: MIT */
/*
 * Operations of a cluster may be longer or shorter together. Then totals that are estimated from
 * them are off together, those of a row's cells and those of rows: by covariances that show in how
 * far the operations are from the means of their cells. Drain thread.
 */
#ifndef CT_COMMON_ERROR_H
#define CT_COMMON_ERROR_H

#include "base/base.h"

struct ct_op;

/* Adds an operation of a cluster. `distance_ns`: from the mean of its cell, times its weight. */
void ct_common_error_add(const struct ct_op *op, double distance_ns);

#endif
