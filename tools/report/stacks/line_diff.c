/* SPDX-License-Identifier: MIT */
#include "report/stacks/line_diff.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/reports.h"
#include "report/stacks/change.h"
#include "report/stacks/line_pairs.h"
#include "report/stacks/line_sums.h"

enum { BEFORE_LINE = CT_CHANGE_COLUMNS, LINE, FUNCTION, FILE_NAME, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    CT_CHANGE_HEADINGS,
    [BEFORE_LINE] = {"old_line", "Old line", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(4)},
    [LINE] = {"line", "Line", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [FUNCTION] = {"function", "Function", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [FILE_NAME] = {"file", "File", CT_CELL_NAME, CT_FOLD_NONE, CT_PATH},
};
static const struct ct_relation relation = {"diff_lines", "Changes by line", columns,
                                            COLUMNS};

/* A line of both profiles, or of one. */
struct line_change {
    struct ct_change change;
    const struct ct_file_line *before, *after; /* NULL where one does not have it */
};

struct line_diff {
    const struct ct_merged *before, *after;
    struct line_change *lines;
    size_t count;
};

static struct ct_change_side side_of(const struct ct_line_sum *sum)
{
    return sum ? (struct ct_change_side){&sum->own, &sum->all}
               : (struct ct_change_side){NULL, NULL};
}

static void add(struct line_diff *d, const struct ct_line_sum *before,
                const struct ct_line_sum *after)
{
    d->lines[d->count++] = (struct line_change){
        .change = ct_change_of(side_of(before), side_of(after)),
        .before = before ? &d->before->stacks.lines[before->index] : NULL,
        .after = after ? &d->after->stacks.lines[after->index] : NULL,
    };
}

/* `of_before`: see ct_line_pairs(). */
static void list_lines(struct line_diff *d, const struct ct_line_sums *before,
                       const struct ct_line_sums *after, const uint32_t *of_before)
{
    const struct ct_line_sum **by_line =
        ct_memory_array(d->after->stacks.line_keys.count, sizeof(*by_line));
    d->lines = ct_memory_array(before->count + after->count, sizeof(*d->lines));
    for (size_t i = 0; i < after->count; i++)
        by_line[after->at[i].index] = &after->at[i];
    for (size_t i = 0; i < before->count; i++) {
        uint32_t pair = of_before[before->at[i].index];
        add(d, &before->at[i], pair == CT_MERGE_NONE ? NULL : by_line[pair]);
        if (pair != CT_MERGE_NONE)
            by_line[pair] = NULL;
    }
    for (size_t i = 0; i < after->count; i++)
        if (by_line[after->at[i].index])
            add(d, NULL, &after->at[i]);
    free(by_line);
    qsort(d->lines, d->count, sizeof(*d->lines), ct_change_order);
}

static void put_line(struct ct_sink *sink, const struct line_diff *d, const struct line_change *l)
{
    const struct ct_merged *m = l->after ? d->after : d->before;
    const struct ct_file_line *f = l->after ? l->after : l->before;
    struct ct_string function = {0}, file = {0};
    ct_name_safe(&function, ct_merge_name(m, f->function));
    ct_name_safe(&file, ct_merge_name(m, f->file));
    struct ct_cell cells[COLUMNS] = {
        [FUNCTION] = ct_cell_text(function.data),
        [FILE_NAME] = ct_cell_text(file.data),
    };
    ct_change_cells(cells, &l->change);
    if (f->line)
        cells[LINE] = ct_cell_count(f->line);
    if (l->before && l->before->line && l->before->line != f->line)
        cells[BEFORE_LINE] = ct_cell_count(l->before->line);
    ct_sink_row(sink, cells);
    ct_string_free(&function);
    ct_string_free(&file);
}

static void put_notes(struct ct_sink *sink, const char *side, const struct ct_calls *c)
{
    struct ct_string notes = {0};
    ct_calls_notes(&notes, c);
    ct_change_notes(sink, side, notes.data);
    ct_string_free(&notes);
}

void ct_line_diff_begin(struct ct_sink *sink, const struct ct_merged *before,
                        const struct ct_merged *after)
{
    struct ct_calls a, b;
    struct line_diff d = {.before = before, .after = after};
    ct_calls_of(&a, before, CT_VIEW_ALL_DEVICES);
    ct_calls_of(&b, after, CT_VIEW_ALL_DEVICES);
    struct ct_line_sums old = ct_line_sums_of(&a, before), new = ct_line_sums_of(&b, after);
    uint32_t *of_before =
        ct_line_pairs(&(struct ct_line_side){before, &a}, &(struct ct_line_side){after, &b});
    list_lines(&d, &old, &new, of_before);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < d.count; i++)
        put_line(sink, &d, &d.lines[i]);
    put_notes(sink, "OLD", &a);
    put_notes(sink, "NEW", &b);
    free(d.lines);
    free(of_before);
    free(old.at);
    free(new.at);
    ct_calls_free(&a);
    ct_calls_free(&b);
}
