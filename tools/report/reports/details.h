/* SPDX-License-Identifier: MIT */
/* Everything in a file that the summary table has no room for. */
#ifndef CT_REPORT_DETAILS_H
#define CT_REPORT_DETAILS_H

#include <stdio.h>

#include "report/reports.h"

/* in->m was merged with details. */
void ct_details_print(FILE *out, const char *prefix, const struct ct_input *in);

#endif
