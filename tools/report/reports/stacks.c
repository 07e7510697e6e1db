/* SPDX-License-Identifier: MIT */
/* Reports "lines" and "stacks", and the format "collapsed": from where operations were launched. */
#include "report/profile/stacks.h"

#include <stdlib.h>

#include "report/reports.h"

#define MOST_INDENTED 40 /* levels; deeper ones stand below these */

static const char none[] = "No stacks are in the profile: cutrace --stacks python records them";

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void put_notes(struct ct_sink *sink, const struct ct_calls *c)
{
    char note[160];
    if (c->count < 2) {
        ct_sink_note(sink, none);
        return;
    }
    double rest = percent(c->with_rest_ns - c->call[CT_CALL_ROOT].all.ns, c->with_rest_ns);
    if (rest >= 0.05) {
        snprintf(note, sizeof(note),
                 "%.1f%% of the GPU time was launched by no known line of Python%s", rest,
                 c->is_sampled ? ", or is what the sample missed" : "");
        ct_sink_note(sink, note);
    }
    if (c->graphs)
        ct_sink_note(sink, "A CUDA graph counts for the line that launched it");
}

/* ---- lines ---- */

enum { L_SHARE, L_TOTAL, L_OWN, L_LAUNCHES, L_OWN_LAUNCHES, L_LINE, L_FUNCTION, L_FILE, L_COLUMNS };

static const struct ct_column line_columns[L_COLUMNS] = {
    [L_SHARE] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [L_TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [L_OWN] = {"own_ns", "Own", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [L_LAUNCHES] = {"launches", "Launches", CT_CELL_COUNT, CT_FOLD_MOST, 0},
    [L_OWN_LAUNCHES] = {"own_launches", "Own launches", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(2)},
    [L_LINE] = {"line", "Line", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [L_FUNCTION] = {"function", "Function", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [L_FILE] = {"file", "File", CT_CELL_NAME, CT_FOLD_NONE, 0},
};
static const struct ct_relation lines = {"lines", "GPU time by line of Python", line_columns,
                                         L_COLUMNS};

struct line {
    uint32_t index;
    struct ct_launched own;
    struct ct_launched all; /* a line that is above itself counts what is in it once */
    uint32_t open;          /* frames of it that the walk is in */
};

static void add(struct ct_launched *to, const struct ct_launched *more)
{
    ct_merge_add_to(&to->count, more->count);
    to->ns += more->ns;
}

static void enter(struct line *l, const struct ct_call *call)
{
    add(&l->own, &call->own);
    if (!l->open++)
        add(&l->all, &call->all);
}

/* The next call of a walk that meets what is above before what it called; 0: it is through. */
static uint32_t next_call(const struct ct_calls *c, uint32_t at, struct line *open)
{
    if (c->call[at].first && c->call[at].row == CT_CALL_FRAME)
        return c->call[at].first;
    while (at && !c->call[at].next) {
        if (open && c->call[at].row == CT_CALL_FRAME)
            open[c->call[at].line].open--;
        at = c->call[at].parent;
    }
    if (open && at && c->call[at].row == CT_CALL_FRAME)
        open[c->call[at].line].open--;
    return at ? c->call[at].next : 0;
}

static int by_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->all.ns != y->all.ns)
        return x->all.ns > y->all.ns ? -1 : 1;
    if (x->own.ns != y->own.ns)
        return x->own.ns > y->own.ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void put_line(struct ct_sink *sink, const struct ct_merged *m, const struct line *l,
                     double whole_ns)
{
    const struct ct_file_line *f = &m->stacks.lines[l->index];
    struct ct_string function = {0}, file = {0};
    ct_name_safe(&function, ct_merge_name(m, f->function));
    ct_name_safe(&file, ct_merge_name(m, f->file));
    struct ct_cell cells[L_COLUMNS] = {
        [L_SHARE] = ct_cell_number(percent(l->all.ns, whole_ns)),
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
    size_t size = 0, count = in->m->stacks.line_keys.count;
    struct ct_calls c;
    ct_calls_of(&c, in->m, in->device);
    struct line *l = ct_memory_grow(NULL, &size, count + 1, sizeof(*l));
    for (uint32_t i = 0; i < count; i++)
        l[i].index = i;
    for (uint32_t at = c.call[CT_CALL_ROOT].first; at; at = next_call(&c, at, l))
        if (c.call[at].row == CT_CALL_FRAME)
            enter(&l[c.call[at].line], &c.call[at]);
    qsort(l, count, sizeof(*l), by_time);
    ct_sink_begin(sink, &lines);
    for (size_t i = 0; i < count; i++)
        if (l[i].all.count)
            put_line(sink, in->m, &l[i], c.with_rest_ns);
    put_notes(sink, &c);
    ct_sink_end(sink);
    free(l);
    ct_calls_free(&c);
    return 0;
}

/* ---- stacks ---- */

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
static const struct ct_relation stacks = {"stacks", "GPU time by Python stack", stack_columns,
                                          S_COLUMNS};

/* A function, or an operation launched from one. */
static void spell(struct ct_string *out, const struct ct_merged *m, const struct ct_call *call,
                  bool demangle)
{
    ct_string_clear(out);
    if (call->row != CT_CALL_FRAME)
        ct_name_row(out, m, &m->rows[call->row].sum, demangle);
    else
        ct_name_safe(out, ct_merge_name(m, m->stacks.lines[call->line].function));
}

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
    spell(&t->name, m, call, !t->in->o->mangled);
    unsigned indent = t->is_indented ? 2 * (level < MOST_INDENTED ? level : MOST_INDENTED) : 0;
    ct_string_printf(&name, "%*s%s", (int)indent, "", t->name.data);
    ct_string_clear(&t->file);
    ct_name_safe(&t->file, ct_merge_name(m, f->file));
    struct ct_cell cells[S_COLUMNS] = {
        [S_SHARE] = ct_cell_number(percent(call->all.ns, t->calls->with_rest_ns)),
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
    ct_calls_of(&c, in->m, in->device);
    struct tree t = {.in = in, .calls = &c, .is_indented = in->o->format->kind == CT_FORMAT_TEXT};
    size_t size = 0;
    struct place {
        unsigned depth, level;
    } *place = ct_memory_grow(NULL, &size, c.count, sizeof(*place));
    ct_sink_begin(sink, &stacks);
    for (uint32_t at = c.call[CT_CALL_ROOT].first; at; at = next_call(&c, at, NULL)) {
        const struct place *above = &place[c.call[at].parent];
        place[at] = (struct place){above->depth + 1, above->level + step(&c, at)};
        put_call(&t, sink, &c.call[at], place[at].depth, place[at].level);
    }
    put_notes(sink, &c);
    ct_sink_end(sink);
    free(place);
    ct_string_free(&t.name);
    ct_string_free(&t.file);
    ct_calls_free(&c);
    return 0;
}

/* ---- collapsed ---- */

/* Frames are told apart by semicolons. */
static void put_part(struct ct_string *line, const char *text)
{
    for (; *text; text++)
        ct_string_add(line, *text == ';' ? ":" : text, 1);
}

static void put_frame(struct ct_string *line, const struct ct_merged *m, uint32_t index)
{
    const struct ct_file_line *f = &m->stacks.lines[index];
    struct ct_string text = {0};
    ct_name_safe(&text, ct_merge_name(m, f->function));
    put_part(line, text.data);
    ct_string_clear(&text);
    ct_name_safe(&text, ct_merge_name(m, f->file));
    ct_string_put(line, " (");
    put_part(line, text.data);
    ct_string_printf(line, ":%u);", f->line);
    ct_string_free(&text);
}

int ct_format_collapsed(const struct ct_input *in, FILE *out)
{
    struct ct_calls c;
    struct ct_string line = {0}, name = {0};
    uint32_t stack[CT_FILE_STACK_DEPTH];
    ct_calls_of(&c, in->m, in->device);
    for (uint32_t at = c.call[CT_CALL_ROOT].first; at; at = next_call(&c, at, NULL)) {
        const struct ct_call *call = &c.call[at];
        size_t depth = 0;
        if (call->row == CT_CALL_FRAME)
            continue;
        for (uint32_t i = call->parent; i; i = c.call[i].parent)
            stack[depth++] = c.call[i].line;
        while (depth)
            put_frame(&line, in->m, stack[--depth]);
        spell(&name, in->m, call, !in->o->mangled);
        put_part(&line, name.data);
        ct_string_printf(&line, " %.0f\n", call->all.ns);
        ct_string_write(&line, out);
    }
    ct_string_free(&line);
    ct_string_free(&name);
    ct_calls_free(&c);
    return 0;
}
