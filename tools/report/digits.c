/* SPDX-License-Identifier: MIT */
#include "report/digits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t powers[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
    10000000000000000000u,
};

/* 1233 / 4096 is the logarithm of 2: a number of so many bits has that many digits, or one more. */
int ct_digits_of(uint64_t value)
{
    int bits = 64 - __builtin_clzll(value | 1), most = bits * 1233 >> 12;
    return most + (value >= powers[most]) + !value;
}

/* The last `count` digits of a number. */
static void put_digits(char *to, uint64_t value, int count)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    for (; count >= 2; value /= 100) {
        count -= 2;
        memcpy(to + count, pairs + 2 * (value % 100), 2);
    }
    if (count)
        *to = (char)('0' + value % 10);
}

char *ct_digits_count(char *to, uint64_t value)
{
    int count = ct_digits_of(value);
    put_digits(to, value, count);
    return to + count;
}

char *ct_digits_scaled(char *to, uint64_t value, int decimals)
{
    to = ct_digits_count(to, value / powers[decimals]);
    if (!decimals)
        return to;
    *to++ = '.';
    put_digits(to, value % powers[decimals], decimals);
    return to + decimals;
}

/*
 * printf() rounds the exact value of a double. The product is within 2^-53 of it, so that below
 * 10^12 it tells on which side of the half it is, unless it is next to it.
 */
char *ct_digits_fixed(char *to, double value, int decimals)
{
    double scaled = value * (double)powers[decimals], whole = floor(scaled), rest = scaled - whole;
    if (!signbit(value) && scaled < 1e12 && !(rest > 0.499 && rest < 0.501))
        return ct_digits_scaled(to, (uint64_t)whole + (rest > 0.5), decimals);
    char text[CT_DIGITS_BYTES];
    int len = snprintf(text, sizeof(text), "%.*f", decimals, value);
    memcpy(to, text, (size_t)len);
    return to + len;
}
