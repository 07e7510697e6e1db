/* SPDX-License-Identifier: MIT */
/*
 * Operations of a cluster may be longer or shorter together, and so the totals that are estimated
 * from them are off together, of a row's cells and of rows. What that comes to is found from how
 * far they are from the means of their cells. Of the drain thread.
 */
#ifndef CT_IN_COMMON_H
#define CT_IN_COMMON_H

#include "base/base.h"

struct ct_op;

/* An operation of a cluster, so far from its cell's mean as many times as it stands for. */
void ct_in_common_add(const struct ct_op *op, double distance_ns);
void ct_in_common_forget(void);

#endif
