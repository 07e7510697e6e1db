/* SPDX-License-Identifier: MIT */
/* Graphs in the table, and the work inside them. */
#include <stdio.h>
#include <string.h>

#include "merged_fixture.h"

static void add_graph(struct ct_build *b, const char *ordinal, const char *first,
                      const char *second, uint64_t ns)
{
    struct ct_file_row row = ct_build_row(CT_ROW_GRAPH, 4, 0, ct_build_text(b, ordinal));
    ct_build_time(&row, ns);
    row.lost[CT_LOSS_NO_EVENT] = 2;
    uint32_t at = ct_build_add(b, CT_SECTION_ROWS, &row);
    struct ct_file_node node = {.graph_row = at, .name = ct_build_text(b, first), .count = 3};
    ct_build_add(b, CT_SECTION_NODES, &node);
    node = (struct ct_file_node){.graph_row = at, .name = ct_build_text(b, second), .count = 1};
    ct_build_add(b, CT_SECTION_NODES, &node);
}

START_TEST(graphs_are_known_by_content)
{
    struct ct_build b;
    start(&b);
    add_graph(&b, "2", "_Z1fv", "_Z1gv", 9000);
    add_graph(&b, "1", "_Z1fv", "_Z1hv", 8000);
    merge(&b);
    start(&b);
    add_graph(&b, "1", "_Z1fv", "_Z1gv", 7000);
    merge(&b);
    ck_assert_uint_eq(merged.row_keys.count, 2);
    expect_line((struct ct_options){0}, "[CUDA graph 4 nodes]\n");
    expect_line((struct ct_options){0}, "[CUDA graph 4 nodes #2]\n");
    expect_line((struct ct_options){0}, "27         -         -         -  [graph] f(void)\n");
    expect_line((struct ct_options){0}, " 6         -         -         -  [graph] g(void)\n");
    expect_line((struct ct_options){0}, " 3         -         -         -  [graph] h(void)\n");
    expect_line((struct ct_options){0}, "[graph] without a time: it is within the time of");
}
END_TEST

static void add_copying_graph(struct ct_build *b, uint32_t kind, uint64_t bytes)
{
    struct ct_file_row row = ct_build_row(CT_ROW_GRAPH, 2, 0, ct_build_text(b, "1"));
    ct_build_time(&row, 9000);
    struct ct_file_node node = {.graph_row = ct_build_add(b, CT_SECTION_ROWS, &row),
                                .name = ct_build_text(b, "_Z1fv"),
                                .count = 1,
                                .kind = kind};
    ct_build_add(b, CT_SECTION_NODES, &node);
    node = (struct ct_file_node){.graph_row = node.graph_row,
                                 .name = ct_build_text(b, "[CUDA memcpy DtoH]"),
                                 .count = 2,
                                 .kind = CT_ROW_COPY,
                                 .detail = CT_DTOH,
                                 .bytes = bytes};
    ct_build_add(b, CT_SECTION_NODES, &node);
}

/* Whatever their sizes; and an older file's kernels, which have no kind, are the same kernels. */
START_TEST(graphs_that_copy_are_known_by_content)
{
    struct ct_build b;
    start(&b);
    add_copying_graph(&b, CT_ROW_KERNEL, 1000);
    add_copying_graph(&b, 0, 2000);
    merge(&b);
    start(&b);
    add_copying_graph(&b, CT_ROW_KERNEL, 4000);
    merge(&b);
    ck_assert_uint_eq(merged.row_keys.count, 1);
    expect_line((struct ct_options){0}, " 3         -         -         -  [graph] f(void)\n");
    expect_line((struct ct_options){0},
                " 6         -         -         -  [graph] [CUDA memcpy DtoH]");
    size_t copies = ct_merge_node(&merged, &merged.rows[0], 0).kind == CT_ROW_COPY ? 0 : 1;
    ck_assert_uint_eq(ct_merge_node(&merged, &merged.rows[0], copies).bytes, 7000);
}
END_TEST

/* One launch of 9 us of a graph with two kernels f, which may have been timed, and one more. */
static void add_timed_graph(struct ct_build *b, uint64_t timed, uint64_t ns)
{
    struct ct_file_row row = ct_build_row(CT_ROW_GRAPH, 3, 0, ct_build_text(b, "1"));
    ct_build_time(&row, 9000);
    struct ct_file_node node = {.graph_row = ct_build_add(b, CT_SECTION_ROWS, &row),
                                .name = ct_build_text(b, "_Z1fv"),
                                .count = 2,
                                .timed = timed,
                                .total_ns = timed * ns,
                                .min_ns = ns,
                                .max_ns = ns,
                                .raw_total_ns = timed * (ns + 2000)};
    ct_build_add(b, CT_SECTION_NODES, &node);
    node = (struct ct_file_node){
        .graph_row = node.graph_row, .name = ct_build_text(b, "_Z1gv"), .count = 1};
    ct_build_add(b, CT_SECTION_NODES, &node);
}

START_TEST(time_inside_graphs_is_taken_out)
{
    struct ct_build b;
    start(&b);
    add_timed_graph(&b, 2, 3000);
    merge(&b);
    expect_line((struct ct_options){0},
                " 66.67%  6.0000us         2  3.0000us  3.0000us  3.0000us  [graph] f(void)\n");
    expect_line(
        (struct ct_options){0},
        " 33.33%  3.0000us         1  3.0000us         -         -  [CUDA graph 3 nodes]\n");
    expect_line((struct ct_options){.raw = true}, " 10.000us         1  10.000us");
    expect_line((struct ct_options){.raw = true}, " 2         -         -         -  [graph] f(");
}
END_TEST

/* Kernels side by side have more time than their graph, which then has none left. */
START_TEST(graphs_have_no_less_than_no_time)
{
    struct ct_build b;
    start(&b);
    add_timed_graph(&b, 4, 6000);
    merge(&b);
    expect_line((struct ct_options){0},
                " 12.000us         2  6.0000us  6.0000us  6.0000us  [graph]");
    expect_line((struct ct_options){0}, "  0.00%       0ns         1");
}
END_TEST

/* Runs without a time are not taken to be like those in another graph. */
START_TEST(times_are_of_their_graphs)
{
    struct ct_build b;
    start(&b);
    add_timed_graph(&b, 2, 3000);
    merge(&b);
    start(&b);
    add_graph(&b, "1", "_Z1fv", "_Z1hv", 7000);
    merge(&b);
    expect_line((struct ct_options){0}, " 2  3.0000us  3.0000us  3.0000us  [graph] f(void)\n");
    expect_line((struct ct_options){0}, " 9         -         -         -  [graph] f(void)\n");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("graph_lines");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, graphs_are_known_by_content);
    tcase_add_test(tests, graphs_that_copy_are_known_by_content);
    tcase_add_test(tests, time_inside_graphs_is_taken_out);
    tcase_add_test(tests, graphs_have_no_less_than_no_time);
    tcase_add_test(tests, times_are_of_their_graphs);
    return ct_case_main("graph_lines", tests);
}
