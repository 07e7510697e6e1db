/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include <string.h>

/*
 * Type, Time(%), Time, Calls, Avg, Min, Max; the name is never cut. The mark of an uncertain
 * average takes a blank before its column, so that everything else stays where it is.
 */
#define CELLS "%16s  %7s  %8s  %8s %9s  %8s  %8s"

uint64_t ct_table_value(const struct ct_line *line, enum ct_table_column column)
{
    switch (column) {
    case CT_COLUMN_TIME:
        return line->total_ns;
    case CT_COLUMN_AVG:
        return line->avg_ns;
    case CT_COLUMN_MIN:
        return line->min_ns;
    default:
        return line->max_ns;
    }
}

static uint64_t largest(const struct ct_view *v, enum ct_table_column column, uint64_t so_far)
{
    for (size_t i = 0; v && i < v->count; i++)
        if (v->lines[i].timed && ct_table_value(&v->lines[i], column) > so_far)
            so_far = ct_table_value(&v->lines[i], column);
    return so_far;
}

void ct_table_units(enum ct_unit units[CT_COLUMN_COUNT], const struct ct_table_sections *s,
                    enum ct_unit unit)
{
    for (int c = 0; c < CT_COLUMN_COUNT; c++) {
        units[c] = unit;
        if (unit == CT_UNIT_AUTO || unit == CT_UNIT_COLUMN)
            units[c] = ct_unit_of(largest(s->apis, c, largest(s->gpu, c, 0)));
    }
}

static void print_units(FILE *out, const enum ct_unit units[CT_COLUMN_COUNT])
{
    const char *names[CT_COLUMN_COUNT];
    for (int c = 0; c < CT_COLUMN_COUNT; c++)
        names[c] = ct_unit_name(units[c]);
    fprintf(out, CELLS "\n", "", "%", names[CT_COLUMN_TIME], "", names[CT_COLUMN_AVG],
            names[CT_COLUMN_MIN], names[CT_COLUMN_MAX]);
}

static void print_line(FILE *out, const char *type, const struct ct_view *v,
                       const struct ct_line *line, const enum ct_unit *units)
{
    char percent[CT_UNITS_BYTES] = "-", calls[CT_UNITS_BYTES], average[CT_UNITS_BYTES + 1];
    char cells[CT_COLUMN_COUNT][CT_UNITS_BYTES] = {"-", "-", "-", "-"};
    snprintf(calls, sizeof(calls), "%llu", (unsigned long long)line->calls);
    if (line->timed)
        snprintf(percent, sizeof(percent), "%.2f%s", ct_view_percent(v, line), units ? "" : "%");
    for (int c = 0; c < CT_COLUMN_COUNT && line->timed; c++) {
        if (units)
            ct_units_cell(cells[c], ct_table_value(line, c), units[c]);
        else
            ct_units_time(cells[c], ct_table_value(line, c), 8);
    }
    snprintf(average, sizeof(average), "%s%s", line->uncertain ? "~" : "", cells[CT_COLUMN_AVG]);
    fprintf(out, CELLS "  %4s\n", type, percent, cells[CT_COLUMN_TIME], calls, average,
            cells[CT_COLUMN_MIN], cells[CT_COLUMN_MAX], line->name);
}

static void print_section(FILE *out, const char *type, const struct ct_view *v,
                          const enum ct_unit *units)
{
    for (size_t i = 0; i < v->count; i++)
        print_line(out, i ? "" : type, v, &v->lines[i], units);
}

void ct_table_print(FILE *out, const struct ct_table_sections *s, enum ct_unit unit)
{
    enum ct_unit each[CT_COLUMN_COUNT], *units = unit == CT_UNIT_AUTO ? NULL : each;
    ct_table_units(each, s, unit);
    if (s->gpu && !s->gpu->count)
        fputs("No kernels were profiled.\n", out);
    if ((s->gpu && s->gpu->count) || (s->apis && s->apis->count)) {
        fprintf(out, CELLS "  %4s\n", "Type", "Time(%)", "Time", "Calls", "Avg", "Min", "Max",
                "Name");
        if (units)
            print_units(out, units);
    }
    if (s->gpu)
        print_section(out, "GPU activities:", s->gpu, units);
    if (s->apis && !s->apis->count)
        fputs("No API activities were profiled.\n", out);
    else if (s->apis)
        print_section(out, "API calls:", s->apis, units);
    if (ct_view_count_uncertain(s->gpu))
        fprintf(out, "%s~: Avg is less than twice what it may be wrong by (see --details)\n",
                s->prefix);
}
