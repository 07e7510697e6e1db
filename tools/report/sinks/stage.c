/* SPDX-License-Identifier: MIT */
/*
 * Rows that do not match are folded into one for the note that says so; the others are kept when
 * they are to be sorted. With --top no more than a few times the rows that are shown are kept: rows
 * sorted behind them are folded into the row of the others.
 */
#include "report/sinks/stage.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/sinks/fold.h"
#include "report/sinks/row_store.h"
#include "report/units.h"

#define MOST_BEYOND 4096 /* rows kept beyond those that --top shows */

struct key {
    size_t column;
    bool turned;
};

struct stage {
    struct ct_sink sink;
    struct ct_sink *to;
    const struct ct_options *o;
    int *status;
    regex_t pattern;
    const struct ct_relation *relation;
    bool further;
    bool refused;                         /* the first relation lacks a column */
    struct key keys[CT_RELATION_COLUMNS]; /* more would name one twice */
    size_t key_count;
    int name;
    bool named; /* rows have names: --filter is about them */
    struct ct_row_store kept;
    bool grouped;           /* there are columns of a group */
    struct ct_string group; /* of the kept rows: texts of the group's columns */
    size_t shown;           /* rows of the group that went through unsorted */
    int share;              /* the column that --percent-limit is about; -1: there is none */
    bool of_time;           /* it has durations, whose shares are of the sum of all rows */
    struct ct_fold_row others;
    struct ct_fold_row filtered;
    size_t matched;
};

static void refuse(struct stage *s, const char *word, size_t len)
{
    ct_relation_refuse(s->relation, word, len);
    s->refused = true;
    *s->status = 2;
}

/* A report's first relation must have the columns; further ones stay as they are without. */
static void find_keys(struct stage *s)
{
    bool first = !s->further;
    s->further = true;
    s->key_count = 0;
    for (const char *p = s->o->sort; p && *p && !s->refused; p += *p == ',') {
        bool turned = *p == '-';
        size_t len = strcspn(p += turned, ","), column;
        bool found = ct_relation_find(s->relation, p, len, &column);
        if (!found && first)
            refuse(s, p, len);
        else if (found && s->key_count < CT_RELATION_COLUMNS)
            s->keys[s->key_count++] = (struct key){column, turned};
        p += len;
    }
}

bool ct_stage_has_columns(const struct ct_relation *relation, const struct ct_options *o)
{
    int status;
    struct stage s = {.o = o, .status = &status, .relation = relation};
    find_keys(&s);
    return !s.refused;
}

static bool is_share(const struct ct_column *column)
{
    bool sums = column->fold != CT_FOLD_NONE && column->fold != CT_FOLD_GROUP;
    return sums && (column->type == CT_CELL_PERCENT || !strcmp(column->key, "Time (%)"));
}

static bool is_duration(const struct ct_column *column)
{
    bool is_one = column->type == CT_CELL_TIME_NS || !strncmp(column->key, "Total", 5);
    return is_one && column->fold == CT_FOLD_SUM && !ct_cell_is_number(column->type);
}

/* The first column of shares, or the first of durations that have a sum. */
static void find_share(struct stage *s, bool first)
{
    const struct ct_relation *r = s->relation;
    s->share = -1;
    for (size_t i = r->count; i-- > 0 && s->o->percent_limit > 0;)
        if (is_share(&r->columns[i]) ||
            (is_duration(&r->columns[i]) && (s->share < 0 || !is_share(&r->columns[s->share]))))
            s->share = (int)i;
    s->of_time = s->share >= 0 && !is_share(&r->columns[s->share]);
    if (first && s->o->percent_limit > 0 && s->share < 0)
        ct_sink_note(s->to, "--percent-limit: there are no shares of a time here");
}

static void begin_group(struct stage *s)
{
    ct_row_store_begin(&s->kept, s->relation);
    ct_fold_begin(&s->others, s->relation);
    s->shown = 0;
}

static void begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    struct stage *s = (struct stage *)sink;
    bool first = !s->further;
    s->relation = relation;
    s->name = ct_fold_name_column(relation);
    s->named = s->name >= 0 && relation->columns[s->name].type == CT_CELL_NAME;
    s->matched = 0;
    s->grouped = false;
    for (size_t i = 0; i < relation->count; i++)
        s->grouped |= relation->columns[i].fold == CT_FOLD_GROUP;
    find_keys(s);
    ct_string_clear(&s->group);
    ct_fold_begin(&s->filtered, relation);
    begin_group(s);
    if (s->refused)
        return;
    ct_sink_begin(s->to, relation);
    find_share(s, first);
}

/* Numbers from the largest on, texts from A on; unknown values come last either way. */
static int compare(const struct stage *s, const struct key *key, const struct ct_cell *x,
                   const struct ct_cell *y)
{
    enum ct_cell_type type = s->relation->columns[key->column].type;
    int order;
    if (!x->known || !y->known)
        return y->known - x->known;
    if (ct_cell_is_text(type))
        order = strcmp(ct_key_table_get(&s->kept.texts, (uint32_t)x->count),
                       ct_key_table_get(&s->kept.texts, (uint32_t)y->count));
    else if (ct_cell_is_number(type))
        order = (x->number < y->number) - (x->number > y->number);
    else
        order = (x->count < y->count) - (x->count > y->count);
    return key->turned ? -order : order;
}

static int by_keys(const void *a, const void *b, void *stage)
{
    const struct stage *s = stage;
    size_t i = *(const size_t *)a, j = *(const size_t *)b, columns = s->relation->count;
    for (size_t k = 0; k < s->key_count; k++) {
        size_t column = s->keys[k].column;
        int order = compare(s, &s->keys[k], &s->kept.cells[i * columns + column],
                            &s->kept.cells[j * columns + column]);
        if (order)
            return order;
    }
    return (i > j) - (i < j);
}

/* The kept rows in order: numbers of rows, to be freed. */
static size_t *in_order(struct stage *s)
{
    size_t *order = ct_memory_array(s->kept.count, sizeof(*order));
    for (size_t i = 0; i < s->kept.count; i++)
        order[i] = i;
    qsort_r(order, s->kept.count, sizeof(*order), by_keys, s);
    return order;
}

/* Keeps the first --top of the kept rows, and folds the others. */
static void prune(struct stage *s)
{
    size_t *order = in_order(s);
    struct ct_row_store kept = {0};
    ct_row_store_begin(&kept, s->relation);
    for (size_t i = 0; i < s->kept.count; i++) {
        struct ct_cell cells[CT_RELATION_COLUMNS];
        ct_row_store_get(&s->kept, order[i], cells);
        if (i < s->o->top)
            ct_row_store_add(&kept, cells);
        else
            ct_fold_add(&s->others, cells);
    }
    ct_row_store_free(&s->kept);
    s->kept = kept;
    free(order);
}

/*
 * Cells of the group's columns as bytes: + or - for known or not, then texts terminated, numbers as
 * they are.
 */
static void spell_group(struct stage *s, struct ct_string *group, const struct ct_cell *cells)
{
    ct_string_clear(group);
    for (size_t i = 0; i < s->relation->count; i++) {
        if (s->relation->columns[i].fold != CT_FOLD_GROUP)
            continue;
        ct_string_add(group, cells[i].known ? "+" : "-", 1);
        if (!cells[i].known)
            continue;
        if (ct_cell_is_text(s->relation->columns[i].type))
            ct_string_add(group, cells[i].text, strlen(cells[i].text) + 1);
        else
            ct_string_add(group, &cells[i].count, sizeof(cells[i].count));
    }
}

/* The reverse. */
static void recall_group(const struct stage *s, struct ct_cell *cells)
{
    const char *group = s->group.data;
    for (size_t i = 0; i < s->relation->count; i++) {
        if (s->relation->columns[i].fold != CT_FOLD_GROUP)
            continue;
        cells[i] = ct_cell_none();
        if (*group++ == '-')
            continue;
        cells[i] = ct_cell_text(group);
        if (ct_cell_is_text(s->relation->columns[i].type)) {
            group += strlen(group) + 1;
            continue;
        }
        memcpy(&cells[i].count, group, sizeof(cells[i].count));
        group += sizeof(cells[i].count);
    }
}

static void put_others(struct stage *s)
{
    char text[64];
    if (!s->others.count)
        return;
    if (!ct_fold_makes_sense(s->relation) || s->name < 0) {
        snprintf(text, sizeof(text), "%zu more row%s", s->others.count,
                 s->others.count == 1 ? "" : "s");
        ct_sink_note(s->to, text);
        return;
    }
    snprintf(text, sizeof(text), "(%zu other%s)", s->others.count, s->others.count == 1 ? "" : "s");
    recall_group(s, s->others.cells);
    s->others.cells[s->name] = ct_cell_text(text);
    ct_sink_row(s->to, s->others.cells);
}

static double share_of(const struct stage *s, const struct ct_cell *cells, double whole)
{
    const struct ct_cell *cell = &cells[s->share];
    if (!cell->known)
        return 0;
    return s->of_time ? 100 * (double)cell->count / whole : cell->number;
}

/* Durations have shares only when all of them are known. */
static void limit(struct stage *s)
{
    struct ct_row_store kept = {0};
    double whole = 0;
    struct ct_cell cells[CT_RELATION_COLUMNS];
    for (size_t i = 0; i < s->kept.count; i++) {
        ct_row_store_get(&s->kept, i, cells);
        whole += cells[s->share].known ? (double)cells[s->share].count : 0;
    }
    ct_row_store_begin(&kept, s->relation);
    for (size_t i = 0; i < s->kept.count; i++) {
        ct_row_store_get(&s->kept, i, cells);
        if (whole > 0 && share_of(s, cells, whole) >= s->o->percent_limit)
            ct_row_store_add(&kept, cells);
        else
            ct_fold_add(&s->others, cells);
    }
    ct_row_store_free(&s->kept);
    s->kept = kept;
}

static void end_group(struct stage *s)
{
    if (s->share >= 0 && s->of_time)
        limit(s);
    if (s->o->top && s->kept.count > s->o->top)
        prune(s);
    size_t *order = in_order(s);
    for (size_t i = 0; i < s->kept.count; i++) {
        struct ct_cell cells[CT_RELATION_COLUMNS];
        ct_row_store_get(&s->kept, order[i], cells);
        ct_sink_row(s->to, cells);
    }
    free(order);
    put_others(s);
    begin_group(s);
}

static void enter_group(struct stage *s, const struct ct_cell *cells)
{
    struct ct_string group = {0};
    spell_group(s, &group, cells);
    if (group.len != s->group.len || memcmp(group.data, s->group.data, group.len)) {
        end_group(s);
        ct_string_free(&s->group);
        s->group = group;
        return;
    }
    ct_string_free(&group);
}

static bool matches(const struct stage *s, const struct ct_cell *cells)
{
    return !s->o->filter || !s->named ||
           (cells[s->name].known && !regexec(&s->pattern, cells[s->name].text, 0, NULL, 0));
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct stage *s = (struct stage *)sink;
    if (s->refused)
        return;
    if (!matches(s, cells)) {
        ct_fold_add(&s->filtered, cells);
        return;
    }
    s->matched++;
    if (s->grouped)
        enter_group(s, cells);
    bool of_time = s->share >= 0 && s->of_time;
    if (s->share >= 0 && !of_time && share_of(s, cells, 0) < s->o->percent_limit) {
        ct_fold_add(&s->others, cells);
    } else if (s->key_count || of_time) {
        ct_row_store_add(&s->kept, cells);
        if (s->o->top && !of_time && s->kept.count > 2 * s->o->top + MOST_BEYOND)
            prune(s);
    } else if (s->o->top && s->shown == s->o->top) {
        ct_fold_add(&s->others, cells);
    } else {
        s->shown++;
        ct_sink_row(s->to, cells);
    }
}

static void note(struct ct_sink *sink, const char *text)
{
    struct stage *s = (struct stage *)sink;
    if (!s->refused)
        ct_sink_note(s->to, text);
}

/*
 * Notes the rows that do not match: their number, and their sum in the first duration that has one.
 */
static void note_filtered(struct stage *s)
{
    struct ct_string text = {0};
    size_t count = s->filtered.count;
    if (!count)
        return;
    ct_string_printf(&text, "%zu of %zu rows do not match --filter", count, count + s->matched);
    for (size_t i = 0; i < s->relation->count; i++) {
        const struct ct_column *column = &s->relation->columns[i];
        char time[CT_UNITS_BYTES];
        if (column->type != CT_CELL_TIME_NS || column->fold != CT_FOLD_SUM ||
            !s->filtered.cells[i].known)
            continue;
        ct_units_time(time, s->filtered.cells[i].count, 8);
        ct_string_printf(&text, ": %s of %s", time, column->heading);
        break;
    }
    ct_sink_note(s->to, text.data);
    ct_string_free(&text);
}

static void end(struct ct_sink *sink)
{
    struct stage *s = (struct stage *)sink;
    if (s->refused)
        return;
    end_group(s);
    note_filtered(s);
    ct_sink_end(s->to);
}

static void close_stage(struct ct_sink *sink)
{
    struct stage *s = (struct stage *)sink;
    ct_sink_close(s->to);
    ct_row_store_free(&s->kept);
    ct_string_free(&s->group);
    if (s->o->filter)
        regfree(&s->pattern);
    free(s);
}

struct ct_sink *ct_stage_open(struct ct_sink *to, const struct ct_options *o, int *status)
{
    if (!o->sort && !o->filter && !o->top && o->percent_limit <= 0)
        return to;
    struct stage *s =
        ct_memory_copy(&(struct stage){.to = to, .o = o, .status = status}, sizeof(*s));
    if (o->filter && regcomp(&s->pattern, o->filter, REG_EXTENDED | REG_NOSUB))
        ct_memory_fail(); /* the options have tried it before */
    s->sink = (struct ct_sink){begin, row, note, end, close_stage};
    return &s->sink;
}
