/* SPDX-License-Identifier: MIT */
/* Operations of the GPU, line by line as in the table, with all that is known of each. */
#ifndef CT_PAGE_ACTIVITIES_H
#define CT_PAGE_ACTIVITIES_H

#include <jansson.h>

#include "report/profile/view.h"

json_t *ct_page_activities(const struct ct_merged *m, const struct ct_view *gpu,
                           const struct ct_view_options *o);

#endif
