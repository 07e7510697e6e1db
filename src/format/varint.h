/* SPDX-License-Identifier: MIT */
/* Numbers in the form of cutrace/trace.h's blocks: seven bits a byte, the lowest first. */
#ifndef CT_VARINT_H
#define CT_VARINT_H

#include "base/base.h"

#define CT_VARINT_MOST 10 /* bytes */

/* Returns the place behind the number. */
static inline uint8_t *ct_varint_put(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)value | 0x80;
    *to++ = (uint8_t)value;
    return to;
}

/* Maps numbers near zero, of either sign, to small ones. */
static inline uint64_t ct_varint_fold(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t ct_varint_unfold(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Bytes to read from; `bad` is set once they do not suffice, and every number is 0 from then on. */
struct ct_varints {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static inline uint64_t ct_varint_get_long(struct ct_varints *v)
{
    uint64_t value = 0;
    for (unsigned shift = 0; v->at < v->end && shift < 64; shift += 7) {
        uint8_t byte = *v->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    v->bad = true;
    v->at = v->end;
    return 0;
}

static inline uint64_t ct_varint_get(struct ct_varints *v)
{
    if (ct_likely(v->at < v->end && !(*v->at & 0x80)))
        return *v->at++;
    return ct_varint_get_long(v);
}

#endif
