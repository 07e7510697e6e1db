/* SPDX-License-Identifier: MIT */
/* The whole report of a merged profile. */
#ifndef CT_REPORT_REPORT_H
#define CT_REPORT_REPORT_H

#include <stdio.h>

#include "report/merge.h"
#include "report/options.h"

void ct_report_print(FILE *out, const struct ct_merged *m, const struct ct_options *o);

#endif
