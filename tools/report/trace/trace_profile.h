/* SPDX-License-Identifier: MIT */
/* Reports of profiles, made of traces. */
#ifndef CT_REPORT_TRACE_PROFILE_H
#define CT_REPORT_TRACE_PROFILE_H

#include "report/reports.h"

/*
 * Pushes the report on the timed operations in the options' files, and notes on the files' losses.
 * Memory is for rows and their histograms, not for operations.
 */
int ct_trace_profile_rows(const struct ct_input *in, struct ct_sink *sink, FILE *out);

#endif
