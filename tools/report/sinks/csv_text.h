/* SPDX-License-Identifier: MIT */
/* Text in comma-separated values that no spreadsheet takes for a formula. */
#ifndef CT_REPORT_CSV_TEXT_H
#define CT_REPORT_CSV_TEXT_H

#include <stdio.h>

#include "report/host_memory.h"

/* A name as a cell in quotes; and without the quotes around it. */
void ct_csv_name(struct ct_string *out, const char *name);
void ct_csv_cell(struct ct_string *out, const char *name);

/* Lines above and below the table; one that a name would break into cells becomes one cell. */
void ct_csv_text(FILE *out, const char *text);

#endif
