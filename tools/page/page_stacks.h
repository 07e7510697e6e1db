/* SPDX-License-Identifier: MIT */
/* The tree of Python's frames with the operations that they launched, for one profile or two. */
#ifndef CT_PAGE_STACKS_H
#define CT_PAGE_STACKS_H

#include <jansson.h>

#include "report/profile/view.h"
#include "report/reports/diff.h"

/*
 * Columns with one element for each call, those above before what they called: its parent (a number
 * from 1 on, 0: the root), its line, its operation (a number from 1 on among the lines of `gpu`, 0:
 * it is a frame), time and launches with all that it called. NULL: the profile has no stacks.
 */
json_t *ct_page_stacks(const struct ct_merged *m, const struct ct_view *gpu,
                       const struct ct_view_options *o);

/*
 * Both sides, and which lines are one (report/stacks/line_pairs.h); their operations are among
 * names of their own. NULL: one side has no stacks.
 */
json_t *ct_page_stacks_compare(const struct ct_diff *d);

#endif
