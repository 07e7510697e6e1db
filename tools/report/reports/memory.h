/* SPDX-License-Identifier: MIT */
/* Allocations: what their kinds are called. */
#ifndef CT_REPORT_ALLOCATIONS_H
#define CT_REPORT_ALLOCATIONS_H

#include "report/reports.h"

/* Of enum ct_allocation; a newer minor version may have more of them. */
const char *ct_allocation_name(uint32_t kind);

#endif
