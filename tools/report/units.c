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

#define FIELD 8
#define DECIMALS 6

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
    for (int p = DECIMALS; p >= 0; p--) {
        double rounded = floor(x * powers[p] + 0.5) / powers[p];
        if (snprintf(text, CT_UNITS_BYTES, "%.*f%s", p, rounded, unit) <= width)
            return;
    }
}

void ct_units_time(char *text, uint64_t ns, int width)
{
    enum ct_unit unit = ct_unit_of(ns);
    if (unit == CT_UNIT_NS)
        snprintf(text, CT_UNITS_BYTES, "%uns", (unsigned)ns);
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

void ct_units_csv(char *text, uint64_t ns, enum ct_unit unit)
{
    if (unit == CT_UNIT_NS && ns < 1000)
        snprintf(text, CT_UNITS_BYTES, "%u", (unsigned)ns);
    else
        snprintf(text, CT_UNITS_BYTES, "%f", (double)ns * units[unit].factor);
}

/* The unit changes at 1000 of the one below, which has 1024 of the next below. */
static void fit_bytes(char *text, double bytes, const char *per, int width)
{
    static const char *const names[] = {"B", "KB", "MB", "GB"};
    size_t i = 0;
    while (i + 1 < sizeof(names) / sizeof(names[0]) && bytes >= 1000) {
        bytes /= 1024;
        i++;
    }
    char unit[8];
    snprintf(unit, sizeof(unit), "%s%s", names[i], per);
    fit(text, bytes, unit, width);
}

void ct_units_size(char *text, uint64_t bytes)
{
    if (bytes < 1000)
        snprintf(text, CT_UNITS_BYTES, "%uB", (unsigned)bytes);
    else
        fit_bytes(text, (double)bytes, "", FIELD);
}

void ct_units_throughput(char *text, uint64_t bytes, uint64_t ns)
{
    if (ns)
        fit_bytes(text, (double)bytes * 1e9 / (double)ns, "/s", 10);
    else
        strcpy(text, "-");
}
