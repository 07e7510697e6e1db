/* SPDX-License-Identifier: MIT */
#include "base/random.h"

#define LN2 0.69314718055994530942
#define MANTISSA 0x000fffffffffffffu
#define HALF_EXPONENT 0x3fe0000000000000u
#define ROOT_HALF 0.70710678118654752440
#define TERMS 17 /* terms of the series below: the next one is less than 1e-15 */

/* Natural logarithm of 0 < x <= 1, without libm: x = m 2^e, ln m = 2 artanh((m - 1) / (m + 1)). */
static double logarithm(double x)
{
    uint64_t bits;
    double m;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    int e = (int)(bits >> 52) - 1022;
    bits = (bits & MANTISSA) | HALF_EXPONENT;
    __builtin_memcpy(&m, &bits, sizeof(m));
    if (m < ROOT_HALF) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = TERMS; k > 0; k -= 2)
        sum = sum * square + 1.0 / k;
    return 2 * s * sum + e * LN2;
}

/* More than zero, at most one. */
static double uniform(uint64_t *state)
{
    uint64_t high = ct_random(state);
    return (double)(high << 21 | ct_random(state) >> 11) * 0x1p-53 + 0x1p-53;
}

uint32_t ct_random_skip(uint64_t *state, uint32_t every, uint32_t most)
{
    if (every <= 1)
        return 0;
    double skip = logarithm(uniform(state)) / logarithm(1 - 1.0 / every);
    return skip < most ? (uint32_t)skip : most;
}
