/* SPDX-License-Identifier: MIT */
/* Figures of a function that was called. */
#ifndef CT_REPORT_APIS_H
#define CT_REPORT_APIS_H

#include "report/reports.h"

struct ct_cell ct_apis_quantile(const struct ct_merged_api *api, double share);
double ct_apis_deviation(const struct ct_file_api *sum);

#endif
