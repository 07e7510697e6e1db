/* SPDX-License-Identifier: MIT */
/* CRC-32 as in IEEE 802.3, gzip and PNG: reflected polynomial 0xedb88320. */
#ifndef CT_CRC32_H
#define CT_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Checksum of the data that gave `seed` with len_bytes more at its end; of nothing it is 0. */
uint32_t ct_crc32(uint32_t seed, const void *data, size_t len_bytes);

#endif
