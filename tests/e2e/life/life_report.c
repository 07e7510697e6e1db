/* SPDX-License-Identifier: MIT */
/* The report at exit as a process: what it inherits, when it ends, and whose program it is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.h"

/* A sanitizer's library must come first, and makes calls of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECKED 1
#else
#define CHECKED 0
#endif

static void sh(const char *command)
{
    ck_assert_msg(system(command) == 0, "%s", command);
}

static void write_report(const char *lines)
{
    char command[2000];
    snprintf(command, sizeof(command), "printf '#!/bin/sh\\n%s\\n' >report && chmod 755 report",
             lines);
    sh(command);
}

#define BY_REPORT                                                                                  \
    {                                                                                              \
        "CUTRACE_PRINT=on", "CUTRACE_REPORT=./report"                                              \
    }

/* A process that waits to be reaped has ended. */
static bool runs(const char *pid)
{
    char path[64], *state;
    snprintf(path, sizeof(path), "/proc/%d/stat", atoi(pid));
    if (!stage_exists(path))
        return false;
    char *line = stage_read(path);
    bool runs = (state = strrchr(line, ')')) && state[2] != 'Z';
    free(line);
    return runs;
}

static bool soon_ended(const char *pid)
{
    for (int i = 0; i < 50 && runs(pid); i++)
        usleep(10000);
    return !runs(pid);
}

/* 3 is the directory that ls reads. */
START_TEST(inherits_three_descriptors_and_no_mask)
{
    write_report("ls /proc/self/fd >&2; grep SigBlk /proc/self/status >&2");
    struct stage_run r = PLAY(.argv = {"end", "return-with-much"}, .env = BY_REPORT);
    ck_assert_int_eq(stage_exit(&r), 6);
    ck_assert_str_eq(r.err, "0\n1\n2\n3\nSigBlk:\t0000000000000000\n");
    stage_drop(&r);
}
END_TEST

#if defined(SYS_close_range) && !CHECKED
/* Before Linux 5.9, and in containers of before. */
START_TEST(closes_one_by_one)
{
    char number[24];
    snprintf(number, sizeof(number), "-%d", SYS_close_range);
    write_report("ls /proc/self/fd >&2");
    struct stage_run r =
        PLAY(.argv = {"as-filtered", number, stage_path_of("tests/e2e/actor/actor"), "end",
                      "return-with-much"},
             .env = BY_REPORT);
    ck_assert_msg(strstr(r.err, "0\n1\n2\n3\n") && !strstr(r.err, "\n4\n"), "%s", r.err);
    stage_drop(&r);
}
END_TEST
#endif

/* It has what a terminal program looks at, and nothing of the loader's. */
START_TEST(has_an_environment)
{
    write_report("env | grep -E \"^(COLUMNS|TERM|LANG|HOME|LD_|CUTRACE_|OTHER)\" | cut -d= -f1 | "
                 "sort >&2");
    struct stage_run r = PLAY(.argv = {"end", "return"},
                              .env = {"CUTRACE_PRINT=on", "CUTRACE_REPORT=./report", "COLUMNS=70",
                                      "TERM=xterm", "LANG=C", "HOME=/", "OTHER=1"});
    ck_assert_str_eq(r.err, "COLUMNS\nCUTRACE_HOST\nHOME\nLANG\nTERM\n");
    stage_drop(&r);
}
END_TEST

/* Whether it ended well is known, also where the program ignores the ends of its children. */
START_TEST(its_status_is_known)
{
    write_report(_i ? "exit 3" : "exit 0");
    struct stage_run r = PLAY(.argv = {"child", "ignore"}, .env = BY_REPORT);
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_msg(!strstr(r.err, "the table could not be printed") == !_i, "%s", r.err);
    stage_drop(&r);
}
END_TEST

/* The profile is in memory: that one descriptor more. */
START_TEST(inherits_the_profile)
{
    write_report("ls /proc/self/fd | wc -l >&2; readlink $2 >&2");
    struct stage_run r =
        PLAY(.argv = {"end", "return-with-much"},
             .env = {"CUTRACE_PRINT=on", "CUTRACE_REPORT=./report", "CUTRACE_OUTPUT=/dev/null"});
    ck_assert_ptr_nonnull(strstr(r.err, "\n5\n/memfd:cutrace (deleted)\n"));
    stage_drop(&r);
}
END_TEST

START_TEST(is_ended_after_ten_seconds)
{
    write_report("echo $$ >pid; trap \"\" TERM ALRM HUP; exec sleep 60");
    struct stage_run r = PLAY(.argv = {"end", "return"}, .env = BY_REPORT);
    ck_assert_int_eq(stage_exit(&r), 6);
    ck_assert_msg(r.seconds >= 10 && r.seconds < 11, "%.1f s", r.seconds);
    ck_assert_ptr_nonnull(strstr(r.err, "could not be printed; the profile is in "));
    char *pid = stage_read("pid");
    ck_assert(soon_ended(pid));
    free(pid);
    stage_drop(&r);
}
END_TEST

START_TEST(ends_with_the_program)
{
    write_report("echo $$ >pid; exec sleep 60");
    struct stage_run r = PLAY(.argv = {"end", "return"}, .env = BY_REPORT, .kill_after_ms = 1500);
    ck_assert_int_eq(stage_exit(&r), 128 + SIGKILL);
    char *pid = stage_read("pid");
    ck_assert(soon_ended(pid));
    free(pid);
    stage_drop(&r);
}
END_TEST

/* Runs the actor in a shell, its stderr a pipe that is full: $a is its number, $r the report's. */
#define STUCK(then)                                                                                \
    "mkfifo full; exec 9<>full; head -c 65536 /dev/zero >&9; "                                     \
    "LD_PRELOAD=\"$LIBRARY\" CUTRACE_PRINT=on \"$ACTOR\" end return 2>full 9>&- >program & a=$!; " \
    "i=0; r=; while [ -z \"$r\" ] && [ $i -lt 200 ]; do sleep .02; i=$((i+1)); "                   \
    "r=$(grep -la -e \"[-]-live.$PWD\" /proc/[0-9]*/cmdline 2>/dev/null | head -1 | cut -d/ "      \
    "-f3); "                                                                                       \
    "done; sleep .5; " then

static struct stage_run play_stuck(const char *script)
{
    char library[1200], actor[1100], runtime[1100];
    stage_sanitizer(runtime, sizeof(runtime));
    snprintf(library, sizeof(library), "LIBRARY=%s%s", runtime,
             stage_path_of(".libs/libcutrace.so"));
    snprintf(actor, sizeof(actor), "ACTOR=%s", stage_path_of("tests/e2e/actor/actor"));
    return PLAY(.program = "/bin/sh", .argv = {"-c", script}, .bare = true,
                .env = {library, actor});
}

#if CT_CHECKS_THREADS
#define AT_ONCE "2" /* seconds: ThreadSanitizer sleeps for one before a process ends */
#else
#define AT_ONCE ".3"
#endif

/* The report beside the program has none of its memory, and ends at once. */
START_TEST(lets_go_of_memory)
{
    struct stage_run r = play_stuck(
        STUCK("p=$(sed -n 's/^PPid:.//p' /proc/$r/status); p=$(readlink /proc/$p/exe); "
              "echo parent=${p##*/} of ${r:-none}; kill -9 $a; sleep " AT_ONCE "; "
              "grep -q 'State:.[^Z]' /proc/$r/status 2>/dev/null && echo runs still; echo done"));
    ck_assert_msg(strstr(r.out, "parent=") && !strstr(r.out, "parent=actor") &&
                      !strstr(r.out, "of none") && !strstr(r.out, "runs still") &&
                      strstr(r.out, "done\n"),
                  "%s%s", r.out, r.err);
    stage_drop(&r);
}
END_TEST

START_TEST(program_ends_by_a_signal_meanwhile)
{
    struct stage_run r = play_stuck(STUCK("kill -TERM $a; wait $a; echo status $?"));
    ck_assert_msg(strstr(r.out, "status 143\n") != NULL, "%s%s", r.out, r.err);
    ck_assert_msg(r.seconds < 8, "%.1f s", r.seconds);
    stage_drop(&r);
}
END_TEST

/* ---- whose it is ---- */

#if !CHECKED

/* Beside the library, where it would be looked for; each line is made by root. */
static const struct {
    const char *make;
    bool runs;
} places[] = {
    {"mkdir -p i/bin && cp report i/bin/cutrace-report", true},
    {"cp report i/cutrace-report", true},
    {"cp report i/cutrace-report && chown 65534 i/cutrace-report", false},
    {"cp report i/cutrace-report && chmod 777 i/cutrace-report", false},
    {"cp report i/cutrace-report && chmod 1777 i", false},
    {"cp report i/cutrace-report && chmod 777 i", false},
    {"cp report i/cutrace-report && chgrp 65534 i && chmod 775 i", false},
    {"mkdir -p i/bin && cp report i/bin/cutrace-report && chown 65534 i/bin", false},
    {"mkdir -p i/bin && cp report i/bin/cutrace-report && chown 65534 i", false},
    {"mkdir -p i/bin && cp report i/bin/cutrace-report && chmod 1777 i", true},
    {"mkdir -p i/bin && cp report i/bin/cutrace-report && chgrp 65534 i i/bin i/lib && "
     "chmod 775 i i/bin i/lib",
     true},
    {"mkdir other && cp report other && ln -s ../other/report i/cutrace-report", true},
    {"mkdir other && cp report other && ln -s ../other/report i/cutrace-report && "
     "chown 65534 other",
     false},
    {"cp report i/own && ln -s own i/cutrace-report && chown -h 65534 i/cutrace-report", false},
};

START_TEST(strangers_program_is_not_run)
{
    char command[3000];
    ct_skip_if(geteuid(), "only root can give files away");
    write_report("echo planted >&2");
    snprintf(command, sizeof(command), "mkdir -p i/lib && cp %s i/lib/libcutrace.so && %s",
             stage_path_of(".libs/libcutrace.so"), places[_i].make);
    sh(command);
    struct stage_run r = PLAY(.argv = {"end", "return"},
                              .env = {"LD_PRELOAD=i/lib/libcutrace.so", "CUTRACE_PRINT=on",
                                      "CUTRACE_REPORT=cutrace-report", "PATH=/nonexistent"});
    ck_assert_int_eq(stage_exit(&r), 6);
    ck_assert_msg((strstr(r.err, "planted") != NULL) == places[_i].runs, "%s", r.err);
    ck_assert_uint_eq(stage_said(&r), !places[_i].runs);
    ck_assert(places[_i].runs || strstr(r.err, "; the profile is in ") ||
              strstr(r.err, "GPU activities:")); /* one is installed */
    stage_drop(&r);
}
END_TEST
#endif

int main(void)
{
    TCase *t = tcase_create("the report's process");
    tcase_add_test(t, inherits_three_descriptors_and_no_mask);
#if defined(SYS_close_range) && !CHECKED
    tcase_add_test(t, closes_one_by_one);
#endif
    tcase_add_test(t, has_an_environment);
    tcase_add_loop_test(t, its_status_is_known, 0, 2);
    tcase_add_test(t, inherits_the_profile);
    tcase_add_test(t, is_ended_after_ten_seconds);
    tcase_add_test(t, ends_with_the_program);
    tcase_add_test(t, lets_go_of_memory);
    tcase_add_test(t, program_ends_by_a_signal_meanwhile);
#if !CHECKED
    tcase_add_loop_test(t, strangers_program_is_not_run, 0, sizeof(places) / sizeof(places[0]));
#endif
    return stage_main("life_report", t);
}
