/* SPDX-License-Identifier: MIT */
#include "report/table.h"

static void print_quoted(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void print_line(FILE *out, const char *type, const struct ct_view *v,
                       const struct ct_line *line, const enum ct_unit *units)
{
    char cells[CT_COLUMN_COUNT][CT_UNITS_BYTES] = {"", "", "", ""};
    for (int c = 0; c < CT_COLUMN_COUNT && line->timed; c++)
        ct_units_csv(cells[c], ct_table_value(line, c), units[c]);
    fprintf(out, "\"%s\",", type);
    if (line->timed)
        fprintf(out, "%f", ct_view_percent(v, line));
    fprintf(out, ",%s,%llu,%s,%s,%s,", cells[CT_COLUMN_TIME], (unsigned long long)line->calls,
            cells[CT_COLUMN_AVG], cells[CT_COLUMN_MIN], cells[CT_COLUMN_MAX]);
    print_quoted(out, line->name);
    putc('\n', out);
}

static void print_section(FILE *out, const char *type, const struct ct_view *v,
                          const enum ct_unit *units)
{
    for (size_t i = 0; i < v->count; i++)
        print_line(out, type, v, &v->lines[i], units);
}

/* The numbers stay numbers: names tell which averages are uncertain. */
static void print_uncertain(FILE *out, const char *prefix, const struct ct_view *v)
{
    const char *before = ": ";
    if (!ct_view_count_uncertain(v))
        return;
    fprintf(out, "%sAvg is less than twice what it may be wrong by", prefix);
    for (size_t i = 0; i < v->count; i++) {
        if (!v->lines[i].uncertain)
            continue;
        fputs(before, out);
        print_quoted(out, v->lines[i].name);
        before = ",";
    }
    putc('\n', out);
}

/* A line of names, then one of units: every number of a column is in the same. */
static void print_heading(FILE *out, const enum ct_unit units[CT_COLUMN_COUNT])
{
    fputs("\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n", out);
    fprintf(out, ",%%,%s,,%s,%s,%s,\n", ct_unit_name(units[CT_COLUMN_TIME]),
            ct_unit_name(units[CT_COLUMN_AVG]), ct_unit_name(units[CT_COLUMN_MIN]),
            ct_unit_name(units[CT_COLUMN_MAX]));
}

void ct_csv_print(FILE *out, const struct ct_table_sections *s, enum ct_unit unit)
{
    enum ct_unit units[CT_COLUMN_COUNT];
    ct_table_units(units, s, unit);
    if (s->gpu && !s->gpu->count)
        fputs("No kernels were profiled.\n", out);
    if ((s->gpu && s->gpu->count) || (s->apis && s->apis->count))
        print_heading(out, units);
    if (s->gpu)
        print_section(out, "GPU activities", s->gpu, units);
    if (s->apis && !s->apis->count)
        fputs("No API activities were profiled.\n", out);
    else if (s->apis)
        print_section(out, "API calls", s->apis, units);
    print_uncertain(out, s->prefix, s->gpu);
}
