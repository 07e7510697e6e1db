/* SPDX-License-Identifier: MIT */
/* Report "stacks": the GPU's time in the tree of calls. */
#include <stdlib.h>

#include "report/reports.h"
#include "report/stacks/calls.h"

#define MOST_INDENTED 40 /* levels; deeper ones stand below these */

enum { S_SHARE, S_TOTAL, S_OWN, S_LAUNCHES, S_DEPTH, S_LINE, S_FILE, S_NAME, S_COLUMNS };

static const struct ct_column stack_columns[S_COLUMNS] = {
    [S_SHARE] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [S_TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [S_OWN] = {"own_ns", "Own", CT_CELL_TIME_NS, CT_FOLD_SUM, CT_OPTIONAL(2) | CT_QUIET},
    [S_LAUNCHES] = {"launches", "Launches", CT_CELL_COUNT, CT_FOLD_MOST, 0},
    [S_DEPTH] = {"depth", "Depth", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [S_LINE] = {"line", "Line", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [S_FILE] = {"file", "File", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [S_NAME] = {"name", "Function or operation", CT_CELL_NAME, CT_FOLD_NONE, 0},
};
static const struct ct_relation stacks = {"stacks", "GPU time by stack", stack_columns, S_COLUMNS};

struct tree {
    const struct ct_input *in;
    const struct ct_calls *calls;
    struct ct_string name, file;
    bool is_indented;
};

static void put_call(struct tree *t, struct ct_sink *sink, const struct ct_call *call,
                     unsigned depth, unsigned level)
{
    const struct ct_merged *m = t->in->m;
    const struct ct_file_line *f = &m->stacks.lines[call->line];
    bool is_frame = call->row == CT_CALL_FRAME;
    struct ct_string name = {0};
    ct_string_clear(&t->name);
    ct_calls_name(&t->name, m, call, t->in->o);
    unsigned indent = t->is_indented ? 2 * (level < MOST_INDENTED ? level : MOST_INDENTED) : 0;
    ct_string_printf(&name, "%*s%s", (int)indent, "", t->name.data);
    ct_string_clear(&t->file);
    ct_name_safe(&t->file, ct_merge_name(m, f->file));
    struct ct_cell cells[S_COLUMNS] = {
        [S_SHARE] = ct_cell_number(ct_calls_percent(call->all.ns, t->calls->with_rest_ns)),
        [S_TOTAL] = ct_cell_whole(call->all.ns),
        [S_OWN] = ct_cell_whole(call->own.ns),
        [S_LAUNCHES] = ct_cell_count(call->all.count),
        [S_DEPTH] = ct_cell_count(depth),
        [S_NAME] = ct_cell_text(name.data),
    };
    if (is_frame && f->line)
        cells[S_LINE] = ct_cell_count(f->line);
    if (is_frame)
        cells[S_FILE] = ct_cell_text(t->file.data);
    ct_sink_row(sink, cells);
    ct_string_free(&name);
}

/* A call without a sibling stands below its caller, the others a step to the right. */
static unsigned step(const struct ct_calls *c, uint32_t at)
{
    uint32_t parent = c->call[at].parent;
    return parent && c->call[c->call[parent].first].next;
}

int ct_report_stacks(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_calls c;
    struct ct_string notes = {0};
    ct_calls_of(&c, in->m, in->device);
    struct tree t = {.in = in, .calls = &c, .is_indented = in->o->format->kind == CT_FORMAT_TEXT};
    struct place {
        unsigned depth, level;
    } *place = ct_memory_array(c.count, sizeof(*place));
    ct_sink_begin(sink, &stacks);
    for (uint32_t at = c.call[CT_CALL_ROOT].first; at; at = ct_calls_next(&c, at)) {
        const struct place *above = &place[c.call[at].parent];
        place[at] = (struct place){above->depth + 1, above->level + step(&c, at)};
        put_call(&t, sink, &c.call[at], place[at].depth, place[at].level);
    }
    ct_calls_notes(&notes, &c);
    ct_sink_notes(sink, notes.data);
    ct_sink_end(sink);
    free(place);
    ct_string_free(&notes);
    ct_string_free(&t.name);
    ct_string_free(&t.file);
    ct_calls_free(&c);
    return 0;
}
