/* SPDX-License-Identifier: MIT */
/*
 * The variance of a sum of estimates that are off together: sampled in the preloaded library, added
 * up again by the report.
 */
#ifndef CT_COVARIANCE_H
#define CT_COVARIANCE_H

/*
 * Adds what the estimates have in common, if it is more than chance, to the variance of their sum,
 * ns2. The degrees of freedom are as many times fewer, as if there were so many fewer estimates;
 * `freedom_ns4` is the variance squared by their number.
 */
static inline void ct_covariance_add(double *variance_ns2, double *freedom_ns4, double in_common_ns2)
{
    if (!(*variance_ns2 > 0) || !(in_common_ns2 > 0))
        return;
    double times = 1 + in_common_ns2 / *variance_ns2;
    *variance_ns2 *= times;
    *freedom_ns4 *= times * times * times;
}

#endif
