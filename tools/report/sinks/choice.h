/* SPDX-License-Identifier: MIT */
/* --columns: which columns of its relations a format gets, and in which order. */
#ifndef CT_REPORT_CHOICE_H
#define CT_REPORT_CHOICE_H

#include "report/report_options.h"
#include "report/sinks/relation.h"

/*
 * A sink in front of another, which it closes with itself; the other one alone without --columns.
 * The first relation must have all columns, which is said otherwise, and *status becomes 2; of
 * further ones those that it has are shown, or nothing.
 */
struct ct_sink *ct_choice_open(struct ct_sink *to, const struct ct_options *o, int *status);

#endif
