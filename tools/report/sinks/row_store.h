/* SPDX-License-Identifier: MIT */
/* Rows of a relation that a sink keeps: texts are stored once. */
#ifndef CT_REPORT_ROW_STORE_H
#define CT_REPORT_ROW_STORE_H

#include "report/profile/key_table.h"
#include "report/sinks/relation.h"

/* All zero at first. */
struct ct_row_store {
    const struct ct_relation *relation;
    struct ct_key_table texts;
    struct ct_cell *cells; /* row by row; texts are numbers in `count` */
    size_t cells_size;
    size_t count; /* rows */
};

/* Forgets all rows. */
void ct_row_store_begin(struct ct_row_store *k, const struct ct_relation *relation);
void ct_row_store_add(struct ct_row_store *k, const struct ct_cell *cells);
/* Row i with its texts, which are valid until the next one is added. */
void ct_row_store_get(const struct ct_row_store *k, size_t i, struct ct_cell *cells);
void ct_row_store_free(struct ct_row_store *k);

#endif
