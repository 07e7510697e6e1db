/* SPDX-License-Identifier: MIT */
/* Report "lines": the GPU's time by line of the program's source. */
#include <stdlib.h>

#include "report/reports.h"
#include "report/stacks/line_sums.h"

enum { L_SHARE, L_TOTAL, L_OWN, L_LAUNCHES, L_OWN_LAUNCHES, L_LINE, L_FUNCTION, L_FILE, L_COLUMNS };

static const struct ct_column line_columns[L_COLUMNS] = {
    [L_SHARE] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [L_TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [L_OWN] = {"own_ns", "Own", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [L_LAUNCHES] = {"launches", "Launches", CT_CELL_COUNT, CT_FOLD_MOST, CT_OPTIONAL(1)},
    [L_OWN_LAUNCHES] = {"own_launches", "Own launches", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(2)},
    [L_LINE] = {"line", "Line", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [L_FUNCTION] = {"function", "Function", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [L_FILE] = {"file", "File", CT_CELL_NAME, CT_FOLD_NONE, CT_PATH},
};
static const struct ct_relation lines = {"lines", "GPU time by line", line_columns,
                                         L_COLUMNS};

static void put_line(struct ct_sink *sink, const struct ct_merged *m, const struct ct_line_sum *l,
                     double whole_ns)
{
    const struct ct_file_line *f = &m->stacks.lines[l->index];
    struct ct_string function = {0}, file = {0};
    ct_name_safe(&function, ct_merge_name(m, f->function));
    ct_name_safe(&file, ct_merge_name(m, f->file));
    struct ct_cell cells[L_COLUMNS] = {
        [L_SHARE] = ct_cell_number(ct_calls_percent(l->all.ns, whole_ns)),
        [L_TOTAL] = ct_cell_whole(l->all.ns),
        [L_OWN] = ct_cell_whole(l->own.ns),
        [L_LAUNCHES] = ct_cell_count(l->all.count),
        [L_OWN_LAUNCHES] = ct_cell_count(l->own.count),
        [L_FUNCTION] = ct_cell_text(function.data),
        [L_FILE] = ct_cell_text(file.data),
    };
    if (f->line)
        cells[L_LINE] = ct_cell_count(f->line);
    ct_sink_row(sink, cells);
    ct_string_free(&function);
    ct_string_free(&file);
}

int ct_report_lines(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_calls c;
    struct ct_string notes = {0};
    ct_calls_of(&c, in->m, in->device);
    struct ct_line_sums sums = ct_line_sums_of(&c, in->m);
    ct_sink_begin(sink, &lines);
    for (size_t i = 0; i < sums.count; i++)
        put_line(sink, in->m, &sums.at[i], c.with_rest_ns);
    ct_calls_notes(&notes, &c);
    ct_sink_notes(sink, notes.data);
    ct_sink_end(sink);
    ct_string_free(&notes);
    free(sums.at);
    ct_calls_free(&c);
    return 0;
}
