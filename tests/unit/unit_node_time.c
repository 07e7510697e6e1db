/* SPDX-License-Identifier: MIT */
/* What event nodes add to kernels in graphs, told by graphs that are launched with and without. */
#include "case_main.h"
#include "counts/row.h"
#include "drain/node_time.h"
#include "drain/row_sums.h"
#include "fake_driver.h"
#include "state/context.h"

#define KERNELS 20
#define FEW 7
#define MANY 100
#define LAUNCHES 16
#define WITHOUT_NS 100000
#define ADDED_NS 2500 /* to each kernel */

static const struct ct_calibration figures = {
    .source = CT_CALIBRATION_TABLE,
    .node = {.bias_ns = 3350, .spread_ns = 1000, .gap_ns = 275, .doubt_ns = 400}};
static const struct ct_calibration none = {.source = CT_CALIBRATION_NONE};
static char context[1];

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)context;
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    fake_context(fake_current);
    ck_assert(ct_contexts_init());
    ck_assert(ct_rows_init());
    ck_assert(ct_node_times_init());
    ck_assert_uint_eq(ct_device_current(), 0);
    ct_device_calibrated(0, &figures);
}

static uint32_t graph_of(const char *name)
{
    return ct_row_get(CT_ROW_GRAPH, 0, 0, name);
}

static void launch(uint32_t row, int times, uint64_t ns)
{
    struct ct_op op = {.row = row, .operations = 1, .weight = 1};
    for (int i = 0; i < times; i++)
        ct_row_add(ct_row(row), &op, ns, ns, 0);
}

/* In place of n - 1 gaps there are n times the two of an event node. */
static void replay(uint32_t row, int times, uint64_t ns, uint64_t alone, uint64_t beside)
{
    for (int i = 0; i < times; i++)
        ct_node_time_add_graph(row, ns + figures.node.gap_ns, alone, alone + beside);
}

static void expect(uint32_t row, uint64_t bias_ns, uint64_t doubt_ns)
{
    ct_node_times_settle();
    struct ct_node_bias b = ct_node_bias_of(row);
    ck_assert_uint_le(b.bias_ns, bias_ns + 30); /* a duration's bucket */
    ck_assert_uint_ge(b.bias_ns, bias_ns - 30);
    ck_assert_uint_eq(b.doubt_ns, doubt_ns);
}

START_TEST(one_behind_the_other)
{
    uint32_t row = graph_of("chain");
    launch(row, LAUNCHES, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS + KERNELS * ADDED_NS, KERNELS, 0);
    expect(row, ADDED_NS + figures.node.gap_ns, figures.node.doubt_ns);
}
END_TEST

START_TEST(launches_that_waited_do_not_count)
{
    uint32_t row = graph_of("chain");
    launch(row, LAUNCHES / 2 - 1, 10 * WITHOUT_NS);
    launch(row, LAUNCHES / 2 + 1, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS + KERNELS * ADDED_NS, KERNELS, 0);
    expect(row, ADDED_NS + figures.node.gap_ns, figures.node.doubt_ns);
}
END_TEST

/* The way leads through one of the two, or through both if they wait for each other. */
START_TEST(some_are_beside_others)
{
    uint32_t row = graph_of("fork");
    launch(row, LAUNCHES, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS + KERNELS * ADDED_NS, KERNELS - 2, 2);
    ct_node_times_settle();
    struct ct_node_bias b = ct_node_bias_of(row);
    uint64_t most_ns = ADDED_NS * KERNELS / (KERNELS - 2);
    ck_assert_uint_ge(b.bias_ns + b.doubt_ns, most_ns + figures.node.gap_ns);
    ck_assert_uint_le(b.bias_ns - b.doubt_ns, ADDED_NS + figures.node.gap_ns);
    ck_assert_uint_gt(b.doubt_ns, figures.node.doubt_ns);
}
END_TEST

START_TEST(most_are_beside_others)
{
    uint32_t row = graph_of("fork");
    launch(row, LAUNCHES, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS + KERNELS * ADDED_NS, 2, KERNELS - 2);
    expect(row, figures.node.bias_ns, figures.node.spread_ns);
}
END_TEST

START_TEST(another_graph_tells_it)
{
    uint32_t row = graph_of("chain"), other = graph_of("begins with a copy");
    expect(other, figures.node.bias_ns, figures.node.spread_ns);
    launch(row, LAUNCHES, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS + KERNELS * ADDED_NS, KERNELS, 0);
    launch(other, LAUNCHES, WITHOUT_NS);
    expect(other, ADDED_NS + figures.node.gap_ns, figures.node.doubt_ns);
}
END_TEST

START_TEST(too_few_tell_nothing)
{
    uint32_t row = graph_of("chain");
    launch(row, 2, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS + FEW * ADDED_NS, FEW, 0);
    expect(row, figures.node.bias_ns, figures.node.spread_ns);
    launch(row, 1, WITHOUT_NS);
    expect(row, ADDED_NS + figures.node.gap_ns, figures.node.doubt_ns);
    row = graph_of("seldom");
    launch(row, LAUNCHES, WITHOUT_NS);
    replay(row, 2, 2 * WITHOUT_NS, FEW, 0);
    expect(row, ADDED_NS + figures.node.gap_ns, figures.node.doubt_ns);
}
END_TEST

/* By how much a launch differs from others is shared by them. */
START_TEST(few_tell_it_of_many_kernels)
{
    uint32_t row = graph_of("long chain");
    launch(row, 3, WITHOUT_NS);
    replay(row, 1, WITHOUT_NS + MANY * ADDED_NS, MANY, 0);
    expect(row, ADDED_NS + figures.node.gap_ns, figures.node.doubt_ns);
}
END_TEST

/* Whatever else is in the graph, that is what kernels one behind the other take at most. */
START_TEST(kernels_are_within_their_graph)
{
    const uint64_t more_ns = figures.node.bias_ns + 500, kernels_ns = WITHOUT_NS;
    uint32_t row = graph_of("ends with a copy");
    launch(row, LAUNCHES, WITHOUT_NS);
    for (int i = 0; i < LAUNCHES; i++)
        ct_node_time_add_line(row, kernels_ns + KERNELS * more_ns, KERNELS);
    expect(row, more_ns + figures.node.gap_ns, figures.node.spread_ns);
    row = graph_of("mostly a copy");
    launch(row, LAUNCHES, 2 * WITHOUT_NS);
    for (int i = 0; i < LAUNCHES; i++)
        ct_node_time_add_line(row, kernels_ns + KERNELS * more_ns, KERNELS);
    expect(row, figures.node.bias_ns, figures.node.spread_ns);
}
END_TEST

START_TEST(less_than_nothing_is_added)
{
    uint32_t row = graph_of("chain");
    launch(row, LAUNCHES, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS / 2, KERNELS, 0);
    ct_node_times_settle();
    ck_assert_uint_eq(ct_node_bias_of(row).bias_ns, figures.node.gap_ns);
}
END_TEST

/* Raw times, with what their doubt is; what is measured here serves there, too. */
START_TEST(a_device_that_nobody_knows)
{
    uint32_t row = graph_of("chain");
    ct_device_calibrated(0, &none);
    ct_node_times_settle();
    ck_assert_uint_eq(ct_node_bias_of(row).bias_ns, 0);
    ck_assert_uint_ge(ct_node_bias_of(row).doubt_ns, 2000);
    launch(row, LAUNCHES, WITHOUT_NS);
    replay(row, LAUNCHES, WITHOUT_NS + KERNELS * ADDED_NS, KERNELS, 0);
    expect(row, ADDED_NS, 700);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("node times");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, one_behind_the_other);
    tcase_add_test(t, launches_that_waited_do_not_count);
    tcase_add_test(t, some_are_beside_others);
    tcase_add_test(t, most_are_beside_others);
    tcase_add_test(t, another_graph_tells_it);
    tcase_add_test(t, too_few_tell_nothing);
    tcase_add_test(t, few_tell_it_of_many_kernels);
    tcase_add_test(t, kernels_are_within_their_graph);
    tcase_add_test(t, less_than_nothing_is_added);
    tcase_add_test(t, a_device_that_nobody_knows);
    return ct_case_main("unit_node_time", t);
}
