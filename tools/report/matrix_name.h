/* SPDX-License-Identifier: MIT */
/*
 * Matrix products and convolutions of cuBLAS, cuDNN and CUTLASS: their names list everything that
 * the kernel was made with, and people tell them apart by tile, type and layout.
 */
#ifndef CT_REPORT_MATRIX_NAME_H
#define CT_REPORT_MATRIX_NAME_H

#include <stdbool.h>

#include "report/host_memory.h"

/*
 * Appends "gemm 128x256 bf16 tn" for a kernel's name, or the part of it that says so: the kind,
 * the tile, and where the name has them, the type of the operands, the layout and "split-k".
 * False: the name has no kind and tile, and nothing was appended.
 */
bool ct_matrix_name(struct ct_string *to, const char *name);

#endif
