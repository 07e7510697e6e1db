/* SPDX-License-Identifier: MIT */
/* Tests of significance against tables, worked examples and chance; what diff makes of two
 * profiles. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "drawn.h"
#include "report/profile/pairs.h"

/* ---- distributions ---- */

static const struct {
    double t, freedom, p;
} tabled[] = {
    {12.7062, 1, 0.05}, {4.30265, 2, 0.05},  {2.22814, 10, 0.05}, {2.04227, 30, 0.05},
    {63.6567, 1, 0.01}, {3.16927, 10, 0.01}, {0, 5, 1},           {1.95996, 1e9, 0.05},
    {1, 1, 0.5},        {4.58689, 10, 1e-3}, {2.5758, 5e5, 0.01}, {6.2e4, 10, 0},
};

START_TEST(student)
{
    double p = ct_stats_student(tabled[_i].t, tabled[_i].freedom);
    ck_assert_double_eq_tol(p, tabled[_i].p, 1e-5);
    ck_assert_double_eq_tol(ct_stats_student(-tabled[_i].t, tabled[_i].freedom), p, 1e-15);
}
END_TEST

START_TEST(welch)
{
    /* Welch's own kind of example: variances of the means 4 and 9, 10 and 5 degrees of freedom. */
    struct ct_stats_value a = {100, 4, 10, 0}, b = {110, 9, 5, 0};
    double freedom = 13.0 * 13 / (16.0 / 10 + 81.0 / 5);
    ck_assert_double_eq_tol(ct_stats_welch(&a, &b), ct_stats_student(10 / sqrt(13), freedom),
                            1e-12);
    a.doubt = 3;
    b.doubt = 4;
    ck_assert_double_eq_tol(ct_stats_welch(&a, &b), ct_stats_student(3 / sqrt(13), freedom), 1e-12);
    b.doubt = 7; /* all of the difference may be the calibrations' */
    ck_assert_double_eq(ct_stats_welch(&a, &b), 1);
    a.variance = b.variance = 0;
    ck_assert_double_eq(ct_stats_welch(&a, &b), 1);
    b.doubt = 6;
    ck_assert_double_eq(ct_stats_welch(&a, &b), 0);
    b.freedom = 0;
    ck_assert(isnan(ct_stats_welch(&a, &b)));
    ck_assert(isnan(ct_stats_half(&a, &b)));
}
END_TEST

START_TEST(holm)
{
    double p[] = {0.01, NAN, 0.04, 0.03, 0.005, 0.9};
    ct_stats_holm(p, 6);
    ck_assert_double_eq_tol(p[0], 0.04, 1e-12);
    ck_assert(isnan(p[1]));
    ck_assert_double_eq_tol(p[2], 0.09, 1e-12);
    ck_assert_double_eq_tol(p[3], 0.09, 1e-12);
    ck_assert_double_eq_tol(p[4], 0.025, 1e-12);
    ck_assert_double_eq_tol(p[5], 0.9, 1e-12);
}
END_TEST

/* U = 2 of 20 by hand: of the pairs only (5, 3), (5, 4) have the one of b before the one of a. */
START_TEST(ranks)
{
    uint64_t x[] = {1, 2, 5, 0}, y[] = {3, 4, 6, 7, 8};
    struct ct_merged_hist a = ct_drawn_hist(x, 4), b = ct_drawn_hist(y, 5), none = {0};
    struct ct_ranks_test test = ct_stats_ranks(&a, 4, &b, 5, 0);
    ck_assert_double_eq_tol(test.superiority, 0.9, 1e-12);
    ck_assert_double_eq_tol(test.p, ct_stats_normal((18 - 10) / sqrt(20.0 * 10 / 12)), 1e-12);
    ck_assert_double_eq_tol(ct_stats_ranks(&a, 4, &a, 4, 0).p, 1, 1e-12);
    ck_assert_double_eq(ct_stats_ranks(&a, 4, &b, 5, 10).p, 1); /* as far as all may be wrong */
    ck_assert(isnan(ct_stats_ranks(&a, 4, &none, 0, 0).p));
    free(a.buckets);
    free(b.buckets);
}
END_TEST

/* ---- two profiles ---- */

struct profile {
    struct ct_build b;
    struct ct_merged m;
};

static void start(struct profile *p)
{
    *p = (struct profile){.m = {.details = true, .devices_as = CT_DEVICES_AS_ONE}};
    ct_build_start(&p->b);
    ct_build_process(&p->b, 1, "./app");
    ct_build_device(&p->b, 0, "GPU");
}

static void add_kernel(struct profile *p, const char *name, const uint64_t *ns, size_t launches,
                       uint64_t doubt_ns)
{
    ct_drawn_add(&p->b, name, ns, launches, doubt_ns);
}

static void add_drawn(struct profile *p, const char *name, double mean_ns, size_t launches,
                      uint64_t doubt_ns)
{
    static uint64_t ns[1000];
    for (size_t i = 0; i < launches; i++)
        ns[i] = ct_drawn_ns(mean_ns);
    add_kernel(p, name, ns, launches, doubt_ns);
}

static void finish(struct profile *p)
{
    char path[CT_CASE_PATH];
    struct ct_summary s = {0};
    struct ct_read_error error;
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(&p->b, path));
    ck_assert_msg(!ct_summary_read(&s, path, &error), "%s", error.text);
    ct_merge_add(&p->m, &s);
    ct_summary_free(&s);
    ct_build_free(&p->b);
    unlink(path);
}

static struct profile before, after;
static struct ct_pairs pairs;

static void compare(void)
{
    finish(&before);
    finish(&after);
    ct_pairs_make(&pairs, &before.m, &after.m, false, true);
}

static const struct ct_pair *pair_of(const char *name)
{
    for (size_t i = 0; i < pairs.count; i++)
        if (!strcmp(pairs.pairs[i].name.data, name))
            return &pairs.pairs[i];
    ck_abort_msg("no %s", name);
    return NULL;
}

static void expect(const char *name, const char *verdict)
{
    const char *got = ct_pair_verdict(pair_of(name));
    ck_assert_msg(!strcmp(got ? got : "", verdict), "%s is '%s', not '%s'", name, got, verdict);
}

static void tear_down(void)
{
    ct_pairs_free(&pairs);
    ct_merge_free(&before.m);
    ct_merge_free(&after.m);
    pairs = (struct ct_pairs){0};
}

START_TEST(verdicts)
{
    uint64_t once[] = {5000}, twice[] = {10000};
    start(&before);
    start(&after);
    add_drawn(&before, "slower", 10000, 500, 100);
    add_drawn(&after, "slower", 11500, 500, 100);
    add_drawn(&before, "faster and more", 10000, 500, 100);
    add_drawn(&after, "faster and more", 8000, 600, 100);
    add_drawn(&before, "in doubt", 10000, 1000, 600);
    add_drawn(&after, "in doubt", 11000, 1000, 600);
    add_drawn(&before, "same", 10000, 300, 100);
    add_drawn(&after, "same", 10000, 300, 100);
    add_drawn(&before, "fewer", 10000, 300, 100);
    add_drawn(&after, "fewer", 10000, 200, 100);
    add_kernel(&before, "once", once, 1, 0);
    add_kernel(&after, "once", twice, 1, 0);
    add_kernel(&before, "vanished", once, 1, 0);
    add_kernel(&after, "new", once, 1, 0);
    compare();
    expect("slower", "slower");
    expect("faster and more", "faster, more calls");
    expect("in doubt", "");
    expect("same", "");
    expect("fewer", "fewer calls");
    expect("once", "");
    expect("vanished", "vanished");
    expect("new", "new");
    ck_assert(isnan(pair_of("once")->mean_p));
    ck_assert_double_eq(pair_of("in doubt")->mean_p, 1);
    for (size_t i = 1; i < pairs.count; i++)
        ck_assert_double_ge(fabs(ct_pair_change_ns(&pairs.pairs[i - 1])),
                            fabs(ct_pair_change_ns(&pairs.pairs[i])));
}
END_TEST

/* One launch in 500 takes 1,000 times as long and hides from the mean what the ranks show. */
START_TEST(mostly_slower)
{
    uint64_t x[500], y[500];
    for (size_t i = 0; i < 500; i++) {
        x[i] = i ? ct_drawn_ns(10000) : 10000000;
        y[i] = i ? ct_drawn_ns(12000) : 10000000;
    }
    start(&before);
    start(&after);
    add_kernel(&before, "k", x, 500, 50);
    add_kernel(&after, "k", y, 500, 50);
    compare();
    expect("k", "mostly slower");
    ck_assert_double_gt(pair_of("k")->ranks.superiority, 0.7);
}
END_TEST

/* Calls are exact: as many more are no chance, whatever one takes. */
START_TEST(totals)
{
    start(&before);
    start(&after);
    add_drawn(&before, "k", 10000, 400, 0);
    add_drawn(&after, "k", 10000, 800, 0);
    compare();
    ck_assert_double_lt(pair_of("k")->total_p, 1e-6);
    ck_assert_double_gt(pair_of("k")->mean_p, 0.001);
    struct ct_stats_value total = ct_pairs_total(&pairs, true, true);
    ck_assert_double_eq_tol(total.value, pair_of("k")->after.total_ns, 1);
    ck_assert_double_lt(ct_pairs_total_p(&pairs, true), 1e-6);
}
END_TEST

/* What ran once may be so long by chance: it alone makes no significant sum. */
START_TEST(once_is_no_proof)
{
    uint64_t x[] = {1000000}, y[] = {3000000};
    start(&before);
    start(&after);
    add_drawn(&before, "k", 10000, 400, 0);
    add_drawn(&after, "k", 10000, 400, 0);
    add_kernel(&before, "once", x, 1, 0);
    add_kernel(&after, "once", y, 1, 0);
    compare();
    ck_assert_double_gt(ct_pairs_total_p(&pairs, true), 0.05);
}
END_TEST

/* 40 kernels as they were, 50 times: with Holm one run in 20 may have a false alarm, not each. */
START_TEST(false_alarms)
{
    int alarms = 0, found = 0;
    for (int run = 0; run < 50; run++) {
        char name[16];
        bool alarm = false;
        start(&before);
        start(&after);
        for (int i = 0; i < 40; i++) {
            snprintf(name, sizeof(name), "k%d", i);
            add_drawn(&before, name, 5000, 100, 0);
            add_drawn(&after, name, i ? 5000 : 6000, 100, 0);
        }
        compare();
        for (int i = 1; i < 40; i++) {
            snprintf(name, sizeof(name), "k%d", i);
            alarm |= pair_of(name)->mean_p < CT_PAIRS_LEVEL;
        }
        alarms += alarm;
        found += pair_of("k0")->mean_p < CT_PAIRS_LEVEL;
        tear_down();
    }
    ck_assert_int_le(alarms, 7);
    ck_assert_int_ge(found, 48);
}
END_TEST

/* Ten processes whose means scatter more than their launches: that is what a change is held to. */
START_TEST(processes_are_the_sample)
{
    struct ct_merged_row row = {
        .sum = {.kind = CT_ROW_KERNEL, .timed = 10000, .total_ns = 10000000}};
    row.sum.square_ns2 = 10000 * 1000.0 * 1000 + 10000 * 100.0;
    row.sum.estimated = 10000;
    row.sum.estimated_ns = 1e7;
    row.sum.estimated_square_ns2 = row.sum.square_ns2;
    struct ct_diff_side alone = ct_diff_side_of_row(&row, false);
    ck_assert_double_eq_tol(alone.mean.variance, 0.01, 1e-4);
    row.spread.sum = (struct ct_file_spread){.processes = 10, .mean_ns = 10000};
    row.spread.sum.mean_square_ns2 = 10 * 1000.0 * 1000 + 9 * 400;
    struct ct_diff_side many = ct_diff_side_of_row(&row, false);
    ck_assert_double_eq_tol(many.mean.variance, 40, 1e-6);
    ck_assert_double_eq(many.mean.freedom, 9);
}
END_TEST

/* Graphs have no names: the same kernels as often are the same graph, in whatever order. */
START_TEST(graphs)
{
    static const char *const order[2][2] = {{"f", "g"}, {"g", "f"}};
    struct profile *sides[] = {&before, &after};
    for (int side = 0; side < 2; side++) {
        start(sides[side]);
        struct ct_build *b = &sides[side]->b;
        struct ct_file_row row =
            ct_build_row(CT_ROW_GRAPH, 2, 0, ct_build_text(b, side ? "7" : "1"));
        ct_build_time(&row, 1000);
        uint32_t at = ct_build_add(b, CT_SECTION_ROWS, &row);
        for (int i = 0; i < 2; i++) {
            struct ct_file_node node = {
                .graph_row = at, .name = ct_build_text(b, order[side][i]), .count = 1};
            ct_build_add(b, CT_SECTION_NODES, &node);
        }
    }
    compare();
    ck_assert_uint_eq(pairs.count, 1);
    ck_assert_double_gt(pairs.pairs[0].before.calls, 0);
    ck_assert_double_gt(pairs.pairs[0].after.calls, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("diff");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_loop_test(tests, student, 0, sizeof(tabled) / sizeof(tabled[0]));
    tcase_add_test(tests, welch);
    tcase_add_test(tests, holm);
    tcase_add_test(tests, ranks);
    tcase_add_test(tests, verdicts);
    tcase_add_test(tests, mostly_slower);
    tcase_add_test(tests, totals);
    tcase_add_test(tests, once_is_no_proof);
    tcase_add_test(tests, false_alarms);
    tcase_add_test(tests, processes_are_the_sample);
    tcase_add_test(tests, graphs);
    return ct_case_main("diff", tests);
}
