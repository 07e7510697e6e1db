/* SPDX-License-Identifier: MIT */
/* Reports of profiles, made of traces. */
#ifndef CT_REPORT_TRACE_PROFILE_H
#define CT_REPORT_TRACE_PROFILE_H

#include "report/reports.h"

/*
 * What the report says of the timed operations in the options' files, and what the files lack.
 * Memory is for rows and their histograms, not for operations.
 */
int ct_trace_profile_rows(const struct ct_input *in, struct ct_sink *sink, FILE *out);

#endif
