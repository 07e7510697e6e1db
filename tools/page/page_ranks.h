/* SPDX-License-Identifier: MIT */
/* How processes, mostly ranks of a job, differ. */
#ifndef CT_PAGE_RANKS_H
#define CT_PAGE_RANKS_H

#include <jansson.h>

#include "report/reports.h"

/* NULL: there is one process alone, or nothing to compare. */
json_t *ct_page_ranks(const struct ct_input *in);

#endif
