/* SPDX-License-Identifier: MIT */
/* The summary as nvprof prints it, with the lines below it. */
#ifndef CT_REPORT_SUMMARY_H
#define CT_REPORT_SUMMARY_H

#include <stdio.h>

#include "report/profile/merge.h"
#include "report/report_options.h"

/* The exit status. */
int ct_report_print(FILE *out, const struct ct_merged *m, const struct ct_options *o);

#endif
