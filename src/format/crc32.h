/* SPDX-License-Identifier: MIT */
/* CRC-32 as in IEEE 802.3, gzip and PNG: reflected polynomial 0xedb88320. */
#ifndef CT_CRC32_H
#define CT_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Checksum of data that gave `seed` with len_bytes more at their end; without any it is 0. */
uint32_t ct_crc32(uint32_t seed, const void *data, size_t len_bytes);

/* Effect of len_bytes more on the checksum of the bytes before, by each byte of that. */
struct ct_crc32_shift {
    uint32_t table[4][256];
};
void ct_crc32_shift(struct ct_crc32_shift *s, size_t len_bytes);

/* Checksum of two parts from each one's; the shift is that of the second one's length. */
uint32_t ct_crc32_join(const struct ct_crc32_shift *s, uint32_t first, uint32_t second);

#endif
