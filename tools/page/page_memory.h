/* SPDX-License-Identifier: MIT */
/* Memory that was allocated and not freed, and managed memory that moved. */
#ifndef CT_PAGE_MEMORY_H
#define CT_PAGE_MEMORY_H

#include <jansson.h>

#include "report/profile/merge.h"

json_t *ct_page_allocations(const struct ct_merged *m);
json_t *ct_page_blocks(const struct ct_merged *m);
json_t *ct_page_managed(const struct ct_merged *m);

#endif
