/* SPDX-License-Identifier: MIT */
#include "report/digits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_DIGITS 20 /* of 64 bits */

char *ct_digits_count(char *to, uint64_t value)
{
    char digits[MOST_DIGITS], *at = digits + sizeof(digits);
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    size_t len = (size_t)(digits + sizeof(digits) - at);
    memcpy(to, at, len);
    return to + len;
}

char *ct_digits_scaled(char *to, uint64_t value, int decimals)
{
    uint64_t power = 1;
    for (int i = 0; i < decimals; i++)
        power *= 10;
    to = ct_digits_count(to, value / power);
    if (!decimals)
        return to;
    *to++ = '.';
    uint64_t rest = value % power;
    for (int i = decimals - 1; i >= 0; i--) {
        to[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    return to + decimals;
}

/*
 * printf() rounds the exact value of a double. The product is within 2^-53 of it, so that below
 * 10^12 it tells on which side of the half it is, unless it is next to it.
 */
char *ct_digits_fixed(char *to, double value, int decimals)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    double scaled = value * powers[decimals], whole = floor(scaled), rest = scaled - whole;
    if (!signbit(value) && scaled < 1e12 && !(rest > 0.499 && rest < 0.501))
        return ct_digits_scaled(to, (uint64_t)whole + (rest > 0.5), decimals);
    char text[CT_DIGITS_BYTES];
    int len = snprintf(text, sizeof(text), "%.*f", decimals, value);
    memcpy(to, text, (size_t)len);
    return to + len;
}
