/* SPDX-License-Identifier: MIT */
/* Time by line of Python, wherever in the tree it is. */
#ifndef CT_REPORT_LINE_SUMS_H
#define CT_REPORT_LINE_SUMS_H

#include "report/stacks/calls.h"

struct ct_line_sum {
    uint32_t index; /* of ct_merged_stacks.lines */
    struct ct_launched own;
    struct ct_launched all; /* a line that is above itself counts what is in it once */
    uint32_t open;          /* frames of it that the walk is in */
};

/* Those that launched anything, longest first. */
struct ct_line_sums {
    struct ct_line_sum *at; /* to be freed */
    size_t count;
};

struct ct_line_sums ct_line_sums_of(const struct ct_calls *c, const struct ct_merged *m);

#endif
