/* SPDX-License-Identifier: MIT */
/* Managed memory: names of its kinds, and the tables that nvprof prints below its summary. */
#ifndef CT_REPORT_UNIFIED_REPORT_H
#define CT_REPORT_UNIFIED_REPORT_H

#include <stdio.h>

#include "report/reports.h"

/* Kinds are enum ct_unified; a newer minor version may have more of them. */
const char *ct_unified_name(uint32_t kind);

/* Prints nothing where nothing is known. `prefix` begins lines that are not of a table. */
void ct_unified_print(FILE *out, const char *prefix, const struct ct_input *in);

#endif
