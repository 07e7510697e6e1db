/* SPDX-License-Identifier: MIT */
#include "report/profile/graph_lines.h"

#include <string.h>

#include "report/names.h"

struct inside {
    struct ct_view *v;
    const struct ct_merged *m;
    const struct ct_view_options *o;
    struct ct_key_table keys; /* kind, detail, name, whether it is timed: numbers of lines */
    size_t first;          /* line of key 0 */
};

static struct ct_line *add_line(struct ct_view *v, const struct ct_line *line)
{
    v->lines = ct_memory_grow(v->lines, &v->size, v->count + 1, sizeof(*v->lines));
    v->lines[v->count] = *line;
    return &v->lines[v->count++];
}

static struct ct_line *line_of(struct inside *in, const struct ct_file_node *node)
{
    uint32_t key[] = {node->kind, node->detail, node->name, node->timed != 0};
    uint32_t known = in->keys.count, at = ct_key_table_add(&in->keys, key, sizeof(key));
    if (at < known)
        return &in->v->lines[in->first + at];
    struct ct_string name = {0};
    ct_string_put(&name, CT_GRAPH_MARK);
    ct_name_node(&name, in->m, node, in->o->demangle);
    return add_line(in->v, &(struct ct_line){.name = name.data,
                                             .kind = node->kind,
                                             .detail = node->detail,
                                             .content = CT_MERGE_NONE,
                                             .origin = CT_MERGE_NONE,
                                             .min_ns = UINT64_MAX});
}

/* Brackets around nodes are no part of the graph, which had none: with these it is left whole. */
static uint64_t add_times(struct ct_line *line, const struct ct_file_node *node, uint64_t runs)
{
    struct ct_node_times t = ct_view_node(node, runs, false);
    ct_merge_add_to(&line->timed, node->timed);
    ct_merge_add_to(&line->total_ns, t.total_ns);
    ct_merge_add_to(&line->doubt_ns, ct_merge_product(t.doubt_ns, runs));
    line->min_ns = ct_min(line->min_ns, node->min_ns);
    line->max_ns = ct_max(line->max_ns, node->max_ns);
    return t.total_ns;
}

/* Time of the nodes of a graph, in which some may have run side by side. */
static uint64_t add_nodes(struct inside *in, const struct ct_line *graph, uint64_t *doubt_ns)
{
    uint64_t total_ns = 0;
    for (size_t i = 0; i < ct_merge_content_count(in->m, graph->content); i++) {
        struct ct_file_node node = ct_merge_node(in->m, graph->row, i);
        uint64_t runs = ct_merge_product(node.count, graph->calls);
        if (in->o->raw)
            node.timed = 0;
        struct ct_line *line = line_of(in, &node);
        ct_merge_add_to(&line->calls, runs);
        ct_merge_add_to(&line->bytes, node.bytes);
        if (!node.timed)
            continue;
        uint64_t before_ns = line->doubt_ns;
        ct_merge_add_to(&total_ns, add_times(line, &node, runs));
        ct_merge_add_to(doubt_ns, line->doubt_ns - before_ns);
    }
    return total_ns;
}

static void take_out(struct ct_line *graph, uint64_t ns, uint64_t doubt_ns)
{
    if (!graph->timed)
        return;
    graph->total_ns -= ct_min(graph->total_ns, ns);
    graph->avg_ns = graph->total_ns / graph->calls;
    graph->min_ns = UINT64_MAX;
    graph->max_ns = 0;
    graph->uncertain |= ct_view_uncertain(graph->total_ns, doubt_ns);
}

static void finish(struct ct_view *v)
{
    for (size_t i = 0; i < v->count; i++) {
        struct ct_line *line = &v->lines[i];
        ct_merge_add_to(&v->total_ns, line->total_ns);
        if (line->origin != CT_MERGE_NONE || !line->timed)
            continue;
        line->avg_ns = line->total_ns / line->calls;
        line->uncertain = ct_view_uncertain(line->total_ns, line->doubt_ns);
    }
    ct_view_sort(v);
}

void ct_graph_lines(struct ct_view *v, const struct ct_view *gpu, const struct ct_merged *m,
                    const struct ct_view_options *o)
{
    struct inside in = {.v = v, .m = m, .o = o, .first = gpu->count};
    *v = (struct ct_view){.sampled = gpu->sampled};
    for (uint32_t i = 0; i < gpu->count; i++) {
        struct ct_line *line = add_line(v, &gpu->lines[i]);
        line->name = ct_memory_copy(line->name, strlen(line->name) + 1);
        line->own_row = NULL;
        line->origin = i;
    }
    for (uint32_t i = 0; i < gpu->count; i++) {
        uint64_t doubt_ns = 0, ns = 0;
        if (ct_view_has_nodes(&gpu->lines[i]))
            ns = add_nodes(&in, &gpu->lines[i], &doubt_ns);
        if (ns)
            take_out(&v->lines[i], ns, doubt_ns);
    }
    ct_key_table_free(&in.keys);
    finish(v);
}

void ct_graph_lines_explain(struct ct_string *out, const struct ct_view *v)
{
    bool timed = false, counted = false;
    for (size_t i = 0; i < v->count; i++) {
        const struct ct_line *line = &v->lines[i];
        timed |= line->origin == CT_MERGE_NONE && line->timed;
        counted |= line->origin == CT_MERGE_NONE && !line->timed;
    }
    if (timed)
        ct_string_put(out, "[graph]: inside CUDA graphs, whose rows have the rest of their time\n");
    if (counted)
        ct_string_put(out, "[graph] without a time: it is within the time of the graph's row\n");
}
