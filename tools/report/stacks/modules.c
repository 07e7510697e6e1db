/* SPDX-License-Identifier: MIT */
/* Report "modules": which objects of a Python program, in which others, launched operations. */
#include "report/stacks/modules.h"

#include "report/reports.h"

enum { M_SHARE, M_TOTAL, M_OWN, M_LAUNCHES, M_AVG, M_DEPTH, M_MODULE, M_COLUMNS };

static const struct ct_column columns[M_COLUMNS] = {
    [M_SHARE] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [M_TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [M_OWN] = {"own_ns", "Own", CT_CELL_TIME_NS, CT_FOLD_SUM, CT_OPTIONAL(1)},
    [M_LAUNCHES] = {"launches", "Launches", CT_CELL_COUNT, CT_FOLD_MOST, 0},
    [M_AVG] = {"avg_ns", "Avg", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [M_DEPTH] = {"depth", "Depth", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(2) | CT_QUIET},
    [M_MODULE] = {"module", "Module", CT_CELL_NAME, CT_FOLD_NONE, CT_TREE},
};
static const struct ct_relation relation = {"modules", "GPU time by module", columns, M_COLUMNS};

struct tree {
    const struct ct_merged *m;
    struct ct_calls calls;
    bool is_indented;
    struct ct_string name;
};

static const struct ct_file_module *module_of(const struct tree *t, uint32_t at)
{
    return &t->m->stacks.modules[t->calls.call[at].module];
}

/* One of several of its type; these stand in the order of their numbers. */
static bool has_number(const struct tree *t, uint32_t at)
{
    uint32_t next = t->calls.call[at].next;
    const struct ct_file_module *f = module_of(t, at);
    return f->number || (next && module_of(t, next)->type == f->type);
}

void ct_modules_name(struct ct_string *out, const char *type, uint32_t number, bool is_of_several)
{
    ct_name_safe(out, type);
    if (number == CT_FILE_MODULE_OTHERS)
        ct_string_put(out, "[...]");
    else if (is_of_several)
        ct_string_printf(out, "[%u]", number);
}

static void add_name(struct tree *t, uint32_t at)
{
    const struct ct_file_module *f = module_of(t, at);
    ct_modules_name(&t->name, ct_merge_name(t->m, f->type), f->number, has_number(t, at));
}

static void add_path(struct tree *t, uint32_t at)
{
    uint32_t path[CT_FILE_MODULE_DEPTH];
    unsigned n = 0;
    for (; at; at = t->calls.call[at].parent)
        path[n++] = at;
    while (n) {
        add_name(t, path[--n]);
        ct_string_put(&t->name, n ? "/" : "");
    }
}

static unsigned depth_of(const struct ct_calls *c, uint32_t at)
{
    unsigned depth = 0;
    for (; at; at = c->call[at].parent)
        depth++;
    return depth;
}

static void put_module(struct tree *t, struct ct_sink *sink, uint32_t at)
{
    const struct ct_call *call = &t->calls.call[at];
    unsigned depth = depth_of(&t->calls, at);
    ct_string_clear(&t->name);
    if (t->is_indented) {
        ct_string_printf(&t->name, "%*s", 2 * (int)(depth - 1), "");
        add_name(t, at);
    } else {
        add_path(t, at);
    }
    struct ct_cell cells[M_COLUMNS] = {
        [M_SHARE] = ct_cell_number(ct_calls_percent(call->all.ns, t->calls.with_rest_ns)),
        [M_TOTAL] = ct_cell_whole(call->all.ns),
        [M_OWN] = ct_cell_whole(call->own.ns),
        [M_LAUNCHES] = ct_cell_count(call->all.count),
        [M_AVG] = ct_cell_whole(call->all.ns / (double)call->all.count),
        [M_DEPTH] = ct_cell_count(depth),
        [M_MODULE] = ct_cell_text(t->name.data),
    };
    ct_sink_row(sink, cells);
}

void ct_modules_notes(struct ct_string *out, const struct ct_calls *c)
{
    const struct ct_call *root = &c->call[CT_CALL_ROOT];
    if (!root->first) {
        ct_string_put(out, "No modules are in the profile: cutrace --stacks python records them\n");
        return;
    }
    double rest_ns = c->with_rest_ns - root->all.ns + root->own.ns;
    double rest = ct_calls_percent(rest_ns, c->with_rest_ns);
    if (rest >= 0.05)
        ct_string_printf(out, "%.1f%% of the GPU time was launched in no module%s\n", rest,
                         c->is_sampled ? ", or is what the sample missed" : "");
    if (c->graphs)
        ct_string_put(out, "A CUDA graph counts for the module that launched it\n");
}

int ct_report_modules(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_string notes = {0};
    struct tree t = {.m = in->m, .is_indented = in->o->format->kind == CT_FORMAT_TEXT};
    ct_calls_of_modules(&t.calls, in->m, in->device);
    ct_sink_begin(sink, &relation);
    for (uint32_t at = t.calls.call[CT_CALL_ROOT].first; at; at = ct_calls_next(&t.calls, at))
        put_module(&t, sink, at);
    ct_modules_notes(&notes, &t.calls);
    ct_sink_notes(sink, notes.data);
    ct_sink_end(sink);
    ct_string_free(&notes);
    ct_string_free(&t.name);
    ct_calls_free(&t.calls);
    return 0;
}
