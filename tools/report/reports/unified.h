/* SPDX-License-Identifier: MIT */
/* Managed memory as nvprof prints it, below its summary. */
#ifndef CT_REPORT_UNIFIED_H
#define CT_REPORT_UNIFIED_H

#include <stdio.h>

#include "report/reports.h"

/* Nothing where nothing is known. `prefix` begins lines that are not of a table. */
void ct_unified_print(FILE *out, const char *prefix, const struct ct_input *in);

#endif
