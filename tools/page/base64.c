/* SPDX-License-Identifier: MIT */
#include "page/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_digits(struct ct_base64 *b, unsigned count)
{
    char text[4];
    for (unsigned i = 0; i < 4; i++)
        text[i] = i < count ? digits[b->bits >> (18 - 6 * i) & 63] : '=';
    fwrite(text, 1, sizeof(text), b->out);
    b->bits = b->have = 0;
}

void ct_base64_put(struct ct_base64 *b, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i++) {
        b->bits |= (uint32_t)at[i] << (16 - 8 * b->have);
        if (++b->have == 3)
            put_digits(b, 4);
    }
}

void ct_base64_end(struct ct_base64 *b)
{
    if (b->have)
        put_digits(b, b->have + 1);
}
