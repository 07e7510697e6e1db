/* SPDX-License-Identifier: MIT */
/*
 * Numbers as printf() writes them in the C locale, digit for digit, in a tenth of its time: tables
 * of traces have hundreds of millions. Functions return the end of the digits; nothing is
 * terminated.
 */
#ifndef CT_REPORT_DIGITS_H
#define CT_REPORT_DIGITS_H

#include <stdint.h>

/* The longest that is written: "%f" of the largest double. */
#define CT_DIGITS_BYTES 320

/* How many "%llu" has. */
int ct_digits_of(uint64_t value);

/* "%llu" */
char *ct_digits_count(char *to, uint64_t value);

/* value / 10^decimals with all its decimals: "%.3f" of 1234567 and 3 is "1234.567". */
char *ct_digits_scaled(char *to, uint64_t value, int decimals);

/* "%.*f" with up to six decimals */
char *ct_digits_fixed(char *to, double value, int decimals);

#endif
