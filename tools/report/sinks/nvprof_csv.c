/* SPDX-License-Identifier: MIT */
#include "report/sinks/csv_text.h"
#include "report/sinks/nvprof.h"

static void print_time(FILE *out, const struct ct_cell *cell, enum ct_unit unit)
{
    char text[CT_UNITS_BYTES] = "";
    if (cell->known)
        ct_units_csv(text, cell->count, unit);
    fputs(text, out);
}

static void print_name(FILE *out, const char *name)
{
    struct ct_string cell = {0};
    ct_csv_name(&cell, name);
    fputs(cell.data, out);
    ct_string_free(&cell);
}

static void print_line(FILE *out, const struct ct_cell *cells, const enum ct_unit *units,
                       bool groups)
{
    fprintf(out, "\"%s\",", cells[CT_SUMMARY_TYPE].text);
    if (cells[CT_SUMMARY_PERCENT].known)
        fprintf(out, "%f", cells[CT_SUMMARY_PERCENT].number);
    for (int c = CT_SUMMARY_TIME; c <= CT_SUMMARY_MAX; c++) {
        putc(',', out);
        if (c == CT_SUMMARY_CALLS)
            fprintf(out, "%llu", (unsigned long long)cells[c].count);
        else
            print_time(out, &cells[c], units[c]);
    }
    putc(',', out);
    print_name(out, cells[CT_SUMMARY_NAME].text);
    if (groups)
        putc(',', out);
    if (cells[CT_SUMMARY_NAMES].known)
        fprintf(out, "%llu", (unsigned long long)cells[CT_SUMMARY_NAMES].count);
    putc('\n', out);
}

/* The numbers stay numbers: names tell which averages have a sign before them in the table. */
static void print_signed(const struct ct_nvprof *n, const char *sign, const char *text)
{
    fprintf(n->below, "%s%s:", n->prefix, text);
    for (size_t i = 0; i < n->rows.count; i++) {
        struct ct_cell cells[CT_SUMMARY_COLUMNS] = {{0}};
        ct_row_store_get(&n->rows, i, cells);
        if (strcmp(ct_cell_sign(&cells[CT_SUMMARY_AVG]), sign) != 0)
            continue;
        putc(',', n->below);
        print_name(n->below, cells[CT_SUMMARY_NAME].text);
    }
    putc('\n', n->below);
}

/* A line of names, then one of units: every number of a column is in the same. */
static void print_heading(FILE *out, const enum ct_unit *units, bool groups)
{
    fprintf(out, "\"Type\",\"Time(%%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"%s\n",
            groups ? ",\"Names\"" : "");
    fprintf(out, ",%%,%s,,%s,%s,%s,%s\n", ct_unit_name(units[CT_SUMMARY_TIME]),
            ct_unit_name(units[CT_SUMMARY_AVG]), ct_unit_name(units[CT_SUMMARY_MIN]),
            ct_unit_name(units[CT_SUMMARY_MAX]), groups ? "," : "");
}

/* Notes come before the rows: nothing is to follow the last row. */
static void print_notes(const struct ct_nvprof *n)
{
    if (n->uncertain)
        print_signed(n, "~", "Avg is less than twice what it may be wrong by");
    if (n->bounds)
        print_signed(n, "<", "Avg is so much at most as it rests on upper bounds");
    if (n->estimates)
        print_signed(n, "*", "Time and Avg are estimates as not all calls were timed");
    fputs(n->notes.data, n->below);
}

void ct_nvprof_csv(const struct ct_nvprof *n)
{
    enum ct_unit units[CT_SUMMARY_COLUMNS];
    bool groups = n->rows.count && n->grouped;
    ct_nvprof_units(units, n);
    print_notes(n);
    if (n->gpu && !n->gpu_count)
        ct_nvprof_none(n, "kernels");
    if (n->apis && n->range_count + n->gpu_count == n->rows.count)
        ct_nvprof_none(n, "API activities");
    if (n->rows.count)
        print_heading(n->out, units, groups);
    for (size_t i = 0; i < n->rows.count; i++) {
        struct ct_cell cells[CT_SUMMARY_COLUMNS] = {{0}};
        ct_row_store_get(&n->rows, i, cells);
        print_line(n->out, cells, units, groups);
    }
}
