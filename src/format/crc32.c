/* SPDX-License-Identifier: MIT */
/*
 * Eight bytes a step (slicing by eight). The tables are constants of the compiler's making: this
 * runs inside the traced program, where nothing may be set up first and nothing be written.
 */
#include "format/crc32.h"

/* The checksum register after one more zero bit. */
#define SHIFTED(c) (((c) >> 1) ^ (0xedb88320u & (0u - ((c)&1u))))

/*
 * S<t><k>: the effect of bit k of a byte on the checksum, seen t bytes later. Each is the one
 * before it shifted once; the first, bit 7 seen at once, is a lone 1 shifted.
 */
#define OF_BYTE(t, before)                                                                         \
    S##t##7 = SHIFTED(before), S##t##6 = SHIFTED(S##t##7), S##t##5 = SHIFTED(S##t##6),             \
    S##t##4 = SHIFTED(S##t##5), S##t##3 = SHIFTED(S##t##4), S##t##2 = SHIFTED(S##t##3),            \
    S##t##1 = SHIFTED(S##t##2), S##t##0 = SHIFTED(S##t##1)

enum {
    OF_BYTE(0, 1u),
    OF_BYTE(1, S00),
    OF_BYTE(2, S10),
    OF_BYTE(3, S20),
    OF_BYTE(4, S30),
    OF_BYTE(5, S40),
    OF_BYTE(6, S50),
    OF_BYTE(7, S60)
};

/* The checksum is linear: the entry of a byte is the exclusive or of those of its bits. */
#define ENTRY(t, n)                                                                                \
    (((n)&1 ? S##t##0 : 0) ^ ((n)&2 ? S##t##1 : 0) ^ ((n)&4 ? S##t##2 : 0) ^                       \
     ((n)&8 ? S##t##3 : 0) ^ ((n)&16 ? S##t##4 : 0) ^ ((n)&32 ? S##t##5 : 0) ^                     \
     ((n)&64 ? S##t##6 : 0) ^ ((n)&128 ? S##t##7 : 0))
#define ENTRIES4(t, n) ENTRY(t, n), ENTRY(t, (n) + 1), ENTRY(t, (n) + 2), ENTRY(t, (n) + 3)
#define ENTRIES16(t, n)                                                                            \
    ENTRIES4(t, n), ENTRIES4(t, (n) + 4), ENTRIES4(t, (n) + 8), ENTRIES4(t, (n) + 12)
#define ENTRIES64(t, n)                                                                            \
    ENTRIES16(t, n), ENTRIES16(t, (n) + 16), ENTRIES16(t, (n) + 32), ENTRIES16(t, (n) + 48)
#define TABLE(t)                                                                                   \
    {                                                                                              \
        ENTRIES64(t, 0), ENTRIES64(t, 64), ENTRIES64(t, 128), ENTRIES64(t, 192)                    \
    }

static const uint32_t table[8][256] = {TABLE(0), TABLE(1), TABLE(2), TABLE(3),
                                       TABLE(4), TABLE(5), TABLE(6), TABLE(7)};

static uint32_t four_bytes(const uint32_t (*t)[256], uint32_t word)
{
    return t[3][word & 255] ^ t[2][word >> 8 & 255] ^ t[1][word >> 16 & 255] ^ t[0][word >> 24];
}

/* Loads in the order of the stream, whatever the machine's byte order. */
static uint32_t load32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t ct_crc32(uint32_t seed, const void *data, size_t len_bytes)
{
    const unsigned char *p = data;
    uint32_t c = ~seed;
    for (; len_bytes >= 8; len_bytes -= 8, p += 8)
        c = four_bytes(table + 4, c ^ load32(p)) ^ four_bytes(table, load32(p + 4));
    for (; len_bytes; len_bytes--, p++)
        c = c >> 8 ^ table[0][(c ^ *p) & 255];
    return ~c;
}

static uint32_t over_zeros(uint32_t c, size_t len_bytes)
{
    static const char zeros[512];
    for (; len_bytes > sizeof(zeros); len_bytes -= sizeof(zeros))
        c = ~ct_crc32(~c, zeros, sizeof(zeros));
    return ~ct_crc32(~c, zeros, len_bytes);
}

/* Entries are linear, too: n & (n - 1) has all bits of n but the lowest. */
void ct_crc32_shift(struct ct_crc32_shift *s, size_t len_bytes)
{
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t *t = s->table[3 - k];
        t[0] = 0;
        for (uint32_t n = 1; n < 256; n++)
            t[n] = n & (n - 1) ? t[n & (n - 1)] ^ t[n & -n] : over_zeros(n << 8 * k, len_bytes);
    }
}

uint32_t ct_crc32_join(const struct ct_crc32_shift *s, uint32_t first, uint32_t second)
{
    return four_bytes(s->table, first) ^ second;
}
