/* SPDX-License-Identifier: MIT */
/* Ends of processes: what is in the profile afterwards, and what the program notices. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage.h"

/* The profile that is not summary.bin. */
static const char *other_profile(void)
{
    static char name[300];
    DIR *d = opendir(".");
    *name = '\0';
    for (struct dirent *e; d && (e = readdir(d));)
        if (!strncmp(e->d_name, "summary.", 8) && strcmp(e->d_name, "summary.bin"))
            snprintf(name, sizeof(name), "%s", e->d_name);
    if (d)
        closedir(d);
    return name;
}

/* handled: the process ends in a way that cutrace sees */
static const struct {
    const char *how;
    int exit;
    bool handled;
    uint64_t launches;
} ways[] = {
    {"return", 6, true, 100},
    {"thread", 7, true, 10},
#ifndef __SANITIZE_THREAD__ /* whose own thread keeps such a process alive */
    {"pthread_exit", 0, true, 110},
#endif
    {"_exit", 7, true, 100},
    {"quick_exit", 7, true, 100},
    {"abort", 128 + SIGABRT, false, 100},
    {"term", 128 + SIGTERM, false, 100},
    {"kill", 128 + SIGKILL, false, 100},
    {"fork-after", 6, true, 100},
    {"fork-after-_exit", 6, true, 100},
    {"system", 6, true, 100},
};

START_TEST(profile_after_each_end)
{
    struct ct_summary s;
    stage_compare((struct stage_scene){.argv = {"end", ways[_i].how}});
    struct stage_run r = PLAY(.argv = {"end", ways[_i].how});
    ck_assert_int_eq(stage_exit(&r), ways[_i].exit);
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.process->pid, (uint32_t)r.pid);
    ck_assert_uint_eq(s.process->flags & CT_PROCESS_FINISHED, ways[_i].handled);
    CHECK_TIMED(stage_kernel(&s, "worked"), ways[_i].launches);
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), ways[_i].launches);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Two processes use CUDA, one started by the other: each leaves a profile of its own. */
static const struct {
    const char *how;
    uint64_t alpha, worked; /* in both together */
} families[] = {
    {"exec", 30, 100},       {"vfork", 30, 100},     {"spawn", 30, 100},
#ifndef __SANITIZE_THREAD__ /* which loses count of the simulated driver's lock in a child */
    {"fork-before", 0, 120}, {"fork-first", 0, 120},
#endif
};

START_TEST(profiles_of_a_family)
{
    struct ct_summary s;
    uint64_t alpha = 0, worked = 0;
    stage_compare((struct stage_scene){.argv = {"end", families[_i].how}});
    ck_assert_int_eq(system("rm -f *.bin"), 0);
    struct stage_run r = PLAY(.argv = {"end", families[_i].how});
    ck_assert_uint_eq(stage_profiles(), 2);
    const char *paths[] = {"summary.bin", other_profile()};
    for (unsigned i = 0; i < 2; i++) {
        char name[64];
        stage_profile(&s, paths[i]);
        snprintf(name, sizeof(name), "summary.%u.bin", s.process->pid);
        ck_assert(!i || !strcmp(paths[i], name));
        alpha += stage_kernel(&s, "alpha").timed;
        worked += stage_kernel(&s, "worked").timed;
        ct_summary_free(&s);
    }
    ck_assert_uint_eq(alpha, families[_i].alpha);
    ck_assert_uint_eq(worked, families[_i].worked);
    stage_drop(&r);
}
END_TEST

/* A second run is not of the same family: it takes the first one's file over. */
START_TEST(next_run_overwrites)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"small", "10"});
    stage_drop(&r);
    usleep(50000);
    r = PLAY(.argv = {"small", "20"});
    stage_drop(&r);
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 20);
    ct_summary_free(&s);
}
END_TEST

START_TEST(nothing_without_cuda)
{
    struct stage_run r = PLAY(.program = "/bin/sh", .argv = {"-c", "echo one; (exit 3)"},
                              .env = {"CUTRACE_PRINT=on", "CUTRACE_LOG=2"});
    ck_assert_int_eq(stage_exit(&r), 3);
    ck_assert_str_eq(r.out, "one\n");
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), 0);
    stage_drop(&r);
}
END_TEST

static const char *const timeouts[] = {"0", "1", "3"};

/* Work that never ends is counted, and waited for no longer than was said. */
START_TEST(hung_kernel)
{
    struct ct_summary s;
    char variable[64];
    double limit = atof(timeouts[_i]);
    snprintf(variable, sizeof(variable), "CUTRACE_EXIT_TIMEOUT=%s", timeouts[_i]);
    struct stage_run bare = PLAY(.argv = {"end", "hang"}, .bare = true);
    struct stage_run r = PLAY(.argv = {"end", "hang"}, .env = {variable});
    ck_assert_int_eq(r.status, bare.status);
    ck_assert_double_ge(r.seconds, limit);
    ck_assert_double_le(r.seconds, bare.seconds + limit + 5);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "worked"), 100);
    ck_assert_uint_eq(stage_kernel(&s, "hang").by_loss[CT_LOSS_UNFINISHED], 1);
    ck_assert_uint_eq(stage_kernel(&s, "behind").by_loss[CT_LOSS_UNFINISHED], 5);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_drop(&bare);
}
END_TEST

/* ---- the report's process ---- */

static const char *const treatments[] = {"default", "ignore", "nowait", "handler"};

static void check_shown(const struct stage_run *r)
{
    ck_assert_msg(strstr(r->err, "GPU activities:") != NULL, "%.900s", r->err);
    ck_assert_msg(stage_said(r) == 0, "%.900s", r->err);
}

START_TEST(program_does_not_see_the_report)
{
    struct stage_run bare = PLAY(.argv = {"child", treatments[_i]}, .bare = true);
    struct stage_run r = PLAY(.argv = {"child", treatments[_i]}, .env = {"CUTRACE_PRINT=on"});
    ck_assert_str_eq(r.out, bare.out);
    ck_assert_ptr_nonnull(strstr(r.out, "signals 0, reaped 0, a child left: 0"));
    ck_assert_int_eq(r.status, bare.status);
    check_shown(&r);
    stage_drop(&r);
    stage_drop(&bare);
}
END_TEST

START_TEST(reaping_thread_does_not_see_the_report)
{
    for (int i = 0; i < 10; i++) {
        struct stage_run r = PLAY(.argv = {"reaper"}, .env = {"CUTRACE_PRINT=on"});
        ck_assert_ptr_nonnull(strstr(r.out, "signals 0, reaped 0, a child left: 0"));
        check_shown(&r);
        stage_drop(&r);
    }
}
END_TEST

/* A report that fails, one that never ends, one that is not there: said in one line. */
START_TEST(report_that_fails)
{
    struct stage_run r =
        PLAY(.argv = {"end", "return"}, .env = {"CUTRACE_PRINT=on", "CUTRACE_REPORT=/bin/false"});
    ck_assert_int_eq(stage_exit(&r), 6);
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "could not be printed; the profile is in "));
    ck_assert_ptr_nonnull(strstr(r.err, "/summary.bin\n"));
    stage_drop(&r);
    r = PLAY(.argv = {"end", "return"},
             .env = {"CUTRACE_PRINT=on", "CUTRACE_REPORT=/nonexistent/report"});
    ck_assert_int_eq(stage_exit(&r), 6);
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "was not found; the profile is in "));
    stage_drop(&r);
}
END_TEST

/* By name on PATH, though there is one of the usual name beside the library. */
START_TEST(report_by_name)
{
    char path[1024], cwd[512];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
    snprintf(path, sizeof(path), "PATH=%s:/usr/bin:/bin", cwd);
    ck_assert_int_eq(system("printf '#!/bin/sh\\necho mine >&2\\n' >mine && chmod +x mine"), 0);
    struct stage_run r =
        PLAY(.argv = {"end", "return"}, .env = {"CUTRACE_PRINT=on", "CUTRACE_REPORT=mine", path});
    ck_assert_str_eq(r.err, "mine\n");
    stage_drop(&r);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which must come first */
/* Preloaded by a name that means another file from where the program goes. */
START_TEST(report_beside_a_relative_name)
{
    char command[4096], output[1024], cwd[512];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
    snprintf(output, sizeof(output), "CUTRACE_OUTPUT=%s/summary.bin", cwd);
    snprintf(command, sizeof(command), "mkdir lib bin && ln -s %s lib && ln -s %s bin",
             stage_path_of(".libs/libcutrace.so"), stage_path_of("cutrace-report"));
    ck_assert_int_eq(system(command), 0);
    struct stage_run r = PLAY(.argv = {"process", "moved"},
                              .env = {"LD_PRELOAD=lib/libcutrace.so", "CUTRACE_PRINT=on",
                                      "CUTRACE_REPORT=cutrace-report", output});
    ck_assert_msg(strstr(r.err, "GPU activities:") != NULL, "%s", r.err);
    stage_drop(&r);
}
END_TEST
#endif

int main(void)
{
    TCase *t = tcase_create("ends, children");
    tcase_add_loop_test(t, profile_after_each_end, 0, sizeof(ways) / sizeof(ways[0]));
    tcase_add_loop_test(t, profiles_of_a_family, 0, sizeof(families) / sizeof(families[0]));
    tcase_add_test(t, next_run_overwrites);
    tcase_add_test(t, nothing_without_cuda);
    tcase_add_loop_test(t, hung_kernel, 0, 3);
    tcase_add_loop_test(t, program_does_not_see_the_report, 0, 4);
    tcase_add_test(t, reaping_thread_does_not_see_the_report);
    tcase_add_test(t, report_that_fails);
    tcase_add_test(t, report_by_name);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(t, report_beside_a_relative_name);
#endif
    return stage_main("life_exit", t);
}
