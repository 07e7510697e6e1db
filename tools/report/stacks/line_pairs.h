/* SPDX-License-Identifier: MIT */
/*
 * Lines of Python in two runs of a program that may have been edited between: lines of a function
 * are known again, in their order, by the functions that they call and the operations below them,
 * files of two checkouts by the ends of their paths.
 */
#ifndef CT_REPORT_LINE_PAIRS_H
#define CT_REPORT_LINE_PAIRS_H

#include "report/stacks/calls.h"

/* One run: a profile, and all calls of it. */
struct ct_line_side {
    const struct ct_merged *m;
    const struct ct_calls *calls;
};

/*
 * By ct_merged_stacks.lines of `before` an index of those of `after`, each once at most, or
 * CT_MERGE_NONE: only `before` launched from it. To be freed.
 */
uint32_t *ct_line_pairs(const struct ct_line_side *before, const struct ct_line_side *after);

#endif
