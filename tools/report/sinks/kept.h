/* SPDX-License-Identifier: MIT */
/* Rows of a relation that a sink keeps: texts are stored once. */
#ifndef CT_REPORT_KEPT_H
#define CT_REPORT_KEPT_H

#include "report/profile/intern.h"
#include "report/sinks/relation.h"

/* All zero at first. */
struct ct_kept {
    const struct ct_relation *relation;
    struct ct_intern texts;
    struct ct_cell *cells; /* row by row; texts are numbers in `count` */
    size_t cells_size;
    size_t count; /* rows */
};

/* Forgets all rows. */
void ct_kept_begin(struct ct_kept *k, const struct ct_relation *relation);
void ct_kept_add(struct ct_kept *k, const struct ct_cell *cells);
/* Row i with its texts, which are valid until the next one is added. */
void ct_kept_get(const struct ct_kept *k, size_t i, struct ct_cell *cells);
void ct_kept_free(struct ct_kept *k);

#endif
