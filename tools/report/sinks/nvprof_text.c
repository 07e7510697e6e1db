/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>

#include "report/short_names.h"
#include "report/sinks/nvprof.h"
#include "report/stacks/launchers.h"
#include "report/terminal.h"

/*
 * Type, Time(%), Time, Calls, Avg, Min, Max; the name is only shortened on a terminal. The mark of
 * a time or an average takes a blank before its column, so that everything else stays where it is.
 */
#define TYPE_WIDTH 16
#define SHARES "  %7s %9s"
#define CALLS "  %8s"
#define AVERAGE " %9s"
#define CALLS_WIDTH 10 /* each of the two */
#define CELLS_WIDTH 55 /* all of these */
#define EXTREMES "  %8s  %8s"
#define EXTREMES_WIDTH 20
#define NARROW_TYPE 6
#define LEAST_NAME 23 /* columns; a terminal that has less for it is spared others */
#define LEAST_LINE 14 /* likewise; with less there is no line of Python */
#define MOST_LINE 24  /* where that costs Min and Max, or a name */

/* How a table is laid out in the width that there is. */
struct layout {
    int type;
    bool calls, average, extremes;
    int line; /* columns; 0: none */
    int name; /* INT_MAX: all that names need */
};

bool ct_nvprof_has_lines(int width)
{
    return width >= CELLS_WIDTH + 2 + LEAST_LINE + 2 + LEAST_NAME;
}

/* A line of Python without its directories, and its share unless it is all: "train.py:12 (62%)". */
static void spell_line(struct ct_string *to, const struct ct_cell *cells)
{
    ct_string_clear(to);
    if (!cells[CT_SUMMARY_LINE].known)
        return;
    ct_string_put(to, ct_launchers_short(cells[CT_SUMMARY_LINE].text));
    if (cells[CT_SUMMARY_LINE_PERCENT].known && cells[CT_SUMMARY_LINE_PERCENT].number < 99.5)
        ct_string_printf(to, " (%.0f%%)", cells[CT_SUMMARY_LINE_PERCENT].number);
}

/* The width that the widest takes; 0: no row has a line. */
static int widest_line(const struct ct_nvprof *n)
{
    struct ct_string line = {0};
    int most = 0;
    for (size_t i = 0; i < n->rows.count; i++) {
        struct ct_cell cells[CT_SUMMARY_COLUMNS] = {{0}};
        ct_row_store_get(&n->rows, i, cells);
        spell_line(&line, cells);
        if (ct_terminal_width(line.data) > most)
            most = ct_terminal_width(line.data);
    }
    ct_string_free(&line);
    return most;
}

static bool spare(int *name, int columns)
{
    bool needed = *name < LEAST_NAME;
    *name += needed ? columns : 0;
    return needed;
}

/* Spared are, in this order, Min and Max, half of the type, Avg, Calls. */
static struct layout layout_of(const struct ct_nvprof *n)
{
    struct layout l = {TYPE_WIDTH, true, true, true, 0, INT_MAX};
    if (!n->width)
        return l;
    l.name = n->width - CELLS_WIDTH - 2;
    if (ct_nvprof_has_lines(n->width))
        l.line = widest_line(n);
    if (l.line) {
        int spare = l.name - LEAST_NAME - EXTREMES_WIDTH - 2, room = l.name - LEAST_NAME - 2;
        int most = spare > MOST_LINE ? spare : room < MOST_LINE ? room : MOST_LINE;
        l.line = l.line < 4 ? 4 : l.line < most ? l.line : most;
        l.name -= l.line + 2;
    }
    l.extremes = l.name >= LEAST_NAME + EXTREMES_WIDTH;
    l.name -= l.extremes ? EXTREMES_WIDTH : 0;
    l.type = spare(&l.name, TYPE_WIDTH - NARROW_TYPE) ? NARROW_TYPE : TYPE_WIDTH;
    l.average = !spare(&l.name, CALLS_WIDTH);
    l.calls = !spare(&l.name, CALLS_WIDTH);
    l.name = l.name > 4 ? l.name : 4;
    return l;
}

struct line {
    const char *type, *percent, *time, *calls, *average, *min, *max;
};

static void print_cells(const struct ct_nvprof *n, const struct layout *l, const struct line *t)
{
    fprintf(n->out, "%*s" SHARES, l->type, t->type, t->percent, t->time);
    if (l->calls)
        fprintf(n->out, CALLS, t->calls);
    if (l->average)
        fprintf(n->out, AVERAGE, t->average);
    if (l->extremes)
        fprintf(n->out, EXTREMES, t->min, t->max);
}

static void print_python(const struct ct_nvprof *n, const struct layout *l, const char *line)
{
    struct ct_string shown = {0};
    const char *number = strrchr(line, ':');
    if (!l->line)
        return;
    ct_launchers_fit(&shown, line, number ? number : line + strlen(line), l->line);
    fprintf(n->out, "  %s%*s", shown.data, l->line - ct_terminal_width(shown.data), "");
    ct_string_free(&shown);
}

static void print_units(const struct ct_nvprof *n, const struct layout *l,
                        const enum ct_unit *units)
{
    print_cells(n, l,
                &(struct line){"", "%", ct_unit_name(units[CT_SUMMARY_TIME]), "",
                               ct_unit_name(units[CT_SUMMARY_AVG]),
                               ct_unit_name(units[CT_SUMMARY_MIN]),
                               ct_unit_name(units[CT_SUMMARY_MAX])});
    fputc('\n', n->out);
}

static void spell_time(char *text, const struct ct_cell *cell, const enum ct_unit *unit)
{
    if (!cell->known)
        snprintf(text, CT_UNITS_BYTES, "-");
    else if (unit)
        ct_units_cell(text, cell->count, *unit);
    else
        ct_units_time(text, cell->count, 8);
}

static void add_name(struct ct_string *to, const struct ct_cell *cells)
{
    ct_string_put(to, cells[CT_SUMMARY_NAME].text);
    if (cells[CT_SUMMARY_NAMES].known && cells[CT_SUMMARY_NAMES].count > 1)
        ct_string_printf(to, " [%llu kernels]", (unsigned long long)cells[CT_SUMMARY_NAMES].count);
}

/* nvprof's names are at least as wide as their heading; a terminal has them all begin there. */
static void print_name(const struct ct_nvprof *n, const char *name)
{
    fprintf(n->out, "  %s%*s%s\n", n->color ? CT_TERMINAL_NAME : "", n->width ? 0 : 4, name,
            n->color ? CT_TERMINAL_PLAIN : "");
}

static void print_line(const struct ct_nvprof *n, const struct layout *l, const char *type,
                       const struct ct_cell *cells, const char *name, const enum ct_unit *units)
{
    struct ct_string line = {0};
    char percent[CT_UNITS_BYTES] = "-", calls[CT_UNITS_BYTES];
    char time[CT_UNITS_BYTES + 1], average[CT_UNITS_BYTES + 1];
    char times[CT_SUMMARY_COLUMNS][CT_UNITS_BYTES];
    for (int c = 0; c < CT_SUMMARY_COLUMNS; c++)
        if (c == CT_SUMMARY_TIME || (c >= CT_SUMMARY_AVG && c <= CT_SUMMARY_MAX))
            spell_time(times[c], &cells[c], units ? &units[c] : NULL);
    snprintf(calls, sizeof(calls), "%llu", (unsigned long long)cells[CT_SUMMARY_CALLS].count);
    if (cells[CT_SUMMARY_PERCENT].known)
        snprintf(percent, sizeof(percent), "%.2f%s", cells[CT_SUMMARY_PERCENT].number,
                 units ? "" : "%");
    snprintf(time, sizeof(time), "%s%s", ct_cell_sign(&cells[CT_SUMMARY_TIME]),
             times[CT_SUMMARY_TIME]);
    snprintf(average, sizeof(average), "%s%s", ct_cell_sign(&cells[CT_SUMMARY_AVG]),
             times[CT_SUMMARY_AVG]);
    print_cells(n, l,
                &(struct line){type, percent, time, calls, average, times[CT_SUMMARY_MIN],
                               times[CT_SUMMARY_MAX]});
    spell_line(&line, cells);
    print_python(n, l, line.data);
    print_name(n, name);
    ct_string_free(&line);
}

/* Names as they are shown: whole, or in the room that a terminal has. */
static char **names_of(const struct ct_nvprof *n, const struct layout *l, size_t from, size_t to)
{
    struct ct_string name = {0};
    char **names = ct_memory_array(to - from, sizeof(*names));
    for (size_t i = from; i < to; i++) {
        struct ct_cell cells[CT_SUMMARY_COLUMNS] = {{0}};
        ct_row_store_get(&n->rows, i, cells);
        ct_string_clear(&name);
        add_name(&name, cells);
        names[i - from] = ct_memory_copy(name.data, name.len + 1);
    }
    ct_string_free(&name);
    if (!n->width)
        return names;
    char **shown = ct_short_names_in((const char *const *)names, to - from, l->name);
    ct_short_names_free(names, to - from);
    return shown;
}

static void print_section(const struct ct_nvprof *n, const struct layout *l, const char *type,
                          size_t from, size_t to, const enum ct_unit *units)
{
    char label[TYPE_WIDTH + 1];
    bool narrow = l->type == NARROW_TYPE;
    snprintf(label, sizeof(label), "%.*s:", (int)strcspn(type, narrow ? ": " : ":"), type);
    char **names = names_of(n, l, from, to);
    for (size_t i = from; i < to; i++) {
        struct ct_cell cells[CT_SUMMARY_COLUMNS] = {{0}};
        ct_row_store_get(&n->rows, i, cells);
        print_line(n, l, i == from ? label : "", cells, names[i - from], units);
    }
    ct_short_names_free(names, to - from);
}

/* A mark of the cells above. */
static void explain(const struct ct_nvprof *n, const char *text)
{
    struct ct_string line = {0};
    ct_string_printf(&line, "%s%s\n", n->prefix, text);
    ct_terminal_wrap(n->out, line.data, n->width);
    ct_string_free(&line);
}

void ct_nvprof_text(const struct ct_nvprof *n)
{
    enum ct_unit each[CT_SUMMARY_COLUMNS], *units = n->unit == CT_UNIT_AUTO ? NULL : each;
    struct layout l = layout_of(n);
    ct_nvprof_units(each, n);
    size_t apis = n->range_count + n->gpu_count;
    if (n->gpu && !n->gpu_count && !n->range_count)
        ct_nvprof_none(n, "kernels");
    if (n->rows.count) {
        fputs(n->color ? CT_TERMINAL_BOLD : "", n->out);
        print_cells(n, &l, &(struct line){"Type", "Time(%)", "Time", "Calls", "Avg", "Min", "Max"});
        print_python(n, &l, "Line");
        fprintf(n->out, "  %4s%s\n", "Name", n->color ? CT_TERMINAL_PLAIN : "");
        if (units)
            print_units(n, &l, units);
    }
    print_section(n, &l, CT_SUMMARY_RANGE, 0, n->range_count, units);
    if (!n->gpu_count && n->range_count)
        ct_nvprof_none(n, "kernels");
    print_section(n, &l, CT_SUMMARY_GPU, n->range_count, apis, units);
    print_section(n, &l, CT_SUMMARY_API, apis, n->rows.count, units);
    if (n->apis && apis == n->rows.count)
        ct_nvprof_none(n, "API activities");
    if (n->uncertain)
        explain(n, "~: Avg is less than twice what it may be wrong by (see --details)");
    if (n->bounds)
        explain(n, "<: Avg is so much at most, it rests on upper bounds (see --details)");
    if (n->estimates)
        explain(n, "*: Not all calls were timed, Time and Avg are estimates (see below)");
    ct_terminal_wrap(n->out, n->notes.data, n->width);
}
