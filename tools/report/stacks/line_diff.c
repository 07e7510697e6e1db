/* SPDX-License-Identifier: MIT */
#include "report/stacks/line_diff.h"

#include <math.h>
#include <stdlib.h>

#include "report/names.h"
#include "report/reports.h"
#include "report/stacks/line_sums.h"

enum {
    CHANGE,
    PERCENT,
    OWN_CHANGE,
    BEFORE,
    AFTER,
    BEFORE_OWN,
    AFTER_OWN,
    BEFORE_LAUNCHES,
    AFTER_LAUNCHES,
    BEFORE_LINE,
    LINE,
    FUNCTION,
    FILE_NAME,
    COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
    [CHANGE] = {"change_ns", "Change", CT_CELL_CHANGE_NS, CT_FOLD_NONE, 0},
    [PERCENT] = {"change_percent", "Change(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2 | CT_OPTIONAL(3)},
    [OWN_CHANGE] = {"own_change_ns", "Own change", CT_CELL_CHANGE_NS, CT_FOLD_SUM, 0},
    [BEFORE] = {"old_total_ns", "Old time", CT_CELL_TIME_NS, CT_FOLD_MOST, CT_OPTIONAL(2)},
    [AFTER] = {"new_total_ns", "New time", CT_CELL_TIME_NS, CT_FOLD_MOST, CT_OPTIONAL(1)},
    [BEFORE_OWN] = {"old_own_ns", "Old own", CT_CELL_TIME_NS, CT_FOLD_SUM, CT_OPTIONAL(7)},
    [AFTER_OWN] = {"new_own_ns", "New own", CT_CELL_TIME_NS, CT_FOLD_SUM, CT_OPTIONAL(7)},
    [BEFORE_LAUNCHES] = {"old_launches", "Old launches", CT_CELL_COUNT, CT_FOLD_MOST,
                         CT_OPTIONAL(6)},
    [AFTER_LAUNCHES] = {"new_launches", "New launches", CT_CELL_COUNT, CT_FOLD_MOST,
                        CT_OPTIONAL(5)},
    [BEFORE_LINE] = {"old_line", "Old line", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(4)},
    [LINE] = {"line", "Line", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [FUNCTION] = {"function", "Function", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [FILE_NAME] = {"file", "File", CT_CELL_NAME, CT_FOLD_NONE, 0},
};
static const struct ct_relation relation = {"diff_lines", "Changes by line of Python", columns,
                                            COLUMNS};

/* A line of one profile: the texts are all that both know it by. */
struct side_line {
    uint32_t function; /* number of its name and file together */
    bool is_after;
    uint32_t line;
    const struct ct_line_sum *sum;
};

/* A line of both; NULL where one does not have it. */
struct line_pair {
    const struct ct_line_sum *before, *after;
    double change_ns, own_change_ns;
};

struct line_diff {
    const struct ct_merged *before, *after;
    struct ct_key_table functions;
    struct side_line *lines;
    size_t line_count;
    struct line_pair *pairs;
    size_t count;
};

static const struct ct_file_line *line_of(const struct ct_merged *m, const struct ct_line_sum *sum)
{
    return &m->stacks.lines[sum->index];
}

/* ---- pairs ---- */

static void add_side(struct line_diff *d, const struct ct_line_sums *sums, bool is_after)
{
    const struct ct_merged *m = is_after ? d->after : d->before;
    struct ct_string key = {0};
    for (size_t i = 0; i < sums->count; i++) {
        const struct ct_file_line *l = line_of(m, &sums->at[i]);
        const char *file = ct_merge_name(m, l->file);
        ct_string_clear(&key);
        ct_string_add(&key, file, strlen(file) + 1);
        ct_string_put(&key, ct_merge_name(m, l->function));
        d->lines[d->line_count++] = (struct side_line){
            .function = ct_key_table_add(&d->functions, key.data, key.len),
            .is_after = is_after,
            .line = l->line,
            .sum = &sums->at[i],
        };
    }
    ct_string_free(&key);
}

static int by_place(const void *a, const void *b)
{
    const struct side_line *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->is_after != y->is_after)
        return x->is_after ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

static void add_pair(struct line_diff *d, const struct side_line *before,
                     const struct side_line *after)
{
    static const struct ct_line_sum none;
    struct line_pair *p = &d->pairs[d->count++];
    *p = (struct line_pair){.before = before ? before->sum : NULL,
                            .after = after ? after->sum : NULL};
    const struct ct_line_sum *a = p->before ? p->before : &none, *b = p->after ? p->after : &none;
    p->change_ns = b->all.ns - a->all.ns;
    p->own_change_ns = b->own.ns - a->own.ns;
}

/*
 * Lines of one function, those of the older profile first: an edit moves the numbers of the others,
 * so where there are as many in both, their order tells which is which, and otherwise the number.
 */
static void pair_function(struct line_diff *d, const struct side_line *l, size_t old, size_t count)
{
    const struct side_line *before = l, *after = l + old, *end = l + count;
    bool by_order = 2 * old == count;
    while (before < l + old || after < end) {
        bool no_before = before == l + old, no_after = after == end;
        int order = no_before  ? 1
                    : no_after ? -1
                    : by_order ? 0
                               : (before->line > after->line) - (before->line < after->line);
        add_pair(d, order <= 0 ? before : NULL, order >= 0 ? after : NULL);
        before += order <= 0;
        after += order >= 0;
    }
}

static int by_change(const void *a, const void *b)
{
    const struct line_pair *x = a, *y = b;
    double change = fabs(y->change_ns) - fabs(x->change_ns);
    double own_change = fabs(y->own_change_ns) - fabs(x->own_change_ns);
    change = change != 0 ? change : own_change;
    return (change > 0) - (change < 0);
}

static void make_pairs(struct line_diff *d)
{
    const struct side_line *l = d->lines;
    qsort(d->lines, d->line_count, sizeof(*d->lines), by_place);
    for (size_t from = 0, to, old; from < d->line_count; from = to) {
        for (to = from, old = 0; to < d->line_count && l[to].function == l[from].function; to++)
            old += !l[to].is_after;
        pair_function(d, &l[from], old, to - from);
    }
    qsort(d->pairs, d->count, sizeof(*d->pairs), by_change);
}

/* ---- rows ---- */

static void put_figures(struct ct_cell *cells, const struct ct_line_sum *sum, int total, int own,
                        int launches)
{
    if (!sum)
        return;
    cells[total] = ct_cell_whole(sum->all.ns);
    cells[own] = ct_cell_whole(sum->own.ns);
    cells[launches] = ct_cell_count(sum->all.count);
}

static void put_pair(struct ct_sink *sink, const struct line_diff *d, const struct line_pair *p)
{
    const struct ct_merged *m = p->after ? d->after : d->before;
    const struct ct_file_line *l = line_of(m, p->after ? p->after : p->before);
    uint32_t before = p->before ? line_of(d->before, p->before)->line : 0;
    struct ct_string function = {0}, file = {0};
    ct_name_safe(&function, ct_merge_name(m, l->function));
    ct_name_safe(&file, ct_merge_name(m, l->file));
    struct ct_cell cells[COLUMNS] = {
        [CHANGE] = ct_cell_number(p->change_ns),
        [OWN_CHANGE] = ct_cell_number(p->own_change_ns),
        [FUNCTION] = ct_cell_text(function.data),
        [FILE_NAME] = ct_cell_text(file.data),
    };
    if (p->before && p->after && p->before->all.ns > 0)
        cells[PERCENT] = ct_cell_number(100 * p->change_ns / p->before->all.ns);
    put_figures(cells, p->before, BEFORE, BEFORE_OWN, BEFORE_LAUNCHES);
    put_figures(cells, p->after, AFTER, AFTER_OWN, AFTER_LAUNCHES);
    if (l->line)
        cells[LINE] = ct_cell_count(l->line);
    if (before && before != l->line)
        cells[BEFORE_LINE] = ct_cell_count(before);
    ct_sink_row(sink, cells);
    ct_string_free(&function);
    ct_string_free(&file);
}

static void put_notes(struct ct_sink *sink, const char *side, const struct ct_calls *c)
{
    struct ct_string notes = {0}, note = {0};
    ct_calls_notes(&notes, c);
    for (char *line, *at = notes.data; (line = strsep(&at, "\n")) && *line;) {
        ct_string_clear(&note);
        ct_string_printf(&note, "%s: %s", side, line);
        ct_sink_note(sink, note.data);
    }
    ct_string_free(&notes);
    ct_string_free(&note);
}

void ct_line_diff_begin(struct ct_sink *sink, const struct ct_merged *before,
                        const struct ct_merged *after)
{
    size_t lines_size = 0, pairs_size = 0;
    struct ct_calls a, b;
    struct line_diff d = {.before = before, .after = after};
    ct_calls_of(&a, before, CT_VIEW_ALL_DEVICES);
    ct_calls_of(&b, after, CT_VIEW_ALL_DEVICES);
    struct ct_line_sums old = ct_line_sums_of(&a, before), new = ct_line_sums_of(&b, after);
    d.lines = ct_memory_grow(NULL, &lines_size, old.count + new.count + 1, sizeof(*d.lines));
    d.pairs = ct_memory_grow(NULL, &pairs_size, old.count + new.count + 1, sizeof(*d.pairs));
    add_side(&d, &old, false);
    add_side(&d, &new, true);
    make_pairs(&d);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < d.count; i++)
        put_pair(sink, &d, &d.pairs[i]);
    put_notes(sink, "OLD", &a);
    put_notes(sink, "NEW", &b);
    ct_key_table_free(&d.functions);
    free(d.lines);
    free(d.pairs);
    free(old.at);
    free(new.at);
    ct_calls_free(&a);
    ct_calls_free(&b);
}
