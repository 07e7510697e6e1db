/* SPDX-License-Identifier: MIT */
/* Grids and blocks of a kernel's launches. */
#ifndef CT_REPORT_SHAPES_H
#define CT_REPORT_SHAPES_H

#include "report/profile/merge.h"

#define CT_SHAPES_BYTES 48 /* three numbers and their separators */

/* A copy, the most frequent first, to be freed. */
struct ct_file_shape *ct_shapes_of(const struct ct_merged_row *row);

#endif
