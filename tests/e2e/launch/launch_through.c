/* SPDX-License-Identifier: MIT */
/* What the program is given is what the launcher was given. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

/* ---- arguments and environment ---- */

static const char *const hostile[] = {"",        "--",           "-o", "two words",   "new\nline",
                                      "quo\"te", "'$(touch x)'", "*",  "\xff\xfe\x80"};

START_TEST(arguments)
{
    struct stage_scene scene = {.argv = {"-q", "--", rig_inner(), "arguments"}};
    char *expected = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&expected, &bytes);
    for (size_t i = 0; i < 8; i++) {
        const char *argument = hostile[((size_t)_i + i) % 9];
        scene.argv[4 + i] = argument;
        fwrite(argument, 1, strlen(argument) + 1, f);
    }
    fclose(f);
    struct stage_run r = rig_launch(&scene);
    ck_assert_int_eq(r.status, 0);
    struct stat st;
    ck_assert(stat(".out", &st) == 0 && (size_t)st.st_size == bytes);
    ck_assert_int_eq(memcmp(r.out, expected, bytes), 0);
    free(expected);
    stage_drop(&r);
}
END_TEST

/*
 * The kernel gives arguments and environment so much room, and no more: with the most that the
 * launcher can be started with there is none for its variables.
 */
START_TEST(no_room_for_variables)
{
    static char script[] =
        "ulimit -s 2048; x=$(printf '%*s' 60000 ''); export V; "
        "for i in 1 2 3 4 5 6 7 8; do export V$i=\"$x\"; done; least=0 most=60000; "
        "while [ $((most - least)) -gt 1 ]; do half=$(((least + most) / 2)); "
        "printf -v V '%*s' $half ''; \"$0\" \"$@\" 2>/dev/null; "
        "if [ $? = 6 ]; then least=$half; else most=$half; fi; done; "
        "printf -v V '%*s' $least ''; \"$0\" \"$@\"";
    struct stage_run r = LAUNCH(.program = "/bin/bash",
                                .argv = {"-c", script, rig_launcher(), rig_inner(), "exit", "6"});
    ck_assert_int_eq(stage_exit(&r), 6);
    ck_assert_msg(strstr(r.err, "no room for cutrace's variables: it runs unprofiled"), "%.900s",
                  r.err);
    stage_drop(&r);
}
END_TEST

/* Names that begin with one of ours, in front of ours and alone, are the program's own. */
START_TEST(names_like_ours_are_kept)
{
    struct stage_run r = LAUNCH(.argv = {"-q", "-o", "p.bin", "sh", "-c",
                                         "echo $LD_PRELOAD_X $CUTRACE_OUTPUT_DIR $CUTRACE_OUTPUT; "
                                         "case $LD_PRELOAD in *libcutrace*) echo ours;; esac"},
                                .env = {"LD_PRELOAD_X=1", "CUTRACE_OUTPUT_DIR=two"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_msg(!strncmp(r.out, "1 two ", 6) && strstr(r.out, "p.bin\nours\n"), "%s", r.out);
    stage_drop(&r);
}
END_TEST

static const char *const preloads[] = {"sh -c 'echo $LD_PRELOAD'"};

START_TEST(preload_is_kept)
{
    char script[5000];
    snprintf(script, sizeof(script),
             "LD_PRELOAD=$LD_PRELOAD:/nonexistent/other.so %s -q %s 2>/dev/null", rig_launcher(),
             preloads[0]);
    struct stage_run r = LAUNCH(.program = "/bin/sh", .argv = {"-c", script});
    const char *other = strstr(r.out, "/nonexistent/other.so:"),
               *ours = strstr(r.out, "libcutrace.so");
    ck_assert_msg(other && ours && other < ours, "%s", r.out);
    ck_assert_ptr_null(strstr(ours + 1, "libcutrace.so"));
    stage_drop(&r);
    snprintf(script, sizeof(script), "%s -q %s -q %s", rig_launcher(), rig_launcher(), preloads[0]);
    r = LAUNCH(.program = "/bin/sh", .argv = {"-c", script});
    ours = strstr(r.out, "libcutrace.so");
    ck_assert(ours && !strstr(ours + 1, "libcutrace.so"));
    stage_drop(&r);
    snprintf(script, sizeof(script), /* blanks part its entries as well */
             "LD_PRELOAD=\"$LD_PRELOAD /nonexistent/other.so %s\" %s -q %s 2>/dev/null",
             stage_path_of(".libs/libcutrace.so"), rig_launcher(), preloads[0]);
    r = LAUNCH(.program = "/bin/sh", .argv = {"-c", script});
    ours = strstr(r.out, "libcutrace.so");
    ck_assert_msg(ours && !strstr(ours + 1, "libcutrace.so"), "%s", r.out);
    stage_drop(&r);
}
END_TEST

/* Those that are no library of ours have its path at their begin or end. */
static const char *const likenesses[] = {"/nonexistent%s", "%s.old", "/nonexistent%s:%s.old"};

START_TEST(a_part_of_a_path_is_no_library)
{
    char other[4000], script[9000];
    const char *library = stage_path_of(".libs/libcutrace.so");
    snprintf(other, sizeof(other), likenesses[_i], library, library);
    snprintf(script, sizeof(script), "LD_PRELOAD=$LD_PRELOAD:%s %s -q %s 2>/dev/null", other,
             rig_launcher(), preloads[0]);
    struct stage_run r = LAUNCH(.program = "/bin/sh", .argv = {"-c", script});
    snprintf(script, sizeof(script), "%s:%s\n", other, library);
    ck_assert_msg(strstr(r.out, script) != NULL, "%s", r.out);
    stage_drop(&r);
}
END_TEST

/* The loader takes the last of several, getenv() the first. */
START_TEST(preload_that_is_there_twice)
{
    struct stage_run r =
        LAUNCH(.program = rig_inner(), .argv = {"twice", "LD_PRELOAD", rig_launcher(), "-o",
                                                "x.bin", rig_actor(), "small", "10"});
    ck_assert_msg(r.status == 0 && stage_exists("x.bin"), "%s", r.err);
    stage_drop(&r);
}
END_TEST

/* ---- descriptors ---- */

/* 0 to 2 open or closed, and one that is inherited. */
START_TEST(descriptors)
{
    char script[6000], *with, *without;
    snprintf(script, sizeof(script), "\"$@\" %s %s %s 5</dev/null", _i & 1 ? "<&-" : "",
             _i & 2 ? ">&-" : "", _i & 4 ? "2>&-" : "");
    struct stage_run r = LAUNCH(.program = "/bin/sh", .argv = {"-c", script, "sh", rig_launcher(),
                                                               rig_inner(), "descriptors", "with"});
    ck_assert_int_eq(r.status, 0);
    stage_drop(&r);
    r = LAUNCH(.program = "/bin/sh",
               .argv = {"-c", script, "sh", rig_inner(), "descriptors", "without"});
    ck_assert_int_eq(r.status, 0);
    stage_drop(&r);
    with = stage_read("with");
    without = stage_read("without");
    ck_assert_str_eq(with, without);
    free(with);
    free(without);
}
END_TEST

START_TEST(bytes_go_through)
{
    const char script[] = "head -c 3000000 /dev/urandom >in; \"$@\" <in >out; cmp in out; "
                          "cat in | \"$@\" | cmp - in";
    struct stage_run r = LAUNCH(.program = "/bin/sh", .argv = {"-c", script, "sh", rig_launcher(),
                                                               "-q", rig_inner(), "cat"});
    ck_assert_msg(r.status == 0, "%s%s", r.out, r.err);
    ck_assert_str_eq(r.out, "");
    stage_drop(&r);
}
END_TEST

/* A reader sees the end when the program closes its output, not when the launcher ends. */
START_TEST(output_ends_with_the_programs)
{
    struct rig r = rig_start(
        (const char *const[]){rig_launcher(), "-q", rig_inner(), "close-output", "20000", NULL});
    ck_assert_str_eq(rig_line(&r), "before");
    ck_assert_str_eq(rig_line(&r), "");
    ck_assert_int_eq(waitpid(r.pid, NULL, WNOHANG), 0);
    kill(r.pid, SIGTERM);
    ck_assert_int_eq(WTERMSIG(rig_wait(&r)), SIGTERM);
}
END_TEST

/* ---- signals that are inherited ---- */

START_TEST(inherited_signals)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigaddset(&blocked, 40);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    struct stage_run bare = LAUNCH(.program = rig_inner(), .argv = {"signals"});
    struct stage_run with = LAUNCH(.argv = {"-q", rig_inner(), "signals"});
    ck_assert_ptr_nonnull(strstr(bare.out, "SigBlk"));
    ck_assert_str_eq(with.out, bare.out);
    stage_drop(&bare);
    stage_drop(&with);
}
END_TEST

/* Where SIGCHLD is ignored children vanish unseen, but for those of the launcher. */
START_TEST(children_ignored)
{
    struct stage_run bare =
        LAUNCH(.program = rig_inner(), .argv = {"ignore-children", rig_inner(), "signals"});
    struct stage_run with =
        LAUNCH(.program = rig_inner(),
               .argv = {"ignore-children", rig_launcher(), "-q", rig_inner(), "signals"});
    ck_assert_str_eq(with.out, bare.out);
    stage_drop(&bare);
    stage_drop(&with);
    struct stage_run r = LAUNCH(.program = rig_inner(), .argv = {"ignore-children", rig_launcher(),
                                                                 "-q", rig_inner(), "exit", "9"});
    ck_assert_int_eq(stage_exit(&r), 9);
    stage_drop(&r);
}
END_TEST

/* Whoever is the parent of what has ended sees to it: here in the place of a shell. */
START_TEST(orphans_are_reaped)
{
    static const char script[] = "sleep .1 & echo $!; exec \"$0\" -q sleep 1.5";
    struct rig r = rig_start((const char *const[]){"/bin/sh", "-c", script, rig_launcher(), NULL});
    pid_t orphan = atoi(rig_line(&r));
    ck_assert_int_gt(orphan, 0);
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d", (int)orphan);
    unsigned waited_ms = 0;
    for (; stage_exists(path) && waited_ms < 1200; waited_ms += 20)
        rig_pause(20);
    ck_assert_msg(!stage_exists(path), "%d is a zombie", (int)orphan);
    rig_wait(&r);
}
END_TEST

int main(void)
{
    if (CT_CHECKS_THREADS)
        return 77; /* shells crash at a fork with ThreadSanitizer's library, without us, too */
    TCase *t = tcase_create("through");
    tcase_add_loop_test(t, arguments, 0, 9);
    tcase_add_test(t, no_room_for_variables);
    tcase_add_test(t, names_like_ours_are_kept);
    tcase_add_test(t, preload_is_kept);
    tcase_add_test(t, preload_that_is_there_twice);
    tcase_add_loop_test(t, a_part_of_a_path_is_no_library, 0, 3);
    tcase_add_loop_test(t, descriptors, 0, 8);
    tcase_add_test(t, bytes_go_through);
    tcase_add_test(t, output_ends_with_the_programs);
    tcase_add_test(t, inherited_signals);
    tcase_add_test(t, children_ignored);
    tcase_add_test(t, orphans_are_reaped);
    return stage_main("launch_through", t);
}
