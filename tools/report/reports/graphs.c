/* SPDX-License-Identifier: MIT */
/* Report "graphs": launches of graphs, and the kernels in them. */
#include "report/names.h"
#include "report/reports/figures.h"

enum { NODES, GPU, NAME, OWN };

static const struct ct_column columns[CT_FIGURES + OWN] = {
    CT_FIGURES_COLUMNS,
    [CT_FIGURES + NODES] = {"nodes", "Nodes", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [CT_FIGURES + GPU] = {"gpu", "GPU", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [CT_FIGURES + NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"graphs", "Graphs", columns, CT_FIGURES + OWN};

static const struct ct_column kernel_columns[] = {
    {"graph", "Graph", CT_CELL_TEXT, CT_FOLD_GROUP, 0},
    {"nodes", "Nodes", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    {"runs", "Runs", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation kernel_relation = {"graph_kernels", "Kernels in graphs",
                                                   kernel_columns, 4};

static void put(struct ct_cell *own, const struct ct_line *line, const char *gpus, bool raw)
{
    (void)raw;
    own[NODES] = ct_cell_count(line->detail);
    own[GPU] = ct_cell_text(gpus);
    own[NAME] = ct_cell_text(line->name);
}

static void put_kernels(struct ct_sink *sink, const struct ct_input *in,
                        const struct ct_line *graph)
{
    struct ct_string name = {0};
    for (size_t i = 0; i < ct_merge_content_count(in->m, graph->content); i++) {
        struct ct_file_node node = ct_merge_content(in->m, graph->content, i);
        uint64_t runs = ct_merge_product(node.count, graph->calls);
        ct_string_clear(&name);
        ct_name_kernel(&name, ct_merge_name(in->m, node.name), !in->o->mangled);
        struct ct_cell cells[] = {ct_cell_text(graph->name), ct_cell_count(node.count),
                                  ct_cell_count(runs), ct_cell_text(name.data)};
        ct_sink_row(sink, cells);
    }
    ct_string_free(&name);
}

int ct_report_graphs(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_view_options o = ct_report_view(in->o);
    struct ct_view gpu;
    struct ct_figures_report report = {&relation, CT_FIGURES_GRAPHS, put};
    ct_view_gpu(&gpu, in->m, in->device, &o);
    ct_figures_put(&gpu, sink, &report, o.raw);
    ct_sink_begin(sink, &kernel_relation);
    for (size_t i = 0; i < gpu.count; i++)
        if (gpu.lines[i].kind == CT_ROW_GRAPH && gpu.lines[i].content != CT_MERGE_NONE)
            put_kernels(sink, in, &gpu.lines[i]);
    ct_sink_end(sink);
    ct_view_free(&gpu);
    return 0;
}
