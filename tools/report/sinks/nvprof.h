/* SPDX-License-Identifier: MIT */
/* nvprof's summary table, as text and as CSV, made of the rows of the report "summary". */
#ifndef CT_REPORT_NVPROF_H
#define CT_REPORT_NVPROF_H

#include <stdio.h>

#include "report/reports.h"
#include "report/sinks/row_store.h"
#include "report/units.h"

/* The columns of the report. */
enum ct_summary_column {
    CT_SUMMARY_TYPE,
    CT_SUMMARY_PERCENT,
    CT_SUMMARY_TIME,
    CT_SUMMARY_CALLS,
    CT_SUMMARY_AVG,
    CT_SUMMARY_MIN,
    CT_SUMMARY_MAX,
    CT_SUMMARY_NAME,
    CT_SUMMARY_BOUNDS, /* in machine formats */
    CT_SUMMARY_NAMES,  /* only of kernels in groups */
    CT_SUMMARY_LINE,   /* of Python, "file:line", that launched most of it; with stacks alone */
    CT_SUMMARY_LINE_PERCENT,
    CT_SUMMARY_COLUMNS,
};

#define CT_SUMMARY_GPU "GPU activities"
#define CT_SUMMARY_API "API calls"
#define CT_SUMMARY_RANGE "Range:" /* first, of the tables of ranges alone */

extern const struct ct_relation ct_summary_relation;

struct ct_nvprof {
    FILE *out;
    FILE *below;        /* where lines behind the rows go */
    const char *prefix; /* of lines that are not of the table */
    enum ct_unit unit;
    int width; /* of the terminal; 0: names are whole */
    bool color;
    bool grouped;  /* kernels are in groups */
    bool gpu;      /* the GPU's operations belong to this table, */
    bool apis;     /* and so do calls */
    bool filtered; /* not all rows may have come; those of ranges have */
    struct ct_row_store rows;
    size_t range_count; /* the first rows, */
    size_t gpu_count;   /* the next rows; the others are calls */
    size_t uncertain;   /* rows whose average is less than twice its doubt, */
    size_t bounds;      /* and rows whose average is only an upper bound */
    size_t estimates;   /* rows of which not all calls were timed */
    struct ct_string notes;
};

/* Each column of times in one unit; a unit is only there for these. */
void ct_nvprof_units(enum ct_unit units[CT_SUMMARY_COLUMNS], const struct ct_nvprof *n);

/* The line in place of rows: there are no "kernels", or none that were asked for. */
void ct_nvprof_none(const struct ct_nvprof *n, const char *what);

/* Whether a terminal of that width has room for the lines of Python; a file never has. */
bool ct_nvprof_has_lines(int width);

void ct_nvprof_text(const struct ct_nvprof *n);
void ct_nvprof_csv(const struct ct_nvprof *n);

/* A sink for the relation of the report "summary" alone. */
struct ct_sink *ct_sink_nvprof(FILE *out, const struct ct_look *look);

#endif
