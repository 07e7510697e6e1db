/* SPDX-License-Identifier: MIT */
/* Operations and calls in the program's ranges, for all reports that print them. */
#ifndef CT_REPORT_NVTX_REPORT_H
#define CT_REPORT_NVTX_REPORT_H

#include "report/profile/ranges.h"
#include "report/reports.h"

/* Operations or calls of one name in a group of ranges. */
struct ct_range_line {
    char *name;
    struct ct_file_cell sum;
};

struct ct_range_lines {
    struct ct_range_line *lines; /* longest total first */
    size_t count;
    size_t size;
    uint64_t total_ns;
};

/* kinds: mask of 1 << enum ct_row_kind; 0: calls. */
void ct_range_lines(struct ct_range_lines *l, const struct ct_input *in,
                    const struct ct_range_group *group, unsigned kinds);
void ct_range_lines_free(struct ct_range_lines *l);

/* The report "nvtx" below a summary. */
void ct_nvtx_table(FILE *out, const char *prefix, const struct ct_input *in);

/*
 * Below the summary: with --nvtx-ranges the tables of nvprof, each with its heading, otherwise one
 * table, which is none of a CSV's; nothing where there are no ranges.
 */
void ct_nvtx_print(FILE *out, const char *prefix, const struct ct_input *in);

#endif
