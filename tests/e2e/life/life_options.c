/* SPDX-License-Identifier: MIT */
/* Every CUTRACE_* variable, right and wrong, and outputs that cannot be written. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"

/* The actor's part "small" with one variable set; its output must not change. */
static struct stage_run small_with(const char *variable, const char *other)
{
    struct stage_run r = PLAY(.argv = {"small", "100"}, .env = {variable, other});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "small: 100 launches, last byte 9\n");
    return r;
}

static void check_small(const char *path)
{
    struct ct_summary s;
    stage_profile(&s, path);
    CHECK_TIMED(stage_kernel(&s, "alpha"), 100);
    CHECK_TIMED(stage_kernel(&s, "beta"), 50);
    CHECK_TIMED(stage_rows(&s, CT_ROW_COPY, NULL), 10);
    CHECK_TIMED(stage_rows(&s, CT_ROW_SET, NULL), 10);
    ct_summary_free(&s);
}

/* In what the profile says, and nowhere in its bytes. */
START_TEST(without_arguments)
{
    static const char *const variables[] = {"CUTRACE_ARGUMENTS=on", "CUTRACE_ARGUMENTS=off"};
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"small", "10", "--password=secret"}, .env = {variables[_i]});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    const char *command = ct_summary_text(&s, s.process->command);
    ck_assert_msg((strstr(command, " small 10 --password=secret") != NULL) == !_i, "%s", command);
    ck_assert_msg(strstr(command, "/actor") != NULL, "%s", command);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Said once, and the standard value holds: the profile is as without the variable. */
static const char *const wrong[] = {
    "CUTRACE_PRINT=maybe",
    "CUTRACE_SAMPLE=0",
    "CUTRACE_SAMPLE=two",
    "CUTRACE_SAMPLE=-1",
    "CUTRACE_SAMPLE=99999999999",
    "CUTRACE_TIME=some",
    "CUTRACE_BUDGET=0",
    "CUTRACE_BUDGET=101%",
    "CUTRACE_BUDGET=2%%",
    "CUTRACE_BUDGET=.",
    "CUTRACE_BUDGET=0.00001",
    "CUTRACE_BUDGET=99999999999999999999",
    "CUTRACE_START=later",
    "CUTRACE_KERNELS=",
    "CUTRACE_KERNELS=alpha,(beta",
    "CUTRACE_LOG=3",
    "CUTRACE_LOG=loud",
    "CUTRACE_EXIT_TIMEOUT=1s",
    "CUTRACE_EXIT_TIMEOUT=3601",
    "CUTRACE_EVENTS=63",
    "CUTRACE_EVENTS=many",
    "CUTRACE_FORCE=perhaps",
    "CUTRACE_OUTPUT=",
    "CUTRACE_REPORT=",
    "CUTRACE_OUTPUT=%z.bin",
    "CUTRACE_OUTPUT=%q{HOME.bin",
};

START_TEST(wrong_value)
{
    char start[100];
    size_t name = strcspn(wrong[_i], "=");
    snprintf(start, sizeof(start), "cutrace: %.*s='%s' is not possible", (int)name, wrong[_i],
             wrong[_i] + name + 1);
    /* a wrong CUTRACE_PRINT means on */
    bool prints = !strncmp(wrong[_i], "CUTRACE_PRINT", 13);
    struct stage_run r = small_with(wrong[_i], NULL);
    ck_assert_msg(strstr(r.err, start) != NULL, "%s\n%s", start, r.err);
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert(prints == (strstr(r.err, "GPU activities") != NULL));
    check_small("summary.bin");
    stage_drop(&r);
}
END_TEST

/* A name that is misspelt would be without effect, and nobody would know. */
START_TEST(unknown_variables)
{
    struct stage_run r = small_with("CUTRACE_SAMPEL=10", "CUTRACE_COLOUR_OF=red");
    ck_assert_uint_eq(stage_said(&r), 2);
    ck_assert_ptr_nonnull(strstr(
        r.err, "cutrace: CUTRACE_SAMPEL is no variable of cutrace: did you mean CUTRACE_SAMPLE\n"));
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace: CUTRACE_COLOUR_OF is no variable of cutrace\n"));
    check_small("summary.bin");
    stage_drop(&r);
}
END_TEST

static const char *const right[] = {
    "CUTRACE_TIME=auto",          "CUTRACE_TIME=all",    "CUTRACE_PRINT=0",
    "CUTRACE_PRINT=off",          "CUTRACE_SAMPLE=1",    "CUTRACE_BUDGET=off",
    "CUTRACE_BUDGET=2",           "CUTRACE_BUDGET=0.5%", "CUTRACE_BUDGET=100%",
    "CUTRACE_START=on",           "CUTRACE_START=1",     "CUTRACE_KERNELS=*",
    "CUTRACE_KERNELS=alpha,beta", "CUTRACE_LOG=0",       "CUTRACE_LOG=1",
    "CUTRACE_EXIT_TIMEOUT=0",     "CUTRACE_FORCE=0",     "CUTRACE_EVENTS=1048576",
    "CUTRACE_OUTPUT=summary.bin", "CUTRACE_FORCE=on",
};

START_TEST(right_value)
{
    struct stage_run r = small_with(right[_i], NULL);
    ck_assert_str_eq(r.err, "");
    check_small("summary.bin");
    stage_drop(&r);
}
END_TEST

/* ---- what is recorded ---- */

START_TEST(start_off)
{
    struct ct_summary s;
    struct stage_run r = small_with("CUTRACE_START=off", NULL);
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_rows(&s, CT_ROW_KERNEL, NULL), 0);
    ck_assert_uint_eq(s.process->off_operations, 170);
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), 0);
    ct_summary_free(&s);
    stage_drop(&r);
    r = PLAY(.argv = {"profiler"}, .env = {"CUTRACE_START=off"});
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 60);
    ck_assert_uint_eq(s.process->off_operations, 40);
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), 60);
    ct_summary_free(&s);
    stage_drop(&r);
    r = PLAY(.argv = {"profiler"});
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 70);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static const struct {
    const char *list;
    bool alpha, beta;
} lists[] = {
    {"CUTRACE_KERNELS=alpha", true, false},   {"CUTRACE_KERNELS=!alpha", false, true},
    {"CUTRACE_KERNELS=a*", true, false},      {"CUTRACE_KERNELS=?eta", false, true},
    {"CUTRACE_KERNELS=*,!beta", true, false}, {"CUTRACE_KERNELS=gamma", false, false},
    {"CUTRACE_KERNELS=lph", true, false},     {"CUTRACE_KERNELS=^(be|al)ta$", false, true},
};

START_TEST(kernels)
{
    struct ct_summary s;
    struct stage_run r = small_with(lists[_i].list, NULL);
    stage_profile(&s, "summary.bin");
    struct stage_sum alpha = stage_kernel(&s, "alpha"), beta = stage_kernel(&s, "beta");
    ck_assert_uint_eq(alpha.timed, lists[_i].alpha ? 100 : 0);
    ck_assert_uint_eq(alpha.by_loss[CT_LOSS_EXCLUDED], lists[_i].alpha ? 0 : 100);
    ck_assert_uint_eq(beta.timed, lists[_i].beta ? 50 : 0);
    ck_assert_uint_eq(beta.by_loss[CT_LOSS_EXCLUDED], lists[_i].beta ? 0 : 50);
    CHECK_TIMED(stage_rows(&s, CT_ROW_COPY, NULL), 10);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Who has mistyped a name is not left with an empty table. */
START_TEST(kernels_unmatched)
{
    struct stage_run r = small_with("CUTRACE_KERNELS=alpha,gamma,!delta", NULL);
    ck_assert_uint_eq(stage_said(&r), 2);
    ck_assert_ptr_nonnull(
        strstr(r.err, "CUTRACE_KERNELS: 'gamma' is in the name of none of 2 kernels"));
    ck_assert_ptr_nonnull(strstr(r.err, "CUTRACE_KERNELS: '!delta' is in the name of none of 2"));
    stage_drop(&r);
}
END_TEST

/* Counts are exact; about one in N has a time. */
START_TEST(sample)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"small", "10000"}, .env = {"CUTRACE_SAMPLE=10"});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    struct stage_sum all = stage_rows(&s, CT_ROW_KERNEL, NULL);
    CHECK_SUM(stage_kernel(&s, "alpha"), 10000);
    CHECK_SUM(stage_kernel(&s, "beta"), 5000);
    CHECK_SUM(stage_rows(&s, CT_ROW_COPY, NULL), 10);
    ck_assert_uint_ge(all.by_loss[CT_LOSS_SAMPLED], 13000);
    ck_assert_uint_le(all.by_loss[CT_LOSS_SAMPLED], 14000);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- where the profile goes ---- */

static void check_single(const char *path)
{
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        ck_assert_msg(e->d_name[0] == '.' || !strcmp(e->d_name, path) ||
                          !strncmp(path, e->d_name, strlen(e->d_name)),
                      "%s is there, %s was meant", e->d_name, path);
    if (d)
        closedir(d);
    check_small(path);
}

START_TEST(output_patterns)
{
    char host[256], path[600];
    gethostname(host, sizeof(host));
    struct stage_run r = small_with("CUTRACE_OUTPUT=a-%p-%%-%q{LIFE}-%q{NONE_OF_THAT}.x", "LIFE=l");
    snprintf(path, sizeof(path), "a-%d-%%-l-.x", (int)r.pid);
    check_single(path);
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "cannot find environment variable NONE_OF_THAT: "));
    ck_assert_int_eq(unlink(path), 0);
    stage_drop(&r);
    r = small_with("CUTRACE_OUTPUT=%h.bin", NULL);
    snprintf(path, sizeof(path), "%s.bin", host);
    check_single(path);
    stage_drop(&r);
}
END_TEST

/* Variables are what they were when CUDA started, whatever the program sets meanwhile. */
START_TEST(output_of_a_variable_that_changes)
{
    struct stage_run r =
        PLAY(.argv = {"renames"},
             .env = {"CUTRACE_OUTPUT=%q{LIFE}.bin", "CUTRACE_TRACE=%q{LIFE}.trace", "LIFE=early"});
    ck_assert_int_eq(r.status, 0);
    check_small("early.bin");
    ck_assert(stage_exists("early.trace"));
    stage_drop(&r);
}
END_TEST

START_TEST(output_in_a_directory)
{
    ck_assert_int_eq(mkdir("below", 0777), 0);
    struct stage_run r = small_with("CUTRACE_OUTPUT=below/x.bin", NULL);
    check_single("below/x.bin");
    stage_drop(&r);
}
END_TEST

/* The rank is read when CUDA is first used. */
START_TEST(rank)
{
    struct ct_summary s;
    struct stage_run r = small_with("RANK=6", "WORLD_SIZE=16");
    stage_profile(&s, "summary.rank6.bin");
    ck_assert_uint_eq(s.process->rank, 7);
    ck_assert_uint_eq(s.process->ranks, 16);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static const char *const unwritable[] = {
    "CUTRACE_OUTPUT=/nonexistent/directory/x.bin",
    "CUTRACE_OUTPUT=/proc/x.bin",
    "CUTRACE_OUTPUT=/dev/null",
    "CUTRACE_OUTPUT=/dev/full",
    "CUTRACE_OUTPUT=.",
};

/* One line; the program runs on, and the table is there. */
START_TEST(output_unwritable)
{
    struct stage_run r = small_with(unwritable[_i], "CUTRACE_PRINT=on");
    ck_assert_msg(stage_said(&r) == 1, "%.900s", r.err);
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace: cannot write "));
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    ck_assert_ptr_nonnull(strstr(r.err, "alpha"));
    stage_drop(&r);
}
END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

START_TEST(foreign_file_is_kept)
{
    write_file("summary.bin", "a poem that is nobody's profile\n");
    struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    utimensat(AT_FDCWD, "summary.bin", old, 0);
    struct stage_run r = small_with("CUTRACE_FORCE=0", NULL);
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "CUTRACE_FORCE=1"));
    char *kept = stage_read("summary.bin");
    ck_assert_str_eq(kept, "a poem that is nobody's profile\n");
    free(kept);
    stage_drop(&r);
    r = small_with("CUTRACE_FORCE=1", NULL);
    ck_assert_str_eq(r.err, "");
    check_small("summary.bin");
    stage_drop(&r);
}
END_TEST

START_TEST(link_is_not_followed)
{
    write_file("target", "");
    ck_assert_int_eq(symlink("target", "summary.bin"), 0);
    for (int force = 0; force < 2; force++) {
        struct stage_run r = small_with(force ? "CUTRACE_FORCE=1" : "CUTRACE_FORCE=0", NULL);
        ck_assert_uint_eq(stage_said(&r), 1);
        ck_assert_ptr_nonnull(strstr(r.err, "symbolic link"));
        char *target = stage_read("target");
        ck_assert_str_eq(target, "");
        free(target);
        stage_drop(&r);
    }
}
END_TEST

/* ---- what is said ---- */

START_TEST(log_levels)
{
    struct stage_run r = small_with("CUTRACE_LOG=0", "CUTRACE_OUTPUT=/nonexistent/x");
    ck_assert_str_eq(r.err, "");
    stage_drop(&r);
    r = small_with("CUTRACE_LOG=1", NULL);
    ck_assert_str_eq(r.err, "");
    stage_drop(&r);
    r = small_with("CUTRACE_LOG=2", NULL);
    ck_assert_uint_ge(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "the profile is in /"));
    stage_drop(&r);
}
END_TEST

START_TEST(print_on)
{
    struct stage_run r = small_with("CUTRACE_PRINT=on", NULL);
    ck_assert_uint_eq(stage_said(&r), 0);
    ck_assert_ptr_nonnull(strstr(r.err, "CUTRACE is profiling process"));
    ck_assert_ptr_nonnull(strstr(r.err, "Generated result file: "));
    stage_drop(&r);
}
END_TEST

/* ---- descriptors, limits, directories ---- */

static const struct {
    const char *what;
    bool has_file, shows; /* the profile is in the file; the table appears on stderr */
    uint64_t launches;
} circumstances[] = {
    {"close-std", true, false, 100}, {"close-stderr", true, false, 100},
    {"few-files", true, true, 100},  {"small-files", false, false, 100},
#ifndef __SANITIZE_THREAD__ /* which calls it a race, and it is one: the program's */
    {"close-all", false, true, 100},
#endif
    {"use-up", false, false, 100},   {"chdir", true, true, 100},
};

START_TEST(circumstance)
{
    struct ct_summary s;
    char line[100];
    struct stage_run r =
        PLAY(.argv = {"files", circumstances[_i].what}, .env = {"CUTRACE_PRINT=on"});
    snprintf(line, sizeof(line), "files %s: done\n", circumstances[_i].what);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_ptr_nonnull(strstr(r.out, line));
    ck_assert(!strstr(r.out, "own file") || strstr(r.out, "own file: 0 bytes\n"));
    ck_assert_uint_le(stage_said(&r), 1);
    ck_assert_msg(circumstances[_i].shows == (strstr(r.err, "GPU activities:") != NULL), "%s",
                  r.err);
    if (circumstances[_i].has_file) {
        stage_profile(&s, "summary.bin");
        CHECK_SUM(stage_kernel(&s, "worked"), circumstances[_i].launches);
        ct_summary_free(&s);
    }
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("options");
    tcase_add_loop_test(t, without_arguments, 0, 2);
    tcase_add_loop_test(t, wrong_value, 0, sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_loop_test(t, right_value, 0, sizeof(right) / sizeof(right[0]));
    tcase_add_test(t, start_off);
    tcase_add_loop_test(t, kernels, 0, sizeof(lists) / sizeof(lists[0]));
    tcase_add_test(t, kernels_unmatched);
    tcase_add_test(t, unknown_variables);
    tcase_add_test(t, sample);
    tcase_add_test(t, output_patterns);
    tcase_add_test(t, output_of_a_variable_that_changes);
    tcase_add_test(t, output_in_a_directory);
    tcase_add_test(t, rank);
    tcase_add_loop_test(t, output_unwritable, 0, sizeof(unwritable) / sizeof(unwritable[0]));
    tcase_add_test(t, foreign_file_is_kept);
    tcase_add_test(t, link_is_not_followed);
    tcase_add_test(t, log_levels);
    tcase_add_test(t, print_on);
    tcase_add_loop_test(t, circumstance, 0, sizeof(circumstances) / sizeof(circumstances[0]));
    return stage_main("life_options", t);
}
