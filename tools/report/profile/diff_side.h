/* SPDX-License-Identifier: MIT */
/* Figures of a row or a function in one of two profiles that are compared. */
#ifndef CT_REPORT_DIFF_SIDE_H
#define CT_REPORT_DIFF_SIDE_H

#include "report/profile/stats.h"

struct ct_diff_side {
    double calls;
    double timed; /* values in the histogram, before they stand for others */
    double total_ns;
    struct ct_stats_value mean; /* of one operation, ns; without operations timed all zero */
    bool of_processes;       /* the sample that it is from: several, not operations */
    const struct ct_merged_hist *hist;
};

struct ct_diff_side ct_diff_side_of_row(const struct ct_merged_row *row, bool raw);
struct ct_diff_side ct_diff_side_of_api(const struct ct_merged_api *api);

/* The mean times the calls, whose number is exact. */
struct ct_stats_value ct_diff_side_total(const struct ct_diff_side *side);

#endif
