/* SPDX-License-Identifier: MIT */
/*
 * A table of text as wide as its cells need: numbers to the right, texts to the left, no column
 * that has no value. The widths are those of the first rows: rows behind them are printed at once,
 * and may have a value in any column. On a terminal columns that can be done without go, then names
 * are shortened.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile/view.h"
#include "report/reports.h"
#include "report/short_names.h"
#include "report/sinks/row_store.h"
#include "report/sinks/short_paths.h"
#include "report/sinks/spelling.h"
#include "report/terminal.h"
#include "report/units.h"

#define MOST_KEPT 4096
#define UNSEEN_WIDTH 10 /* of a column that only later rows may have a value in */
#define LEAST_COLUMNS 3
#define LEAST_NAME 24 /* before a name gets less, a column goes */
#define LEAST_WIDE 44
#define SHORTEST_NAME 12 /* where none can go */

struct table {
    struct ct_sink sink;
    FILE *out;
    struct ct_look look;
    enum ct_unit unit;
    const struct ct_relation *relation;
    struct ct_row_store first; /* rows that the widths are made of */
    char **names;  /* on a terminal the short names of these, if the last column has names */
    size_t name;   /* the last column with names, or the last one */
    bool started;  /* they are printed */
    bool further;  /* another table was before */
    size_t hidden; /* columns that the terminal has no room for */
    int owed;      /* blanks before the next text, if one comes */
    int widths[CT_RELATION_COLUMNS];
    bool shown[CT_RELATION_COLUMNS];
    enum ct_unit units[CT_RELATION_COLUMNS];
    struct ct_string cell; /* scratch */
    struct ct_string notes;
};

static void drop_names(struct table *t)
{
    if (t->names)
        ct_short_names_free(t->names, t->first.count);
    t->names = NULL;
}

static void begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    struct table *t = (struct table *)sink;
    t->relation = relation;
    t->name = relation->count - 1;
    for (size_t c = 0; c < relation->count; c++)
        if (relation->columns[c].type == CT_CELL_NAME)
            t->name = c;
    t->started = false;
    t->hidden = 0;
    drop_names(t);
    ct_row_store_begin(&t->first, relation);
    ct_string_clear(&t->notes);
}

static bool is_value(const struct ct_column *column, const struct ct_cell *cell)
{
    if (!cell->known || ct_cell_is_text(column->type) || !(column->look & CT_QUIET))
        return cell->known;
    return ct_cell_is_number(column->type) ? cell->number != 0 : cell->count != 0;
}

/* The text of a cell, valid until the next. */
static const char *spell(struct table *t, size_t i, const struct ct_cell *cell)
{
    const struct ct_column *column = &t->relation->columns[i];
    char text[CT_UNITS_BYTES];
    if (!is_value(column, cell))
        return "-";
    if (ct_cell_is_text(column->type))
        return cell->text;
    ct_spelling_number(text, column, cell, t->unit == CT_UNIT_AUTO ? t->unit : t->units[i]);
    ct_string_clear(&t->cell);
    ct_string_printf(&t->cell, "%s%s", ct_cell_sign(cell), text);
    return t->cell.data;
}

/* Types of cells with a duration, a difference of two, or a point in time. */
static bool is_time(enum ct_cell_type type)
{
    return type == CT_CELL_TIME_NS || type == CT_CELL_CHANGE_NS || type == CT_CELL_STAMP_NS;
}

static uint64_t time_of(enum ct_cell_type type, const struct ct_cell *cell)
{
    return type == CT_CELL_CHANGE_NS ? ct_view_whole_ns(fabs(cell->number)) : cell->count;
}

/* The heading of a column, with its unit where that is fixed: "Time (us)". */
static const char *heading(struct table *t, size_t i)
{
    const struct ct_column *column = &t->relation->columns[i];
    if (t->unit == CT_UNIT_AUTO || !is_time(column->type))
        return column->heading;
    ct_string_clear(&t->cell);
    ct_string_printf(&t->cell, "%s (%s)", column->heading, ct_unit_name(t->units[i]));
    return t->cell.data;
}

/* One unit for a column: the one asked for, or that of its largest value. */
static void choose_units(struct table *t)
{
    for (size_t c = 0; c < t->relation->count; c++) {
        enum ct_cell_type type = t->relation->columns[c].type;
        uint64_t most = 0;
        t->units[c] = t->unit;
        if (t->unit != CT_UNIT_COLUMN || !is_time(type))
            continue;
        for (size_t i = 0; i < t->first.count; i++) {
            struct ct_cell cells[CT_RELATION_COLUMNS];
            ct_row_store_get(&t->first, i, cells);
            if (cells[c].known && time_of(type, &cells[c]) > most)
                most = time_of(type, &cells[c]);
        }
        t->units[c] = ct_unit_of(most);
    }
}

static void get(const struct table *t, size_t i, struct ct_cell *cells)
{
    struct ct_cell *name = &cells[t->name];
    ct_row_store_get(&t->first, i, cells);
    if (t->names && name->known)
        name->text = t->names[i];
}

/* width: 0 for as many columns as they need */
static void shorten_names(struct table *t, int width)
{
    size_t last = t->name;
    const struct ct_column *column = &t->relation->columns[last];
    if (!t->look.in->width || column->type != CT_CELL_NAME || column->look & CT_TREE)
        return;
    const char **whole = ct_memory_array(t->first.count, sizeof(*whole));
    for (size_t i = 0; i < t->first.count; i++) {
        struct ct_cell cells[CT_RELATION_COLUMNS];
        ct_row_store_get(&t->first, i, cells);
        whole[i] = cells[last].known ? cells[last].text : "";
    }
    drop_names(t);
    t->names = column->look & CT_PATH ? ct_short_paths(whole, t->first.count, width)
               : width                ? ct_short_names_in(whole, t->first.count, width)
                                      : ct_short_names(whole, t->first.count);
    free(whole);
}

static void widen(struct table *t, size_t i, const char *text)
{
    int width = ct_terminal_width(text);
    if (width > t->widths[i])
        t->widths[i] = width;
}

static int column_of(const struct ct_relation *r, const char *key)
{
    size_t at;
    return ct_relation_find(r, key, strlen(key), &at) ? (int)at : -1;
}

/* Whether a column equals the calls in each row; all rows are kept by now. */
static bool is_as_calls(const struct table *t, size_t column)
{
    int calls = column_of(t->relation, "calls");
    calls = calls < 0 ? column_of(t->relation, "operations") : calls;
    for (size_t i = 0; calls >= 0 && i < t->first.count; i++) {
        struct ct_cell cells[CT_RELATION_COLUMNS];
        ct_row_store_get(&t->first, i, cells);
        if (cells[column].known && cells[column].count != cells[calls].count)
            return false;
    }
    return calls >= 0;
}

/* Columns that tell no row from another go on terminals, unless they were asked for. */
static void drop_silent(struct table *t)
{
    const struct ct_merged *m = t->look.in->m;
    bool one_device = m && m->device_keys.count == 1;
    for (size_t c = 0; c < t->relation->count; c++) {
        int look = t->relation->columns[c].look;
        if ((look & CT_OF_DEVICE && one_device) || (look & CT_OF_CALLS && is_as_calls(t, c)))
            t->shown[c] = false;
    }
}

/* `more`: there are rows behind those that are kept. */
static void measure(struct table *t, bool more)
{
    choose_units(t);
    for (size_t c = 0; c < t->relation->count; c++) {
        t->widths[c] = 0;
        t->shown[c] = false;
        widen(t, c, heading(t, c));
    }
    for (size_t i = 0; i < t->first.count; i++) {
        struct ct_cell cells[CT_RELATION_COLUMNS];
        get(t, i, cells);
        for (size_t c = 0; c < t->relation->count; c++) {
            t->shown[c] |= is_value(&t->relation->columns[c], &cells[c]);
            widen(t, c, spell(t, c, &cells[c]));
        }
    }
    for (size_t c = 0; more && c < t->relation->count; c++) {
        if (!t->shown[c] && t->widths[c] < UNSEEN_WIDTH)
            t->widths[c] = UNSEEN_WIDTH;
        t->shown[c] = true;
    }
}

static int width_of_all(const struct table *t)
{
    int width = -2;
    for (size_t c = 0; c < t->relation->count; c++)
        width += t->shown[c] ? t->widths[c] + 2 : 0;
    return width;
}

/*
 * The shown column that can be done without first; -1: none. When all that are optional have gone,
 * it is the one at the right; but for names, columns of groups, and the columns that tables begin
 * with.
 */
static int most_optional(const struct table *t)
{
    int most = -1;
    for (size_t c = 0; c < t->relation->count; c++)
        if (t->shown[c] && ct_column_optional(&t->relation->columns[c]) &&
            (most < 0 || ct_column_optional(&t->relation->columns[c]) >=
                             ct_column_optional(&t->relation->columns[most])))
            most = (int)c;
    for (size_t c = t->relation->count; most < 0 && c-- > LEAST_COLUMNS;)
        if (t->shown[c] && c != t->name && t->relation->columns[c].fold != CT_FOLD_GROUP)
            most = (int)c;
    return most;
}

/* Makes the table fit: the last column may become as narrow as LEAST_NAME, or SHORTEST_NAME. */
static void fit(struct table *t)
{
    size_t last = t->name;
    int column, name = t->widths[last];
    int least = t->relation->columns[last].look & CT_WIDE ? LEAST_WIDE : LEAST_NAME;
    if (!t->look.in->width)
        return;
    t->widths[last] = name < least ? name : least;
    while (width_of_all(t) > t->look.in->width && (column = most_optional(t)) >= 0) {
        t->shown[column] = false;
        t->hidden++;
    }
    int room = t->look.in->width - width_of_all(t) + t->widths[last];
    if (room < SHORTEST_NAME)
        room = SHORTEST_NAME;
    t->widths[last] = name < room ? name : room;
}

static const char *color_of(const struct table *t, size_t c, bool is_heading)
{
    if (!t->look.in->color)
        return "";
    if (is_heading)
        return CT_TERMINAL_BOLD;
    return t->relation->columns[c].type == CT_CELL_NAME ? CT_TERMINAL_NAME : "";
}

/* Texts that are wider than their column are shortened on a terminal, in the middle. */
static void print_cell(struct table *t, size_t c, const char *text, const char *color, bool first)
{
    struct ct_string cut = {0};
    bool left = ct_cell_is_text(t->relation->columns[c].type);
    int width = ct_terminal_width(text);
    if (left && t->look.in->width && width > t->widths[c]) {
        ct_terminal_shorten(&cut, text, t->widths[c]);
        text = cut.data;
        width = ct_terminal_width(text);
    }
    int blanks = t->widths[c] > width ? t->widths[c] - width : 0;
    t->owed += (first ? 0 : 2) + (left ? 0 : blanks);
    if (*text) {
        fprintf(t->out, "%*s%s%s%s", t->owed, "", color, text, *color ? CT_TERMINAL_PLAIN : "");
        t->owed = 0;
    }
    t->owed += left ? blanks : 0;
    ct_string_free(&cut);
}

static void print_row(struct table *t, const struct ct_cell *cells)
{
    bool first = true;
    t->owed = 0;
    for (size_t c = 0; c < t->relation->count; c++) {
        if (!t->shown[c])
            continue;
        print_cell(t, c, cells ? spell(t, c, &cells[c]) : heading(t, c), color_of(t, c, !cells),
                   first);
        first = false;
    }
    putc('\n', t->out);
}

/* Title, headings and the rows kept so far. */
static void start(struct table *t, bool more)
{
    t->started = true;
    if (!t->first.count)
        return;
    shorten_names(t, 0);
    measure(t, more);
    if (t->look.in->width && !more && !t->look.in->o->columns)
        drop_silent(t);
    fit(t);
    shorten_names(t, t->widths[t->name]);
    fprintf(t->out, "%s%s%s:\n", t->further ? "\n" : "", t->look.prefix, t->relation->title);
    t->further = true;
    print_row(t, NULL);
    for (size_t i = 0; i < t->first.count; i++) {
        struct ct_cell cells[CT_RELATION_COLUMNS];
        get(t, i, cells);
        print_row(t, cells);
    }
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct table *t = (struct table *)sink;
    if (!t->started && t->first.count == MOST_KEPT)
        start(t, true);
    if (t->started)
        print_row(t, cells);
    else
        ct_row_store_add(&t->first, cells);
}

static void note(struct ct_sink *sink, const char *text)
{
    struct table *t = (struct table *)sink;
    ct_string_printf(&t->notes, "%s%s\n", t->look.prefix, text);
}

static void end(struct ct_sink *sink)
{
    struct table *t = (struct table *)sink;
    if (!t->started)
        start(t, false);
    if (!t->first.count && !*t->look.prefix)
        fprintf(t->out, "%s%s: none\n", t->further ? "\n" : "", t->relation->title);
    t->further |= !*t->look.prefix;
    if (t->hidden)
        ct_string_printf(&t->notes, "%s%zu more column%s in a wider terminal or a file\n",
                         t->look.prefix, t->hidden, t->hidden == 1 ? "" : "s");
    ct_terminal_wrap(t->out, t->notes.data, t->look.in->width);
}

static void close_table(struct ct_sink *sink)
{
    struct table *t = (struct table *)sink;
    drop_names(t);
    ct_row_store_free(&t->first);
    ct_string_free(&t->cell);
    ct_string_free(&t->notes);
    free(t);
}

struct ct_sink *ct_sink_table(FILE *out, const struct ct_look *look)
{
    struct table *t = ct_memory_copy(&(struct table){.out = out,
                                                     .look = *look,
                                                     .further = *look->prefix,
                                                     .unit = (enum ct_unit)look->in->o->unit},
                                     sizeof(*t));
    t->sink = (struct ct_sink){begin, row, note, end, close_table};
    return &t->sink;
}
