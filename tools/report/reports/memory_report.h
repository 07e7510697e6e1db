/* SPDX-License-Identifier: MIT */
/* Names of the kinds of allocations. */
#ifndef CT_REPORT_MEMORY_REPORT_H
#define CT_REPORT_MEMORY_REPORT_H

#include "report/reports.h"

/* Kinds are enum ct_allocation; a newer minor version may have more of them. */
const char *ct_allocation_name(uint32_t kind);

#endif
