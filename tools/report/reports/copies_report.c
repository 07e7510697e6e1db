/* SPDX-License-Identifier: MIT */
/* Report "copies": copies, memory sets and prefetches; and copies and sets in graphs. */
#include "report/names.h"
#include "report/reports/line_figures.h"

enum { BYTES, AVG_BYTES, THROUGHPUT, GPU, NAME, OWN };

static const struct ct_column columns[CT_FIGURES + OWN] = {
    CT_FIGURES_COLUMNS,
    [CT_FIGURES + BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    [CT_FIGURES + AVG_BYTES] = {"avg_bytes", "Avg size", CT_CELL_BYTES, CT_FOLD_NONE, 0},
    [CT_FIGURES + THROUGHPUT] = {"bytes_per_second", "Throughput", CT_CELL_RATE, CT_FOLD_NONE, 0},
    [CT_FIGURES + GPU] = {"gpu", "GPU", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2) | CT_OF_DEVICE},
    [CT_FIGURES + NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"copies", "Copies, sets and prefetches", columns,
                                            CT_FIGURES + OWN};

/* Bytes of the operations with a duration, in their time. */
static struct ct_cell throughput(const struct ct_file_row *sum, uint64_t total_ns)
{
    if (!sum->timed_bytes || !total_ns)
        return ct_cell_none();
    return ct_cell_whole((double)sum->timed_bytes * 1e9 / (double)total_ns);
}

static void put(struct ct_cell *own, const struct ct_line *line, const char *gpus, bool raw)
{
    const struct ct_file_row *sum = &line->row->sum;
    own[BYTES] = ct_cell_count(line->bytes);
    if (line->calls)
        own[AVG_BYTES] = ct_cell_count(line->bytes / line->calls);
    own[THROUGHPUT] = throughput(sum, ct_view_durations(line->row, raw).total_ns);
    own[GPU] = ct_cell_text(gpus);
    own[NAME] = ct_cell_text(line->name);
}

enum { INSIDE_GRAPH, INSIDE_NODES, INSIDE_RUNS, INSIDE_BYTES, INSIDE_AVG, INSIDE_NAME, INSIDE };

/* Copies in graphs have no times of their own: these are a part of the graph's. */
static const struct ct_column inside_columns[INSIDE] = {
    [INSIDE_GRAPH] = {"graph", "Graph", CT_CELL_TEXT, CT_FOLD_GROUP, 0},
    [INSIDE_NODES] = {"nodes", "Nodes", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [INSIDE_RUNS] = {"runs", "Runs", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [INSIDE_BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    [INSIDE_AVG] = {"avg_bytes", "Avg size", CT_CELL_BYTES, CT_FOLD_NONE, 0},
    [INSIDE_NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation inside_relation = {"graph_copies", "Copies and sets in graphs",
                                                   inside_columns, INSIDE};

static void put_node(struct ct_sink *sink, const struct ct_input *in, const struct ct_line *graph,
                     const struct ct_file_node *node)
{
    struct ct_string name = {0};
    uint64_t runs = ct_merge_product(node->count, graph->calls);
    ct_name_node(&name, in->m, node, false);
    struct ct_cell cells[INSIDE] = {[INSIDE_GRAPH] = ct_cell_text(graph->name),
                                    [INSIDE_NODES] = ct_cell_count(node->count),
                                    [INSIDE_RUNS] = ct_cell_count(runs),
                                    [INSIDE_BYTES] = ct_cell_count(node->bytes),
                                    [INSIDE_NAME] = ct_cell_text(name.data)};
    if (runs)
        cells[INSIDE_AVG] = ct_cell_count(node->bytes / runs);
    ct_sink_row(sink, cells);
    ct_string_free(&name);
}

/* Whether there are any; `sink` NULL: they are not put. */
static bool put_inside(struct ct_sink *sink, const struct ct_input *in, const struct ct_view *gpu)
{
    bool any = false;
    for (size_t i = 0; i < gpu->count; i++) {
        const struct ct_line *graph = &gpu->lines[i];
        size_t count = ct_view_has_nodes(graph) ? ct_merge_content_count(in->m, graph->content) : 0;
        for (size_t k = 0; k < count; k++) {
            struct ct_file_node node = ct_merge_node(in->m, graph->row, k);
            if (node.kind == CT_ROW_KERNEL)
                continue;
            any = true;
            if (sink)
                put_node(sink, in, graph, &node);
        }
    }
    return any;
}

int ct_report_copies(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_view_options o = ct_report_view(in->o);
    struct ct_view gpu;
    struct ct_figures_report report = {&relation, CT_FIGURES_MEMORY, put};
    ct_view_gpu(&gpu, in->m, in->device, &o);
    ct_figures_put(&gpu, sink, &report, o.raw);
    if (put_inside(NULL, in, &gpu)) {
        ct_sink_begin(sink, &inside_relation);
        put_inside(sink, in, &gpu);
        ct_sink_end(sink);
    }
    ct_view_free(&gpu);
    return 0;
}
