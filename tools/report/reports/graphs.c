/* SPDX-License-Identifier: MIT */
/* Report "graphs": launches of graphs, and the kernels, copies and sets in them. */
#include "report/names.h"
#include "report/reports/line_figures.h"

enum { NODES, GPU, NAME, OWN };

static const struct ct_column columns[CT_FIGURES + OWN] = {
    CT_FIGURES_COLUMNS,
    [CT_FIGURES + NODES] = {"nodes", "Nodes", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [CT_FIGURES + GPU] = {"gpu", "GPU", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2) | CT_OF_DEVICE},
    [CT_FIGURES + NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"graphs", "Graphs", columns, CT_FIGURES + OWN};

enum {
    KERNEL_GRAPH,
    KERNEL_NODES,
    KERNEL_RUNS,
    KERNEL_BYTES,
    KERNEL_TIMED,
    KERNEL_TOTAL,
    KERNEL_AVG,
    KERNEL_DOUBT,
    KERNEL_MIN,
    KERNEL_MAX,
    KERNEL_NAME,
    KERNEL_COLUMNS,
};

/*
 * Times are a part of the graph's: the total is of all runs, taken to be as long as the timed ones.
 */
static const struct ct_column kernel_columns[KERNEL_COLUMNS] = {
    [KERNEL_GRAPH] = {"graph", "Graph", CT_CELL_TEXT, CT_FOLD_GROUP, 0},
    [KERNEL_NODES] = {"nodes", "Nodes", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [KERNEL_RUNS] = {"runs", "Runs", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [KERNEL_BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, CT_OPTIONAL(3) | CT_QUIET},
    [KERNEL_TIMED] = {"timed", "Timed", CT_CELL_COUNT, CT_FOLD_SUM,
                      CT_OPTIONAL(3) | CT_QUIET | CT_OF_CALLS},
    [KERNEL_TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_SUM, CT_OPTIONAL(2)},
    [KERNEL_AVG] = {"avg_ns", "Avg", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [KERNEL_DOUBT] = {"uncertainty_ns", "+-", CT_CELL_TIME_NS, CT_FOLD_NONE,
                      CT_OPTIONAL(4) | CT_QUIET},
    [KERNEL_MIN] = {"min_ns", "Min", CT_CELL_TIME_NS, CT_FOLD_LEAST, CT_OPTIONAL(5)},
    [KERNEL_MAX] = {"max_ns", "Max", CT_CELL_TIME_NS, CT_FOLD_MOST, CT_OPTIONAL(5)},
    [KERNEL_NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation kernel_relation = {"graph_kernels", "Kernels in graphs",
                                                   kernel_columns, KERNEL_COLUMNS};

static void put(struct ct_cell *own, const struct ct_line *line, const char *gpus, bool raw)
{
    (void)raw;
    own[NODES] = ct_cell_count(line->detail);
    own[GPU] = ct_cell_text(gpus);
    own[NAME] = ct_cell_text(line->name);
}

static void put_times(struct ct_cell *cells, const struct ct_file_node *node, uint64_t runs,
                      bool raw)
{
    struct ct_node_times t = ct_view_node(node, runs, raw);
    cells[KERNEL_TIMED] = ct_cell_count(node->timed);
    cells[KERNEL_TOTAL] = ct_cell_count(t.total_ns);
    cells[KERNEL_AVG] = ct_cell_count(t.avg_ns);
    cells[KERNEL_AVG].doubtful = t.uncertain;
    cells[KERNEL_DOUBT] = ct_cell_count(t.doubt_ns);
    if (raw)
        return;
    cells[KERNEL_MIN] = ct_cell_count(node->min_ns);
    cells[KERNEL_MAX] = ct_cell_count(node->max_ns);
}

static void put_kernels(struct ct_sink *sink, const struct ct_input *in,
                        const struct ct_line *graph)
{
    struct ct_string name = {0};
    for (size_t i = 0; i < ct_merge_content_count(in->m, graph->content); i++) {
        struct ct_file_node node = ct_merge_node(in->m, graph->row, i);
        uint64_t runs = ct_merge_product(node.count, graph->calls);
        struct ct_cell cells[KERNEL_COLUMNS] = {[KERNEL_GRAPH] = ct_cell_text(graph->name),
                                                [KERNEL_NODES] = ct_cell_count(node.count),
                                                [KERNEL_RUNS] = ct_cell_count(runs)};
        ct_string_clear(&name);
        ct_name_node(&name, in->m, &node, !in->o->mangled);
        cells[KERNEL_NAME] = ct_cell_text(name.data);
        if (node.kind != CT_ROW_KERNEL)
            cells[KERNEL_BYTES] = ct_cell_count(node.bytes);
        if (node.timed)
            put_times(cells, &node, runs, in->o->raw);
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
        if (ct_view_has_nodes(&gpu.lines[i]))
            put_kernels(sink, in, &gpu.lines[i]);
    ct_sink_end(sink);
    ct_view_free(&gpu);
    return 0;
}
