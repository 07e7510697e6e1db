/* SPDX-License-Identifier: MIT */
/*
 * More of everything than there is room for: what has none is counted, memory stays within its
 * bounds, and the program does not notice. CUTRACE_TEST_NAMES: how many kernels' names.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define COUNTS_MEMORY 0 /* the sanitizers' own would be counted */
#else
#define COUNTS_MEMORY 1
#endif

static uint64_t launched(const struct stage_run *r)
{
    const char *p = strstr(r->out, "launched ");
    ck_assert_msg(r->status == 0 && p, "%.900s", r->err);
    return strtoull(p + 9, NULL, 10);
}

static long anonymous_kib(const struct stage_run *r)
{
    const char *p = strstr(r->err, "RssAnon ");
    ck_assert_ptr_nonnull(p);
    return atol(p + 8);
}

static void check_counts(struct ct_summary *s, const struct stage_run *r)
{
    stage_profile(s, "summary.bin");
    ck_assert_uint_ne(s->process->flags & CT_PROCESS_FINISHED, 0);
    CHECK_SUM(stage_rows(s, CT_ROW_KERNEL, NULL), launched(r));
}

/* There is room for 32,768 at a time; what comes in others is not timed. */
static const struct {
    const char *streams;
    bool all_fit;
} streams[] = {{"10000", true}, {"33000", false}};

START_TEST(many_streams)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"streams", streams[_i].streams}, .timeout_s = 200);
    check_counts(&s, &r);
    struct stage_sum sum = stage_rows(&s, CT_ROW_KERNEL, NULL);
    ck_assert_uint_eq(sum.by_loss[CT_LOSS_UNSAFE] == 0, streams[_i].all_fit);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* The drain thread does not come back, and takes nothing more out of the queue. */
START_TEST(full_ring)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"names", "6000"},
             .env = {"CUDASIM_HANG=drain/cuEventQuery:1", "CUTRACE_EXIT_TIMEOUT=0"});
    check_counts(&s, &r);
    ck_assert_uint_gt(stage_rows(&s, CT_ROW_KERNEL, NULL).lost, 3000);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* With drivers that tell a kernel's name, and with one that does not. */
static const char *const drivers[] = {"tests/sim/lib", "tests/sim/v1"};

static void play_names(const char *n, const char *bytes, const char *driver, struct ct_summary *s,
                       long limit_kib)
{
    char path[2048];
    snprintf(path, sizeof(path), "LD_LIBRARY_PATH=%s", stage_path_of(driver));
    struct stage_scene scene = {.argv = {"names", n, bytes}, .env = {path}, .timeout_s = 900};
    struct stage_run r = stage_play(&scene);
    check_counts(s, &r);
    if (COUNTS_MEMORY) {
        scene.bare = true;
        struct stage_run bare = stage_play(&scene);
        ck_assert_int_le(anonymous_kib(&r) - anonymous_kib(&bare), limit_kib);
        stage_drop(&bare);
    }
    stage_drop(&r);
}

/* Launches of kernels for which there was no row, or whose name could not be kept. */
static uint64_t others(const struct ct_summary *s)
{
    struct stage_sum a = stage_kernel(s, "(other kernels)"),
                     b = stage_kernel(s, "(unnamed kernel)");
    return a.timed + a.lost + b.timed + b.lost;
}

START_TEST(many_names)
{
    struct ct_summary s;
    char n[32];
    snprintf(n, sizeof(n), "%ld", stage_number("CUTRACE_TEST_NAMES", 20000));
    play_names(n, "0", drivers[_i], &s, 200 * 1024);
    ck_assert_uint_le(s.rows_count, 16384);
    ck_assert_uint_gt(s.rows_count, 15000);
    ck_assert_uint_gt(others(&s), 4000);
    ct_summary_free(&s);
}
END_TEST

/* Of 64 KiB each: there is room for a thousand of them. */
START_TEST(long_names)
{
    struct ct_summary s;
    play_names("1200", "65536", drivers[_i], &s, 300 * 1024);
    ck_assert_uint_gt(s.rows_count, 900);
    ck_assert_uint_lt(s.rows_count, 1100);
    ck_assert_uint_gt(others(&s), 100);
    ct_summary_free(&s);
}
END_TEST

static void check_length(const struct ct_summary *s, char of, size_t length)
{
    char *name = calloc(1, length + 1);
    memset(name, of, length);
    CHECK_TIMED(stage_kernel(s, name), 3);
    free(name);
}

START_TEST(odd_names)
{
    struct ct_summary s;
    char command[2048];
    stage_compare((struct stage_scene){.argv = {"odd-names"}});
    struct stage_run r = PLAY(.argv = {"odd-names"});
    check_counts(&s, &r);
    CHECK_TIMED(stage_kernel(&s, "\xff\xfe\x80 not UTF-8"), 3);
    check_length(&s, 'c', 65536);
    check_length(&s, 'l', 65536);
    check_length(&s, 'm', 65536);
    ct_summary_free(&s);
    snprintf(command, sizeof(command), "%s summary.bin >table", stage_path_of("cutrace-report"));
    ck_assert_int_eq(system(command), 0);
    stage_drop(&r);
}
END_TEST

/* Only the changes of a large profile are written, and all of it is there after SIGKILL. */
static const struct {
    const char *which, *mode;
} writers[] = {
    {"one", "CUTRACE_SAMPLE=1"}, {"each", "CUTRACE_SAMPLE=1"}, {"each", "CUTRACE_BUDGET=2%"}};

START_TEST(many_kernels_are_not_written_again)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"writes", "15000", writers[_i].which},
                              .env = {writers[_i].mode}, .timeout_s = 200);
    ck_assert_int_eq(stage_exit(&r), 128 + SIGKILL);
    const char *written = strstr(r.err, "written "), *launches = strstr(r.out, "launched ");
    ck_assert_msg(written && launches, "%.900s", r.err);
    ck_assert_int_le(atol(written + 8), 1000000);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.process->flags & CT_PROCESS_FINISHED, 0);
    CHECK_SUM(stage_rows(&s, CT_ROW_KERNEL, NULL), strtoull(launches + 9, NULL, 10));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("limits");
    tcase_add_loop_test(t, many_streams, 0, 2);
    tcase_add_test(t, full_ring);
    tcase_add_loop_test(t, many_names, 0, 2);
    tcase_add_loop_test(t, long_names, 0, CT_CHECKS_THREADS ? 1 : 2);
    tcase_add_test(t, odd_names);
    tcase_add_loop_test(t, many_kernels_are_not_written_again, 0, 3);
    return stage_main("life_limits", t);
}
