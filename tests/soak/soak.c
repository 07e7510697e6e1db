/* SPDX-License-Identifier: MIT */
/*
 * Hours of work in minutes: what the program counted is what the profile says, and after the first
 * while nothing grows. CUTRACE_SOAK_LAUNCHES: how long; CUTRACE_SOAK_WARM_UP: the first while, in
 * percent of these; CUTRACE_SOAK_KIB: by how much the memory may grow after that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "life/stage.h"

#define KERNELS 32
#define MOST_THREADS 18 /* eight and as many that follow them, main and cutrace's */

/* "NAME NUMBER" at the begin of a line */
static uint64_t told(const char *out, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = out; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, name, length) && line[length] == ' ')
            return strtoull(line + length, NULL, 10);
    ck_abort_msg("no %s in: %s", name, out);
}

static void check_counts(const char *out, const struct ct_summary *s)
{
    char name[32];
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof(name), "soak_%d", i);
        CHECK_SUM(stage_kernel(s, name), told(out, name));
    }
    uint64_t inside = told(out, "in_contexts") + told(out, "in_resets") + told(out, "filled");
    CHECK_SUM(stage_kernel(s, "visit"), told(out, "in_contexts"));
    CHECK_SUM(stage_kernel(s, "reset"), told(out, "in_resets"));
    CHECK_SUM(stage_kernel(s, "in_graph"), told(out, "filled"));
    CHECK_SUM(stage_rows(s, CT_ROW_KERNEL, NULL), told(out, "launched") + inside);
    ck_assert_uint_eq(stage_kernel(s, "in_graph").captured, told(out, "captured"));
    ck_assert_uint_eq(stage_calls(s, "cuLaunchKernel"),
                      told(out, "launched") + inside + told(out, "captured"));
    CHECK_SUM(stage_rows(s, CT_ROW_GRAPH, NULL), told(out, "graphs"));
    CHECK_SUM(stage_rows(s, CT_ROW_COPY, NULL), told(out, "copies"));
    CHECK_SUM(stage_rows(s, CT_ROW_SET, NULL), told(out, "sets"));
    ck_assert_uint_eq(stage_calls(s, "cuStreamCreate"), told(out, "streams") + 4);
    for (size_t i = 0; i < s->rows_count; i++)
        ck_assert_uint_eq(s->rows[i].errors, 0);
}

static void check_holds(const char *out)
{
    uint64_t first = told(out, "first_kib"), kib = (uint64_t)stage_number("CUTRACE_SOAK_KIB", 1024);
    ck_assert_msg(first, "over before it was warm");
    ck_assert_uint_le(told(out, "most_kib"), first + kib);
    ck_assert_uint_ge(told(out, "least_kib") + kib, first);
    /* One may be open for a moment. */
    ck_assert_uint_le(told(out, "most_descriptors"), told(out, "least_descriptors") + 1);
    ck_assert_uint_le(told(out, "most_threads"), MOST_THREADS);
    ck_assert_uint_eq(told(out, "last_threads"), 2);
}

static const char *const modes[] = {"CUTRACE_SAMPLE=1", "CUTRACE_BUDGET=2%", "CUTRACE_SAMPLE=16"};

START_TEST(soak)
{
    struct ct_summary s;
    char launches[32], warm_up[32];
    long n = stage_number("CUTRACE_SOAK_LAUNCHES", 12000000);
    snprintf(launches, sizeof(launches), "%ld", n);
    snprintf(warm_up, sizeof(warm_up), "%ld", stage_number("CUTRACE_SOAK_WARM_UP", 25));
    struct stage_run r =
        PLAY(.program = stage_path_of("tests/soak/soaker"), .argv = {launches, warm_up},
             .env = {modes[_i], "CUDASIM_DEVICES=9"}, .timeout_s = 200 + (unsigned)(n / 10000));
    ck_assert_msg(stage_exit(&r) == 0, "%.900s", r.err);
    ck_assert_str_eq(r.err, "");
    stage_profile(&s, "summary.bin");
    ck_assert_uint_ne(s.process->flags & CT_PROCESS_FINISHED, 0);
    check_counts(r.out, &s);
    check_holds(r.out);
    printf("%-18s %10ld launches %6.0f s  %lu..%lu KiB, %lu when warm\n", modes[_i], n, r.seconds,
           (unsigned long)told(r.out, "least_kib"), (unsigned long)told(r.out, "most_kib"),
           (unsigned long)told(r.out, "first_kib"));
    fflush(stdout);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("soak");
    tcase_add_loop_test(t, soak, 0, sizeof(modes) / sizeof(modes[0]));
    return stage_main("soak", t);
}
