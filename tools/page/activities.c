/* SPDX-License-Identifier: MIT */
#include "page/activities.h"

#include "page/histogram.h"
#include "page/json.h"
#include "report/names.h"
#include "report/reports/line_figures.h"

static const char *const kinds[] = {
    [CT_ROW_KERNEL] = "kernel", [CT_ROW_COPY] = "copy",         [CT_ROW_SET] = "set",
    [CT_ROW_GRAPH] = "graph",   [CT_ROW_PREFETCH] = "prefetch",
};

static json_t *pair_of(const char *text, uint64_t count)
{
    json_t *pair = ct_json_array();
    ct_json_append_text(pair, text);
    ct_json_append_count(pair, count);
    return pair;
}

static void add_times(json_t *to, const struct ct_view *gpu, const struct ct_line *line)
{
    ct_json_real(to, "percent", ct_view_percent(gpu, line));
    ct_json_count(to, "total", line->total_ns);
    ct_json_count(to, "avg", line->avg_ns);
    if (line->min_ns != UINT64_MAX) {
        ct_json_count(to, "min", line->min_ns);
        ct_json_count(to, "max", line->max_ns);
    }
    ct_json_flag(to, "uncertain", line->uncertain);
    ct_json_flag(to, "bound", line->bound);
    ct_json_count(to, "doubt", line->doubt_ns / line->timed);
    ct_json_count(to, "half", ct_view_whole_ns(ct_view_line_half_ns(line)));
    ct_json_flag(to, "extended", line->row && line->estimated + 0.5 < (double)line->calls);
}

static void add_distribution(json_t *to, const struct ct_line *line, bool raw)
{
    struct ct_durations d = ct_view_durations(line->row, raw);
    if (d.estimated >= 2)
        ct_json_count(to, "deviation", ct_view_whole_ns(ct_figures_deviation(line, raw)));
    ct_json_count(to, "raw", line->row->sum.raw_total_ns / line->timed);
    if (!d.hist->count)
        return;
    ct_json_set(to, "quantiles", ct_page_quantiles(d.hist, d.min_ns, d.max_ns));
    ct_json_set(to, "histogram", ct_page_histogram(d.hist));
}

static void add_bytes(json_t *to, const struct ct_line *line, bool raw)
{
    if (!line->bytes)
        return;
    ct_json_count(to, "bytes", line->bytes);
    ct_json_count(to, "timed_bytes", line->row->sum.timed_bytes);
    ct_json_count(to, "timed_ns", line->timed ? ct_view_durations(line->row, raw).total_ns : 0);
}

static void add_reasons(json_t *to, const struct ct_file_row *sum)
{
    json_t *lost = ct_json_array(), *bounds = ct_json_array();
    for (int i = 0; i < CT_FILE_LOSSES; i++)
        if (sum->lost[i])
            ct_json_append(lost, pair_of(ct_view_loss_text(i), sum->lost[i]));
    for (enum ct_view_mark i = 0; i < CT_VIEW_MARKS; i++)
        if (ct_view_marked(sum, i))
            ct_json_append(bounds, pair_of(ct_view_mark_text(i), ct_view_marked(sum, i)));
    ct_json_set(to, "lost", lost);
    ct_json_set(to, "bounds", bounds);
    ct_json_count(to, "errors", sum->errors);
}

/* Grid, block, dynamic shared memory, launches. */
static json_t *shape_of(const struct ct_file_shape *s)
{
    json_t *to = ct_json_array();
    for (int i = 0; i < 3; i++)
        ct_json_append_count(to, s->grid[i]);
    for (int i = 0; i < 3; i++)
        ct_json_append_count(to, s->block[i]);
    ct_json_append_count(to, s->dynamic_shared_bytes);
    ct_json_append_count(to, s->count);
    return to;
}

static void add_launches(json_t *to, const struct ct_merged_row *row)
{
    json_t *shapes = ct_json_array();
    if (row->sum.registers != UINT32_MAX)
        ct_json_count(to, "registers", row->sum.registers);
    if (row->sum.static_shared_bytes != UINT32_MAX)
        ct_json_count(to, "static_shared", row->sum.static_shared_bytes);
    for (size_t i = 0; i < row->shape_count; i++)
        ct_json_append(shapes, shape_of(&row->shapes[i]));
    ct_json_set(to, "shapes", shapes);
    ct_json_count(to, "shape_other", row->sum.shape_other);
}

/* Kernels, copies and sets in a graph, how often they are in it, and the bytes of all runs. */
static void add_nodes(json_t *to, const struct ct_merged *m, const struct ct_line *line,
                      bool demangle)
{
    json_t *nodes = ct_json_array();
    struct ct_string name = {0};
    for (size_t i = 0; i < ct_merge_content_count(m, line->content); i++) {
        struct ct_file_node node = ct_merge_node(m, line->row, i);
        ct_string_clear(&name);
        ct_name_node(&name, m, &node, demangle);
        json_t *triple = pair_of(name.data, node.count);
        ct_json_append_count(triple, node.bytes);
        ct_json_append(nodes, triple);
    }
    ct_string_free(&name);
    ct_json_set(to, "nodes", nodes);
}

static json_t *activity_of(const struct ct_merged *m, const struct ct_view *gpu,
                           const struct ct_line *line, const struct ct_view_options *o)
{
    json_t *to = ct_json_object();
    bool known = line->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[line->kind];
    ct_json_text(to, "kind", known ? kinds[line->kind] : "other");
    ct_json_text(to, "name", line->name);
    ct_json_count(to, "calls", line->calls);
    ct_json_count(to, "timed", line->timed);
    if (line->timed)
        add_times(to, gpu, line);
    if (!line->row) {
        ct_json_flag(to, "in_graphs", true);
        add_reasons(to, &(struct ct_file_row){0});
        return to;
    }
    if (line->timed)
        add_distribution(to, line, o->raw);
    add_bytes(to, line, o->raw);
    add_reasons(to, &line->row->sum);
    if (line->kind == CT_ROW_KERNEL)
        add_launches(to, line->row);
    if (ct_view_has_nodes(line))
        add_nodes(to, m, line, o->demangle);
    return to;
}

json_t *ct_page_activities(const struct ct_merged *m, const struct ct_view *gpu,
                           const struct ct_view_options *o)
{
    json_t *all = ct_json_array();
    for (size_t i = 0; i < gpu->count; i++)
        ct_json_append(all, activity_of(m, gpu, &gpu->lines[i], o));
    ct_json_add_short(all, "name", "short");
    return all;
}
