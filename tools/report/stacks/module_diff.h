/* SPDX-License-Identifier: MIT */
/* The report "diff" by module. */
#ifndef CT_REPORT_MODULE_DIFF_H
#define CT_REPORT_MODULE_DIFF_H

#include "report/profile/merge.h"
#include "report/sinks/relation.h"

/* Begins the relation and puts its rows and notes, the largest change first; the caller ends it. */
void ct_module_diff_begin(struct ct_sink *sink, const struct ct_merged *before,
                          const struct ct_merged *after);

#endif
