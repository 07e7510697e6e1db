/* SPDX-License-Identifier: MIT */
/* Busy and idle times of devices and streams, speed of copies; the headline and advice. */
#ifndef CT_PAGE_UTILIZATION_H
#define CT_PAGE_UTILIZATION_H

#include <jansson.h>

#include "report/profile/view.h"

json_t *ct_page_occupancy(const struct ct_merged *m);
json_t *ct_page_streams(const struct ct_merged *m);

/* Copies by direction, kinds of memory and size. */
json_t *ct_page_transfers(const struct ct_merged *m);

json_t *ct_page_headline(const struct ct_merged *m);
json_t *ct_page_advice(const struct ct_merged *m);

#endif
