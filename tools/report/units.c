/* SPDX-License-Identifier: MIT */
/*
 * Every value has a field of a fixed width, and gets as many decimals, up to six, as fit there
 * with its unit. Values are rounded half up at that digit before they are printed; the factors
 * are multiplied, not divided by: both change last digits.
 */
#include "report/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/digits.h"

#define FIELD 8
#define RATE_FIELD 10
#define DECIMALS 6
#define EXACT 1e15 /* below this a double has all digits of a whole number */

static const struct {
    const char *name;
    double factor;
    uint64_t from_ns; /* smallest value that the unit suits */
} units[] = {
    [CT_UNIT_NS] = {"ns", 1, 0},
    [CT_UNIT_US] = {"us", 1e-3, 1000},
    [CT_UNIT_MS] = {"ms", 1e-6, 1000000},
    [CT_UNIT_S] = {"s", 1e-9, 1000000000},
};

const char *ct_unit_name(enum ct_unit unit)
{
    return units[unit].name;
}

enum ct_unit ct_unit_of(uint64_t ns)
{
    enum ct_unit unit = CT_UNIT_S;
    while (ns < units[unit].from_ns)
        unit--;
    return unit;
}

/* x with as many decimals as let it and `unit` fit in width; none when nothing fits. */
static void fit(char *text, double x, const char *unit, int width)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    int room = width - (int)strlen(unit), whole = x < EXACT ? ct_digits_of((uint64_t)x) : room;
    int p = room - whole - 1;
    p = p > DECIMALS ? DECIMALS : p < 0 ? 0 : p;
    double rounded = floor(x * powers[p] + 0.5);
    if (p && ct_digits_of((uint64_t)rounded) > whole + p) { /* up to one digit more */
        p = whole + p + 1 < room ? p : p - 1;
        rounded = floor(x * powers[p] + 0.5);
    }
    if (rounded < EXACT)
        strcpy(ct_digits_scaled(text, (uint64_t)rounded, p), unit);
    else
        snprintf(text, CT_UNITS_BYTES, "%.*f%s", p, rounded / powers[p], unit);
}

void ct_units_time(char *text, uint64_t ns, int width)
{
    enum ct_unit unit = ct_unit_of(ns);
    if (unit == CT_UNIT_NS)
        strcpy(ct_digits_count(text, ns), "ns");
    else
        fit(text, (double)ns * units[unit].factor, units[unit].name, width);
}

void ct_units_cell(char *text, uint64_t ns, enum ct_unit unit)
{
    double x = (double)ns * units[unit].factor;
    if (unit == CT_UNIT_NS && ns < 1000)
        snprintf(text, CT_UNITS_BYTES, "%u", (unsigned)ns);
    else if (x >= 1000 || (x < 0.01 && ns))
        snprintf(text, CT_UNITS_BYTES, "%.2e", x);
    else
        fit(text, x, "", FIELD);
}

char *ct_units_csv(char *text, uint64_t ns, enum ct_unit unit)
{
    char *end = unit == CT_UNIT_NS && ns < 1000
                    ? ct_digits_count(text, ns)
                    : ct_digits_fixed(text, (double)ns * units[unit].factor, DECIMALS);
    *end = 0;
    return end;
}

/* The unit changes at 1000 of the one below, which has 1024 of the next below. */
static const char *const byte_units[] = {"B", "KB", "MB", "GB"};

const char *ct_byte_unit_name(enum ct_byte_unit unit)
{
    return byte_units[unit];
}

enum ct_byte_unit ct_byte_unit_of(double bytes)
{
    enum ct_byte_unit unit = CT_BYTE_UNIT_B;
    while (unit < CT_BYTE_UNIT_GB && bytes >= 1000) {
        bytes /= 1024;
        unit++;
    }
    return unit;
}

static double in_unit(double bytes, enum ct_byte_unit unit)
{
    return bytes / (double)(1u << (10 * unit));
}

static void fit_bytes(char *text, double bytes, const char *per, int width)
{
    enum ct_byte_unit i = ct_byte_unit_of(bytes);
    char unit[8];
    strcpy(stpcpy(unit, byte_units[i]), per);
    fit(text, in_unit(bytes, i), unit, width);
}

void ct_units_size_in(char *text, uint64_t bytes, int width)
{
    if (bytes < 1000)
        strcpy(ct_digits_count(text, bytes), "B");
    else
        fit_bytes(text, (double)bytes, "", width);
}

void ct_units_size(char *text, uint64_t bytes)
{
    ct_units_size_in(text, bytes, FIELD);
}

void ct_units_size_cell(char *text, uint64_t bytes, enum ct_byte_unit unit)
{
    double x = in_unit((double)bytes, unit);
    if (unit == CT_BYTE_UNIT_B)
        *ct_digits_count(text, bytes) = 0;
    else if (x < 0.01 && bytes)
        snprintf(text, CT_UNITS_BYTES, "%.2e", x);
    else
        fit(text, x, "", FIELD);
}

char *ct_units_size_csv(char *text, uint64_t bytes, enum ct_byte_unit unit)
{
    char *end = unit == CT_BYTE_UNIT_B
                    ? ct_digits_count(text, bytes)
                    : ct_digits_fixed(text, in_unit((double)bytes, unit), DECIMALS);
    *end = 0;
    return end;
}

void ct_units_throughput(char *text, uint64_t bytes, uint64_t ns)
{
    if (ns)
        fit_bytes(text, (double)bytes * 1e9 / (double)ns, "/s", RATE_FIELD);
    else
        strcpy(text, "-");
}

/* Powers of 1000, as in data sheets and nccl-tests. */
void ct_units_bandwidth(char *text, double rate)
{
    static const char *const per_second[] = {"B/s", "KB/s", "MB/s", "GB/s"};
    int i = 0;
    for (; i < CT_BYTE_UNIT_GB && rate >= 1000; i++)
        rate /= 1000;
    fit(text, rate, per_second[i], RATE_FIELD);
}

void ct_units_rate_cell(char *text, double rate, enum ct_byte_unit unit)
{
    fit(text, in_unit(rate, unit), "", RATE_FIELD);
}

char *ct_units_rate_csv(char *text, double rate, enum ct_byte_unit unit)
{
    char *end = ct_digits_fixed(text, in_unit(rate, unit), DECIMALS);
    *end = 0;
    return end;
}
