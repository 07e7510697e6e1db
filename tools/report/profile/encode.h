/* SPDX-License-Identifier: MIT */
/* The sum of summaries as one more summary. */
#ifndef CT_REPORT_ENCODE_H
#define CT_REPORT_ENCODE_H

#include "report/profile/merge.h"

/* The payload of a file with all that m has, with details or without; the caller frees. */
void *ct_encode(const struct ct_merged *m, size_t *bytes);

#endif
