/* SPDX-License-Identifier: MIT */
/* How far a total that was estimated from a sample may be off. */
#ifndef CT_REPORT_INTERVAL_H
#define CT_REPORT_INTERVAL_H

/*
 * Half of the 95 % interval. Of the estimate: its variance, its third central moment, and its
 * variance squared by degrees of freedom, as ct_file_row has them, or their sums over rows.
 */
double ct_interval_half_ns(double variance_ns2, double third_ns3, double freedom_ns4);

/* Student's t that 95 % of values are within, either way. */
double ct_interval_student(double freedom);

#endif
