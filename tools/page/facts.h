/* SPDX-License-Identifier: MIT */
/* Facts around the page's plots: processes, devices, and how far to trust it. */
#ifndef CT_PAGE_FACTS_H
#define CT_PAGE_FACTS_H

#include <jansson.h>

#include "report/profile/view.h"

json_t *ct_page_processes(const struct ct_merged *m);
json_t *ct_page_devices(const struct ct_merged *m);

/* The sentences below the table, one by one. */
json_t *ct_page_truth(const struct ct_merged *m, const struct ct_view *gpu,
                      const struct ct_view_options *o);

#endif
