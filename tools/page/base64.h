/* SPDX-License-Identifier: MIT */
/* Bytes as text (RFC 4648), piece by piece. */
#ifndef CT_PAGE_BASE64_H
#define CT_PAGE_BASE64_H

#include <stdint.h>
#include <stdio.h>

/* All zero at first, but for out. */
struct ct_base64 {
    FILE *out;
    uint32_t bits;
    unsigned have; /* bytes in them */
};

void ct_base64_put(struct ct_base64 *b, const void *data, size_t bytes);
void ct_base64_end(struct ct_base64 *b);

#endif
