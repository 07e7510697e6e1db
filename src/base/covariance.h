/* SPDX-License-Identifier: MIT */
/*
 * The variance of a sum of estimates whose errors go together: used by the library for its samples,
 * and by the report when it adds them up again.
 */
#ifndef CT_COVARIANCE_H
#define CT_COVARIANCE_H

/*
 * Adds the estimates' common variance, if it is above 0, to the variance of their sum, both in ns2.
 * Then there are fewer degrees of freedom, as if there were fewer estimates by the factor by which
 * the variance grows; `freedom_ns4` is the variance squared by their number.
 */
static inline void ct_covariance_add(double *variance_ns2, double *freedom_ns4,
                                     double in_common_ns2)
{
    if (!(*variance_ns2 > 0) || !(in_common_ns2 > 0))
        return;
    double times = 1 + in_common_ns2 / *variance_ns2;
    *variance_ns2 *= times;
    *freedom_ns4 *= times * times * times;
}

#endif
