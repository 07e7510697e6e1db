/* SPDX-License-Identifier: MIT */
/* A table of text as wide as its cells need: right-aligned columns, the last one left-aligned. */
#ifndef CT_REPORT_GRID_H
#define CT_REPORT_GRID_H

#include <stdint.h>
#include <stdio.h>

#include "report/memory.h"

#define CT_GRID_COLUMNS 24

struct ct_grid {
    struct ct_string text; /* cells, each terminated, row by row */
    size_t cells;
    size_t columns;
    size_t widths[CT_GRID_COLUMNS];
};

/* Starts with the headings, separated by '|'. */
void ct_grid_start(struct ct_grid *g, const char *headings);
void ct_grid_put(struct ct_grid *g, const char *text);
void ct_grid_count(struct ct_grid *g, uint64_t n);
void ct_grid_time(struct ct_grid *g, uint64_t ns);
void ct_grid_size(struct ct_grid *g, uint64_t bytes);
__attribute__((format(printf, 2, 3))) void ct_grid_printf(struct ct_grid *g, const char *format,
                                                          ...);

/* Prints title and rows, nothing when there is no row, and frees the grid. */
void ct_grid_finish(struct ct_grid *g, FILE *out, const char *prefix, const char *title);

#endif
