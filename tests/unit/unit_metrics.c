/* SPDX-License-Identifier: MIT */
/* The text of the metrics: bounded, in its form whatever names are, and never less than it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/process.h"
#include "case_main.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "drain/row_sums.h"
#include "output/exposition.h"

static const struct ct_process_info process = {.command = "./app --password=x",
                                               .program = "./app \"a\\b\"\n",
                                               .host = "node\t1",
                                               .pid = 42,
                                               .rank = {4, 8}};
static struct ct_buffer text;

static void set_up(void)
{
    ct_config.metrics.wanted = true;
    ct_process_forget();
    ck_assert(ct_rows_init());
}

static void run(const char *kernel, uint64_t launches, uint64_t each_ns)
{
    struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, kernel));
    struct ct_op op = {.operations = 1, .cell = CT_CELL_NONE, .weight = 1};
    for (uint64_t i = 0; i < launches; i++)
        ct_row_add(r, &op, each_ns, each_ns, 0);
}

static void run_number(unsigned n, uint64_t launches, uint64_t each_ns)
{
    char name[32];
    snprintf(name, sizeof(name), "kernel%u", n);
    run(name, launches, each_ns);
}

static const char *take(enum ct_metrics_form form)
{
    ck_assert(ct_metrics_text(&text, form, &process));
    ck_assert_ptr_nonnull(ct_buffer_add(&text, 1));
    text.data[text.len_bytes - 1] = '\0';
    return text.data;
}

/* ---- reading it ---- */

struct samples {
    char *copy;
    char *name[4096]; /* with its labels */
    double value[4096];
    unsigned count;
};

/* A name, labels whose values end at the first quote without a backslash before it, and a number.
 */
static char *end_of_labels(char *p)
{
    ct_assert(*p == '{');
    do {
        p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz_");
        ct_assert(p[0] == '=' && p[1] == '"');
        for (p += 2; *p != '"'; p++) {
            ct_assert(*p && *p != '\n');
            if (*p == '\\')
                ct_assert(strchr("\\\"n", *++p));
        }
        p++;
    } while (*p == ',');
    ct_assert(*p == '}');
    return p + 1;
}

static void read_line(struct samples *s, char *line)
{
    char *end = end_of_labels(line + strspn(line, "abcdefghijklmnopqrstuvwxyz_"));
    ct_assert(*end == ' ');
    *end = '\0';
    for (unsigned i = 0; i < s->count; i++)
        ct_assert(strcmp(s->name[i], line) != 0);
    s->name[s->count] = line;
    s->value[s->count++] = strtod(end + 1, &end);
    ct_assert(*end == '\0');
}

static struct samples read_text(const char *from)
{
    struct samples s = {.copy = strdup(from)};
    size_t len = strlen(from);
    ck_assert_int_eq(from[len - 1], '\n');
    for (char *line = strtok(s.copy, "\n"); line; line = strtok(NULL, "\n"))
        if (*line != '#')
            read_line(&s, line);
    return s;
}

static double value_of(const struct samples *s, const char *start, const char *part)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!strncmp(s->name[i], start, strlen(start)) && strstr(s->name[i], part))
            return s->value[i];
    return -1;
}

static double sum_of(const struct samples *s, const char *start, unsigned *count)
{
    double sum = 0;
    *count = 0;
    for (unsigned i = 0; i < s->count; i++)
        if (!strncmp(s->name[i], start, strlen(start))) {
            sum += s->value[i];
            ++*count;
        }
    return sum;
}

/* ---- tests ---- */

START_TEST(classes)
{
    run("fast", 3, 1000);
    run("fast", 2, 1001);
    run("slow", 1, 2000000000);
    struct samples s = read_text(take(CT_METRICS_CLASSIC));
#define BUCKET "cutrace_operation_duration_seconds_bucket"
    ck_assert_double_eq(value_of(&s, BUCKET, "\"fast\",le=\"1e-06\""), 3);
    ck_assert_double_eq(value_of(&s, BUCKET, "\"fast\",le=\"5e-06\""), 5);
    ck_assert_double_eq(value_of(&s, BUCKET, "\"fast\",le=\"+Inf\""), 5);
    ck_assert_double_eq(value_of(&s, BUCKET, "\"slow\",le=\"1.0\""), 0);
    ck_assert_double_eq(value_of(&s, BUCKET, "\"slow\",le=\"+Inf\""), 1);
    ck_assert_double_eq(value_of(&s, "cutrace_operation_duration_seconds_sum", "slow"), 2);
    ck_assert_double_eq(value_of(&s, "cutrace_operation_duration_seconds_count", "fast"), 5);
    ck_assert_double_eq(value_of(&s, "cutrace_operations_total", "fast"), 5);
    free(s.copy);
}
END_TEST

START_TEST(untimed)
{
    uint32_t row = ct_row_get(CT_ROW_KERNEL, 0, 0, "k");
    ct_row_lose(row, CT_LOSS_RING_FULL, 7, 0);
    ct_row_lose(row, CT_LOSS_CAPTURED, 5, 0); /* which have not run */
    struct samples s = read_text(take(CT_METRICS_CLASSIC));
    ck_assert_double_eq(value_of(&s, "cutrace_operations_total", "\"k\""), 7);
    ck_assert_double_eq(
        value_of(&s, "cutrace_untimed_operations_total", "launched faster than they could be read"),
        7);
    ck_assert_double_eq(value_of(&s, "cutrace_untimed_operations_total", "captured"), 5);
    free(s.copy);
}
END_TEST

/* Each name its series, and each label text that ends where it should. */
START_TEST(odd_names)
{
    static char one[20000], other[20000];
    const char *const names[] = {"quo\"te", "back\\slash", "line\nfeed", "\xff\xfe", "\xc3",
                                 "",        "\\",          one,          other,      "\xc3\xa4"};
    memset(one, 'x', sizeof(one) - 1);
    memset(other, 'x', sizeof(other) - 2);
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        run(names[i], i + 1, 100);
    struct samples s = read_text(take(CT_METRICS_OPENMETRICS));
    ck_assert_double_eq(value_of(&s, "cutrace_operations_total", "\"quo\\\"te\""), 1);
    ck_assert_double_eq(value_of(&s, "cutrace_operations_total", "\"back\\\\slash\""), 2);
    ck_assert_double_eq(value_of(&s, "cutrace_operations_total", "\"line\\\\x0afeed\""), 3);
    ck_assert_double_eq(value_of(&s, "cutrace_operations_total", "\"\xc3\xa4\""), 10);
    ck_assert_double_eq(value_of(&s, "cutrace_process_info", "rank=\"3\",host=\"node\\\\x091\""),
                        1);
    ck_assert_uint_lt(strlen(text.data), 200000);
    free(s.copy);
}
END_TEST

START_TEST(forms)
{
    run("k", 1, 1);
    const char *t = take(CT_METRICS_OPENMETRICS);
    ck_assert_ptr_nonnull(strstr(t, "# TYPE cutrace_operations counter\n"));
    ck_assert_ptr_nonnull(strstr(t, "# TYPE cutrace_process info\n"));
    ck_assert_str_eq(t + strlen(t) - 6, "# EOF\n");
    t = take(CT_METRICS_CLASSIC);
    ck_assert_ptr_nonnull(strstr(t, "# TYPE cutrace_operations_total counter\n"));
    ck_assert_ptr_null(strstr(t, "# EOF"));
}
END_TEST

static void check_growth(const struct samples *before, const struct samples *after)
{
    for (unsigned i = 0; i < before->count; i++) {
        unsigned k = 0;
        while (k < after->count && strcmp(before->name[i], after->name[k]))
            k++;
        ck_assert_msg(k < after->count, "%s has gone", before->name[i]);
        ck_assert_msg(after->value[k] >= before->value[i], "%s: %.9f was %.9f", before->name[i],
                      after->value[k], before->value[i]);
    }
}

/* Thousands of kernels, whose place in the order changes: no series goes, no counter goes back. */
START_TEST(bounded_and_growing)
{
    struct samples before = {0};
    uint64_t launches = 0;
    unsigned series;
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned i = 0; i < 200 && round % 2 == 0; i++, launches++) /* else only one grows */
            run_number((round * 131 + i * 7) % 3000, 1, 1000);
        run_number(round * 70, 10, 1000000 * (round + 1)); /* who was small becomes large */
        launches += 10;
        struct samples after = read_text(take(CT_METRICS_CLASSIC));
        ck_assert_double_eq(sum_of(&after, "cutrace_operations_total", &series), (double)launches);
        ck_assert_uint_le(series, CT_METRICS_ROWS + 1);
        ck_assert_double_eq(sum_of(&after, "cutrace_operation_duration_seconds_count", &series),
                            (double)launches);
        check_growth(&before, &after);
        free(before.copy);
        before = after;
    }
    ck_assert_double_ge(value_of(&before, "cutrace_operations_total", "kernel2030"),
                        0); /* it is there */
    free(before.copy);
}
END_TEST

/* What stands for others may be thought to take less than before. */
START_TEST(estimates_that_shrink)
{
    struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "k"));
    run("k", 1, 1000);
    r->projection.total_ns = 5000;
    struct samples before = read_text(take(CT_METRICS_CLASSIC));
    r->projection.total_ns = 4000;
    struct samples after = read_text(take(CT_METRICS_CLASSIC));
    check_growth(&before, &after);
    free(before.copy);
    free(after.copy);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("metrics");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, classes);
    tcase_add_test(t, untimed);
    tcase_add_test(t, odd_names);
    tcase_add_test(t, forms);
    tcase_add_test(t, bounded_and_growing);
    tcase_add_test(t, estimates_that_shrink);
    return ct_case_main_alone("metrics", t);
}
