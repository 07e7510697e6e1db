/* SPDX-License-Identifier: MIT */
/* Two profiles side by side, for the page of the report "diff". */
#ifndef CT_PAGE_COMPARE_H
#define CT_PAGE_COMPARE_H

#include <jansson.h>

#include "report/reports/diff.h"

json_t *ct_page_compare(const struct ct_diff *d);

#endif
