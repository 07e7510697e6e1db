/* SPDX-License-Identifier: MIT */
/* Numbers as nvprof writes them. */
#ifndef CT_REPORT_UNITS_H
#define CT_REPORT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Long enough for every text made here. */
#define CT_UNITS_BYTES 32

enum ct_unit {
    CT_UNIT_AUTO,   /* each value in the unit that suits it, written behind it */
    CT_UNIT_COLUMN, /* each column in the unit that suits its largest value */
    CT_UNIT_NS,
    CT_UNIT_US,
    CT_UNIT_MS,
    CT_UNIT_S,
};

/* "ns", "us", "ms", "s" of the four fixed units. */
const char *ct_unit_name(enum ct_unit unit);

/* The unit that suits a value, one of the four fixed ones. */
enum ct_unit ct_unit_of(uint64_t ns);

/* Value and unit in at most `width` characters, with as many digits as fit: "1.5638ms". */
void ct_units_time(char *text, uint64_t ns, int width);

/* The value alone in a fixed unit, in 8 characters: "1.563813", "1.05e-03". */
void ct_units_cell(char *text, uint64_t ns, enum ct_unit unit);

/* The value alone in a fixed unit with six decimals, for CSV; nanoseconds stay whole. */
char *ct_units_csv(char *text, uint64_t ns, enum ct_unit unit);

/* 1024-based. */
enum ct_byte_unit { CT_BYTE_UNIT_B, CT_BYTE_UNIT_KB, CT_BYTE_UNIT_MB, CT_BYTE_UNIT_GB };

const char *ct_byte_unit_name(enum ct_byte_unit unit);
enum ct_byte_unit ct_byte_unit_of(double bytes);

/* As ct_units_time(). */
void ct_units_size_in(char *text, uint64_t bytes, int width);

/* "703.13KB"; then the value alone in a fixed unit, in 8 characters and for CSV; bytes are whole.
 */
void ct_units_size(char *text, uint64_t bytes);
void ct_units_size_cell(char *text, uint64_t bytes, enum ct_byte_unit unit);
char *ct_units_size_csv(char *text, uint64_t bytes, enum ct_byte_unit unit);

/* "1.9000GB/s" for bytes moved in ns nanoseconds; bytes per second, as the sizes, in 10 characters.
 */
void ct_units_throughput(char *text, uint64_t bytes, uint64_t ns);
void ct_units_rate_cell(char *text, double rate, enum ct_byte_unit unit);
char *ct_units_rate_csv(char *text, double rate, enum ct_byte_unit unit);

/* Bytes per second in powers of 1000, which nvprof has not: "63.757GB/s". */
void ct_units_bandwidth(char *text, double rate);

#endif
