/* SPDX-License-Identifier: MIT */
#ifndef CT_ROOT_H
#define CT_ROOT_H

#include <stdint.h>

/* The square root without libm, to a thousandth; 0 of what is not above 0. */
static inline double ct_root(double x)
{
    uint64_t bits;
    double guess;
    if (!(x > 0))
        return 0;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    bits = (bits >> 1) + 0x1ff7a3bea91d9b1b; /* halves the exponent: within 4 % */
    __builtin_memcpy(&guess, &bits, sizeof(guess));
    return 0.5 * (guess + x / guess);
}

#endif
