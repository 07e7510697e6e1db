/* SPDX-License-Identifier: MIT */
#include "report/profile/interval.h"

#include <math.h>

#define Z 1.959964

/* Student's t at 97.5 %, by Cornish and Fisher's expansion; exact where that fails. */
double ct_interval_student(double freedom)
{
    static const double exact[] = {12.706, 4.303, 3.182};
    double f = freedom < 1 ? 1 : freedom;
    if (f < 3) {
        int low = f < 2 ? 0 : 1;
        double from = 1.0 / (low + 1), to = 1.0 / (low + 2);
        return exact[low + 1] + (exact[low] - exact[low + 1]) * (1 / f - to) / (from - to);
    }
    double z3 = pow(Z, 3), z5 = pow(Z, 5), z7 = pow(Z, 7);
    return Z + (z3 + Z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * Z) / (96 * f * f) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * Z) / (384 * f * f * f);
}

/*
 * Most samples of a long tail miss its far values, and those that have one have a wide interval:
 * Johnson's correction moves the interval towards the tail. Here it widens it on both sides.
 */
double ct_interval_half_ns(double variance_ns2, double third_ns3, double freedom_ns4)
{
    if (!(variance_ns2 > 0))
        return 0;
    double deviation = sqrt(variance_ns2);
    double t =
        ct_interval_student(freedom_ns4 > 0 ? variance_ns2 * (variance_ns2 / freedom_ns4) : 1e9);
    double skew = fabs(third_ns3) / (variance_ns2 * deviation);
    return deviation * (t + skew * (1 + 2 * Z * Z) / 6);
}
