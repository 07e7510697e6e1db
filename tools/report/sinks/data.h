/* SPDX-License-Identifier: MIT */
/* Functions that the formats for programs share. */
#ifndef CT_REPORT_DATA_H
#define CT_REPORT_DATA_H

#include "report/host_memory.h"
#include "report/sinks/relation.h"

/* A known cell that is no text: integers whole, others with the column's decimals, no unit. */
void ct_data_number(struct ct_string *out, const struct ct_column *column,
                    const struct ct_cell *cell);

/* A text as JSON has it, with its quotes; ours are UTF-8, which jansson insists on. */
void ct_data_quote(struct ct_string *out, const char *text);

/* Formats of rows alone have no place for sentences: they go to standard error. */
void ct_data_note(const char *text);

#endif
