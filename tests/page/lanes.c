/* SPDX-License-Identifier: MIT */
/* The timeline of traces as the page has it: what is one item there. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "case_main.h"
#include "format/varint.h"
#include "page/page_timeline.h"

#define MOST_FILES 16
#define RECORDS 21360 /* of make_page_trace, in lanes of three streams and a thread */

static char path[] = "lanes.trace";

static uint64_t since_ns, until_ns;

static void read_it(struct ct_page_timeline *t, int times, uint64_t most_items)
{
    char *paths[MOST_FILES];
    struct ct_options o = {
        .files = paths, .file_count = times, .since_ns = since_ns, .until_ns = until_ns};
    for (int i = 0; i < times; i++)
        paths[i] = path;
    struct ct_file_process processes[] = {
        {.pid = 4711, .start_unix_ns = 1767225600000000000}, /* of make_page_trace */
        {.pid = 4711, .start_unix_ns = 1700000000000000000}, /* of make_golden_trace */
    };
    struct ct_merged m = {.processes = processes, .process_count = 2};
    *t = (struct ct_page_timeline){.most_items = most_items};
    ck_assert(ct_page_timeline_read(t, &m, &o));
}

static uint64_t count(const struct ct_page_timeline *t, uint64_t *records)
{
    uint64_t items = 0;
    *records = 0;
    for (size_t i = 0; i < t->lane_count; i++) {
        items += t->lanes[i].items;
        *records += t->lanes[i].records;
    }
    return items;
}

START_TEST(there_are_as_many_items_as_may_be)
{
    static const struct {
        int times;
        uint64_t most;
    } cases[] = {{1, 100}, {1, 4000}, {MOST_FILES, 100}, {MOST_FILES, 4000}};
    for (size_t i = 0; i < ct_countof(cases); i++) {
        struct ct_page_timeline t;
        uint64_t records;
        read_it(&t, cases[i].times, cases[i].most);
        uint64_t items = count(&t, &records);
        ck_assert_uint_eq(records, (uint64_t)RECORDS * (unsigned)cases[i].times);
        ck_assert_uint_le(items, cases[i].most);
        ck_assert_uint_ge(items, cases[i].most / 8);
        ct_page_timeline_free(&t);
    }
}
END_TEST

/* Each column has one number for each item; the browser looks for correlations by halves. */
static void check_order(const struct ct_lane *lane)
{
    const struct ct_string *column = &lane->columns[3];
    const uint8_t *bytes = (const uint8_t *)column->data;
    struct ct_varints v = {.at = bytes, .end = bytes + column->len};
    int64_t correlation = 0;
    for (uint64_t i = 0; i < lane->items; i++) {
        int64_t more = ct_varint_unfold(ct_varint_get(&v));
        ck_assert_int_gt(more, 0);
        correlation += more;
    }
    ck_assert(!v.bad);
    ck_assert_ptr_eq(v.at, v.end);
    ck_assert_int_le(correlation, RECORDS);
}

START_TEST(correlations_stay_in_order)
{
    struct ct_page_timeline t;
    read_it(&t, 1, 4000);
    for (size_t i = 0; i < t.lane_count; i++)
        check_order(&t.lanes[i]);
    ct_page_timeline_free(&t);
}
END_TEST

static uint64_t in_ranges_ns(const struct ct_page_timeline *t)
{
    const json_t *lanes = json_object_get(t->facts, "lanes");
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < t->lane_count; i++)
        if (json_is_true(json_object_get(json_array_get(lanes, i), "ranges")))
            sum_ns += t->lanes[i].busy_ns;
    return sum_ns;
}

/* One lane for each that others overlap, and the lane of a mark. */
START_TEST(ranges_have_lanes)
{
    struct ct_page_timeline t;
    uint64_t records;
    ck_assert_int_eq(system("tests/golden/make_golden_trace ranges lanes.trace"), 0);
    read_it(&t, 2, 4000);
    ck_assert_uint_eq(count(&t, &records), 2 * (8 + 6));
    ck_assert_uint_eq(t.lane_count, 2 * (2 + 2 + 2 + 1));
    ck_assert_uint_eq(in_ranges_ns(&t),
                      2 * (14500 + 4600 + 1000 + 9900)); /* the last one has no length */
    ct_page_timeline_free(&t);
}
END_TEST

/* Neither the page nor what is drawn as one gets coarser by ranges that go beyond a window. */
START_TEST(ranges_that_cross_a_window_have_lanes)
{
    struct ct_page_timeline t;
    ck_assert_int_eq(system("tests/golden/make_golden_trace ranges lanes.trace"), 0);
    since_ns = 5000;
    until_ns = 10000;
    read_it(&t, 1, 4);
    ck_assert_uint_eq(json_integer_value(json_object_get(t.facts, "first")), since_ns);
    ck_assert_uint_eq(json_integer_value(json_object_get(t.facts, "last")), until_ns);
    ck_assert_uint_eq(json_integer_value(json_object_get(t.facts, "resolution")), 5001);
    ck_assert_uint_eq(in_ranges_ns(&t), 14500 + 9900);
    ct_page_timeline_free(&t);
}
END_TEST

static void no_window(void)
{
    since_ns = 0;
    until_ns = UINT64_MAX;
}

int main(void)
{
    TCase *tests = tcase_create("lanes");
    tcase_add_checked_fixture(tests, no_window, NULL);
    tcase_add_test(tests, there_are_as_many_items_as_may_be);
    tcase_add_test(tests, correlations_stay_in_order);
    tcase_add_test(tests, ranges_have_lanes);
    tcase_add_test(tests, ranges_that_cross_a_window_have_lanes);
    if (system("tests/page/make_page_trace lanes.trace"))
        return EXIT_FAILURE;
    int status = ct_case_main("lanes", tests);
    unlink(path);
    return status;
}
