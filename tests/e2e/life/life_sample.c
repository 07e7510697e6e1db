/* SPDX-License-Identifier: MIT */
/* Programs of which a part is timed: what is estimated of the rest, what is counted, what is said.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drain/journal.h"
#include "life/stage.h"
#include "report/profile/interval.h"
#include "time/op.h"

static const struct ct_file_row *row_of(const struct ct_summary *s, const char *name)
{
    for (size_t i = 0; i < s->rows_count; i++)
        if (!strcmp(ct_summary_text(s, s->rows[i].name), name))
            return &s->rows[i];
    ck_abort_msg("no row %s", name);
    return NULL;
}

static uint64_t calls_of(const struct ct_file_row *r)
{
    uint64_t calls = r->timed;
    for (int i = 0; i < CT_LOSS_COUNT; i++)
        calls += r->lost[i];
    return calls;
}

struct cover {
    unsigned held, all;
    double estimate_ns, truth_ns;
    double error2, half2; /* relative, squared: of totals, and of their intervals */
    uint64_t ring_full;
};

static void look(struct cover *c, const struct ct_summary *s, const char *name, double truth_ns)
{
    const struct ct_file_row *row = row_of(s, name);
    double calls = (double)calls_of(row);
    ck_assert_uint_eq(calls_of(row), 400);
    ck_assert_uint_lt(row->timed, 200);
    double scale = calls / (double)row->estimated, total_ns = row->estimated_ns * scale;
    double half_ns =
        ct_interval_half_ns(row->variance_ns2, row->third_ns3, row->freedom_ns4) * scale;
    c->held += fabs(total_ns - truth_ns) <= half_ns;
    c->error2 += pow((total_ns - truth_ns) / truth_ns, 2);
    c->half2 += pow(half_ns / truth_ns, 2);
    c->estimate_ns += total_ns;
    c->truth_ns += truth_ns;
    c->ring_full += row->lost[CT_LOSS_RING_FULL];
    c->all++;
}

static struct cover play_mixture(void)
{
    struct ct_summary s;
    struct cover c = {0};
    char name[32];
    double ns;
    struct stage_run r =
        PLAY(.argv = {"mixture", "1000", "400"}, .env = {"CUTRACE_SAMPLE=8"}, .timeout_s = 200);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n"))
        if (sscanf(line, "%31s %lf", name, &ns) == 2)
            look(&c, &s, name, ns);
    ct_summary_free(&s);
    stage_drop(&r);
    return c;
}

/*
 * 1,000 kernels, of each about one launch in eight timed: of the intervals at least 93 % hold the
 * sum that the device knows. About 97 % do: chance does not make this fail. They are not wider than
 * the errors' spread makes them but for a little. Losses of a machine that has no time for the
 * drain thread are not drawn at random: then it is done again.
 */
START_TEST(intervals_cover_the_truth)
{
    struct cover c = play_mixture();
    for (int i = 0; i < 5 && c.ring_full; i++)
        c = play_mixture();
    double width = sqrt(c.half2 / c.error2) / 1.96;
    printf("# %u of %u, all %.4f, as wide as needed times %.2f\n", c.held, c.all,
           c.estimate_ns / c.truth_ns, width);
    ck_assert_uint_eq(c.all, 1000);
    ck_assert_uint_ge(c.held, 930);
    ck_assert_double_le(width, 1.7);
    ck_assert_double_eq_tol(c.estimate_ns / c.truth_ns, 1, 0.02);
}
END_TEST

/* Counts are exact, the first launches are timed, and the report says that totals are estimates. */
START_TEST(a_budget_leaves_counts_exact)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"small", "20000"}, .env = {"CUTRACE_BUDGET=1%", "CUTRACE_PRINT=on"});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_kernel(&s, "alpha"), 20000);
    CHECK_SUM(stage_kernel(&s, "beta"), 10000);
    CHECK_SUM(stage_rows(&s, CT_ROW_COPY, NULL), 10);
    CHECK_SUM(stage_rows(&s, CT_ROW_SET, NULL), 10);
    ck_assert_uint_ge(row_of(&s, "alpha")->timed, 100);
    ck_assert_uint_gt(row_of(&s, "alpha")->lost[CT_LOSS_SAMPLED], 10000);
    ck_assert(strstr(r.err, "; Min and Max are of the timed") != NULL);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/*
 * To a target, a short program is timed as a whole, one of more than a second and 20,000 launches
 * until its rows are known. All of a kernel's durations are equal here.
 */
START_TEST(until_it_is_known)
{
    static const struct {
        const char *setting, *launches;
        bool all;
    } cases[] = {
        {"CUTRACE_TIME=auto", "3000", true},
        {"CUTRACE_TIME=auto", "50000", false},
    };
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"small", cases[_i].launches},
             .env = {"CUTRACE_PRINT=on", "CUDASIM_SLOW=cuLaunchKernel:20", cases[_i].setting},
             .timeout_s = 200);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    const struct ct_file_row *row = row_of(&s, "alpha");
    printf("# %lu timed\n", (unsigned long)row->timed);
    ck_assert_uint_eq(calls_of(row), strtoul(cases[_i].launches, NULL, 10));
    ck_assert((row->lost[CT_LOSS_SAMPLED] == 0) == cases[_i].all);
    ck_assert_uint_eq(row->estimated, calls_of(row));
    if (!cases[_i].all) {
        ck_assert_uint_ge(row->timed, 1000);
        ck_assert_ptr_nonnull(strstr(r.err, " timed, each to +-0%, "));
    }
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/*
 * What a bracket costs is measured: where each takes 400 us of a program that launches every 50, a
 * budget of 2 % pays less than 50 a second, beyond the first 100 of each kernel and direction.
 */
START_TEST(dear_records_are_few)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"small", "20000"},
             .env = {"CUTRACE_BUDGET=2%", "CUDASIM_SLOW=cuLaunchKernel:50,cuEventRecord:200"},
             .timeout_s = 200);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_kernel(&s, "alpha"), 20000);
    uint64_t timed = row_of(&s, "alpha")->timed + row_of(&s, "beta")->timed;
    printf("# %lu timed in %.1f s\n", (unsigned long)timed, (double)s.process->duration_ns * 1e-9);
    ck_assert_uint_ge(timed, 200);
    ck_assert_double_lt((double)timed, 200 + 100 * (double)s.process->duration_ns * 1e-9);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

struct clustered {
    unsigned all;
    unsigned alone; /* beyond the first 400, with something untimed in front of them */
};

static struct clustered play_with_budget(const char *budget)
{
    char path[64], variable[64];
    struct ct_journal_entry e;
    struct clustered c = {0};
    snprintf(variable, sizeof(variable), "CUTRACE_BUDGET=%s", budget);
    struct stage_run r =
        PLAY(.argv = {"small", "20000"},
             .env = {variable, "CUDASIM_SLOW=cuLaunchKernel:5", "CUTRACE_BRACKETS=brackets"},
             .timeout_s = 200);
    ck_assert_int_eq(r.status, 0);
    snprintf(path, sizeof(path), "brackets.%d", (int)r.pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fread(&e, sizeof(e), 1, file) == 1) {
        c.all++;
        c.alone += c.all > 400 && e.flags & CT_OP_AFTER_BREAK;
    }
    fclose(file);
    stage_drop(&r);
    return c;
}

/*
 * What a budget pays are clusters: of the brackets beyond the first ones, which are all timed, few
 * have something untimed in front of them. How many there are depends on what a bracket takes here.
 */
START_TEST(they_come_in_clusters)
{
    static const char *const budgets[] = {"0.5%", "1%", "2%", "5%", "10%", "20%"};
    struct clustered c = {0};
    for (unsigned i = 0; i < ct_countof(budgets) && c.all <= 600; i++)
        c = play_with_budget(budgets[i]);
    printf("# %u brackets, %u alone or first\n", c.all, c.alone);
    ck_assert_uint_gt(c.all, 600);
    ck_assert_uint_lt(c.all, 10000); /* else these are in a row for being nearly all */
    ck_assert_uint_lt(c.alone, (c.all - 400) / 2);
}
END_TEST

/* What is captured counts as that, also where nearly nothing is timed. */
START_TEST(captures_are_no_samples)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"capture-fork", "relaxed"}, .env = {"CUTRACE_SAMPLE=1000000"});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_kernel(&s, "first").captured, 7);
    ck_assert_uint_eq(stage_kernel(&s, "second").captured, 5);
    ck_assert_uint_eq(stage_rows(&s, CT_ROW_SET, NULL).captured, 1);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/*
 * A record between programmatic dependent launches keeps them apart: the first are timed, and few
 * of the others, by which these are estimated; what neither is one nor comes before one that
 * succeeded is timed.
 */
START_TEST(programmatic_dependent_launches)
{
    static const struct {
        const char *setting, *shapes;
        unsigned least, most, alone, loss;
    } cases[] = {
        {"CUTRACE_PRINT=off", "1", 45, 140, 4000, CT_LOSS_PROGRAMMATIC},
        {"CUTRACE_PRINT=off", "400", 45, 140, 4000, CT_LOSS_PROGRAMMATIC},
        {"CUTRACE_BUDGET=100%", "1", 120, 240, 0, CT_LOSS_PROGRAMMATIC},
        {"CUTRACE_KERNELS=!alone", "1", 45, 140, 0, CT_LOSS_PROGRAMMATIC},
        {"CUTRACE_SAMPLE=8", "1", 350, 650, 0, CT_LOSS_SAMPLED},
        {"CUTRACE_SAMPLE=1", "1", 4000, 4000, 4000, CT_LOSS_SAMPLED},
    };
    struct ct_summary s;
    char name[32];
    double ns;
    struct stage_run r =
        PLAY(.argv = {"dependent", "4000", cases[_i].shapes}, .env = {cases[_i].setting});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
        ck_assert_int_eq(sscanf(line, "%31s %lf", name, &ns), 2);
        const struct ct_file_row *row = row_of(&s, name);
        ck_assert_uint_eq(calls_of(row), 4000);
        ck_assert_double_eq_tol(row->estimated_ns / ns, 1, 0.1);
        ck_assert_uint_ge(row->timed, cases[_i].least);
        ck_assert_uint_le(row->timed, cases[_i].most);
        ck_assert_uint_eq(row->estimated, 4000);
        ck_assert_uint_eq(row->lost[cases[_i].loss], 4000 - row->timed);
        ck_assert((row->variance_ns2 > 0) == (row->timed < 4000));
    }
    ck_assert_uint_ge(row_of(&s, "alone")->timed, cases[_i].alone);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sample");
    tcase_add_test(t, intervals_cover_the_truth);
    tcase_add_test(t, a_budget_leaves_counts_exact);
    tcase_add_loop_test(t, until_it_is_known, 0, 2);
    tcase_add_test(t, dear_records_are_few);
    tcase_add_test(t, they_come_in_clusters);
    tcase_add_test(t, captures_are_no_samples);
    tcase_add_loop_test(t, programmatic_dependent_launches, 0, 6);
    return stage_main("life_sample", t);
}
