/* SPDX-License-Identifier: MIT */
/* The report "diff" by line of Python. */
#ifndef CT_REPORT_LINE_DIFF_H
#define CT_REPORT_LINE_DIFF_H

#include "report/profile/merge.h"
#include "report/sinks/relation.h"

/* Begins the relation and puts its rows and notes, the largest change first; the caller ends it. */
void ct_line_diff_begin(struct ct_sink *sink, const struct ct_merged *before,
                        const struct ct_merged *after);

#endif
