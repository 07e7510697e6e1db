/* SPDX-License-Identifier: MIT */
/* The CUDA functions that were called. */
#ifndef CT_PAGE_API_CALLS_H
#define CT_PAGE_API_CALLS_H

#include <jansson.h>

#include "report/profile/merge.h"

json_t *ct_page_calls(const struct ct_merged *m);

#endif
