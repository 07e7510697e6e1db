/* SPDX-License-Identifier: MIT */
/* One row that stands for several: sums, least and most in columns that allow them. */
#ifndef CT_REPORT_FOLD_H
#define CT_REPORT_FOLD_H

#include "report/sinks/relation.h"

struct ct_fold_row {
    const struct ct_relation *relation;
    size_t count; /* rows in it */
    struct ct_cell cells[CT_RELATION_COLUMNS];
};

void ct_fold_begin(struct ct_fold_row *f, const struct ct_relation *relation);
void ct_fold_add(struct ct_fold_row *f, const struct ct_cell *cells);

/* Whether the relation has a column that a folded row says something in. */
bool ct_fold_makes_sense(const struct ct_relation *relation);

/* The column with the name of a row: the first with names, otherwise the last text; -1: none. */
int ct_fold_name_column(const struct ct_relation *relation);

#endif
