/* SPDX-License-Identifier: MIT */
/* The lines below the table: which operations it contains and which not, in numbers that add up. */
#ifndef CT_REPORT_TRUTH_H
#define CT_REPORT_TRUTH_H

#include <stdio.h>

#include "report/profile/view.h"

/* One line of all operations, then one for each thing that is not as it should be. */
void ct_truth_print(FILE *out, const char *prefix, const struct ct_merged *m,
                    const struct ct_view *gpu, const struct ct_view_options *o);

#endif
