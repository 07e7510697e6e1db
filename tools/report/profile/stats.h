/* SPDX-License-Identifier: MIT */
/* Tests of significance: probabilities of the observed difference when nothing has changed. */
#ifndef CT_REPORT_STATS_H
#define CT_REPORT_STATS_H

#include <stddef.h>

#include "report/profile/merge.h"

/* Two-sided: of a Student-t variable further from 0 than t, and of a normal one. */
double ct_stats_student(double t, double freedom);
double ct_stats_normal(double z);

/* A mean, or a total. */
struct ct_stats_value {
    double value;
    double variance; /* by chance; averages away with more of the same */
    double freedom;  /* degrees of freedom of the variance; 0: it is not known */
    double doubt;    /* may be wrong by, in the worst case; does not average away */
};

/*
 * Welch's t test of the hypothesis that the two differ by no more than their doubts together: the
 * distance beyond that, over its standard error. NAN: a variance is not known.
 */
double ct_stats_welch(const struct ct_stats_value *a, const struct ct_stats_value *b);

/* Half of the 95 % interval of the difference, the doubts included; NAN as above. */
double ct_stats_half(const struct ct_stats_value *a, const struct ct_stats_value *b);

struct ct_ranks_test {
    double p;           /* NAN: a histogram is empty */
    double superiority; /* how often one of b is longer than one of a, ties half; 0.5: no shift */
};

/*
 * Mann and Whitney's test of two histograms of n_a and n_b values, shifts up to `doubt` being none.
 * Histograms may weigh values: the numbers are of those that were measured.
 */
struct ct_ranks_test ct_stats_ranks(const struct ct_merged_hist *a, double n_a,
                                    const struct ct_merged_hist *b, double n_b, double doubt);

/*
 * Holm's correction for so many tests at once, in place, NAN being none: of all that are below a
 * level afterwards, with no more than that probability one is there by chance.
 */
void ct_stats_holm(double *p, size_t count);

#endif
