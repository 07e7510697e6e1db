/* SPDX-License-Identifier: MIT */
/* Readings of the devices, and reasons that held their clocks. */
#ifndef CT_PAGE_SENSORS_H
#define CT_PAGE_SENSORS_H

#include <jansson.h>

#include "report/profile/merge.h"

/* With a mean alone. */
json_t *ct_page_sensors(const struct ct_merged *m);

#endif
