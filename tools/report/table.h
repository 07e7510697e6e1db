/* SPDX-License-Identifier: MIT */
/* nvprof's summary table, as text and as CSV. */
#ifndef CT_REPORT_TABLE_H
#define CT_REPORT_TABLE_H

#include <stdio.h>

#include "report/units.h"
#include "report/view.h"

/* Up to two sections: what was on the GPU, and the calls. NULL: not part of this table. */
struct ct_table_sections {
    const char *prefix; /* of lines that are not of the table */
    const struct ct_view *gpu;
    const struct ct_view *apis;
};

void ct_table_print(FILE *out, const struct ct_table_sections *s, enum ct_unit unit);
void ct_csv_print(FILE *out, const struct ct_table_sections *s, enum ct_unit unit);

/* The columns with times, and their units when each column has one for all its values. */
enum ct_table_column {
    CT_COLUMN_TIME,
    CT_COLUMN_AVG,
    CT_COLUMN_MIN,
    CT_COLUMN_MAX,
    CT_COLUMN_COUNT,
};

uint64_t ct_table_value(const struct ct_line *line, enum ct_table_column column);
void ct_table_units(enum ct_unit units[CT_COLUMN_COUNT], const struct ct_table_sections *s,
                    enum ct_unit unit);

#endif
