/* SPDX-License-Identifier: MIT */
/* The launcher where no process could tell it anything, and where none has started CUDA. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define NONE "No process has started CUDA"

static void expect(const struct stage_run *r, const char *text)
{
    ck_assert_msg(strstr(r->err, text) != NULL, "'%s' is not in:\n%s", text, r->err);
}

static void expect_no(const struct stage_run *r, const char *text)
{
    ck_assert_msg(!strstr(r->err, text), "'%s' is in:\n%s", text, r->err);
}

/* ---- out of reach ---- */

static const char *const ways[][6] = {
    {"unshare", "-pf", "--mount-proc"},
    {"unshare", "-pnmf", "--mount-proc"},
    {"unshare", "-U"},
    {"unshare", "-Ur"},
    {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"},
};

/* Where the tree is below a directory of root's alone, others cannot load the library. */
static bool others_can_read(void)
{
    int status;
    pid_t pid = fork();
    if (!pid)
        _exit(setgid(65534) || setuid(65534) || access(stage_path_of(".libs/libcutrace.so"), R_OK));
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static struct stage_run run_out_of_reach(const char *const *way, const char *option)
{
    struct stage_scene s = {.argv = {option, "--"}};
    unsigned n = 2;
    while (*way)
        s.argv[n++] = *way++;
    s.argv[n++] = rig_actor();
    s.argv[n++] = "small";
    s.argv[n] = "10";
    ck_assert_int_eq(chmod(".", 0777), 0);
    return rig_launch(&s);
}

START_TEST(out_of_reach)
{
    ct_skip_if(getuid(), "only root can put a program out of reach");
    ct_skip_if(!strcmp(ways[_i][0], "setpriv") && !others_can_read(),
               "others cannot read the build tree");
    struct stage_run r = run_out_of_reach(ways[_i], "-f");
    ck_assert_msg(stage_exit(&r) == 0, "%s", r.err);
    expect_no(&r, NONE);
    expect(&r, "alpha"); /* the table */
    expect(&r, "summary.bin, and could not be heard of here");
    ck_assert(stage_exists("summary.bin"));
    stage_drop(&r);
}
END_TEST

START_TEST(out_of_reach_and_quiet)
{
    ct_skip_if(getuid(), "only root can put a program out of reach");
    struct stage_run r = run_out_of_reach(ways[0], "--quiet");
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_str_eq(r.err, "");
    ck_assert(stage_exists("summary.bin"));
    stage_drop(&r);
}
END_TEST

/* ---- a launcher around another ---- */

START_TEST(launcher_in_a_launcher)
{
    struct stage_run r = LAUNCH(.argv = {"-o", "outer.bin", rig_launcher(), "-o", "inner.bin",
                                         rig_actor(), "small", "10"});
    ck_assert_int_eq(stage_exit(&r), 0);
    expect_no(&r, NONE);
    expect(&r, "inner.bin is of the cutrace in this one's run");
    ck_assert(!stage_exists("outer.bin"));
    stage_drop(&r);
}
END_TEST

START_TEST(launcher_in_a_launcher_in_a_launcher)
{
    struct stage_run r =
        LAUNCH(.argv = {"-o", "outer.bin", rig_launcher(), "-o", "middle.bin", rig_launcher(), "-o",
                        "inner.bin", rig_actor(), "small", "10"});
    ck_assert_int_eq(stage_exit(&r), 0);
    expect_no(&r, NONE);
    const char *said = strstr(r.err, "inner.bin is of the cutrace in this one's run, process ");
    ck_assert_msg(said && strstr(said + 1, "inner.bin is of the cutrace in this"), "%s", r.err);
    ck_assert(!stage_exists("outer.bin") && !stage_exists("middle.bin"));
    stage_drop(&r);
}
END_TEST

/* ---- a list that is none any more ---- */

static const char *const spoilers[] = {"truncate -s 1T", "truncate -s 3G", "truncate -s 0"};

START_TEST(spoilt_list)
{
    char script[5000];
    snprintf(script, sizeof(script), "%s \"$CUTRACE_RUN\"; exec %s small 10", spoilers[_i],
             rig_actor());
    struct stage_run r = LAUNCH(.argv = {"-o", "x.bin", "sh", "-c", script});
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert(stage_exists("x.bin"));
    expect_no(&r, NONE);
    expect(&r, "x.bin");
    stage_drop(&r);
}
END_TEST

/* ---- none ---- */

START_TEST(refused)
{
    struct stage_run r =
        LAUNCH(.argv = {rig_actor(), "small", "10"}, .env = {"CUDASIM_FAIL=cuInit:1-9:100"});
    expect(&r, NONE ": there is no profile (cuInit returned 100, CUDA_ERROR_NO_DEVICE in process ");
    stage_drop(&r);
}
END_TEST

START_TEST(no_driver)
{
    struct stage_run r =
        LAUNCH(.argv = {rig_inner(), "exit", "3"}, .env = {"LD_LIBRARY_PATH=/nonexistent"});
    ck_assert_int_eq(stage_exit(&r), 3);
    expect(&r, NONE ": there is no profile (libcuda.so.1: cannot open shared object file");
    stage_drop(&r);
}
END_TEST

/* Profiles of other runs in the directory are not this one's. */
START_TEST(older_profiles)
{
    struct stage_run r = LAUNCH(.argv = {rig_actor(), "small", "10"});
    stage_drop(&r);
    r = LAUNCH(.argv = {"sh", "-c", "touch summary.bin"});
    expect(&r, "No process has told that it started CUDA: there is no profile");
    expect_no(&r, "could not be heard");
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("unheard");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, out_of_reach, 0, sizeof(ways) / sizeof(ways[0]));
    tcase_add_test(t, out_of_reach_and_quiet);
    tcase_add_test(t, launcher_in_a_launcher);
    tcase_add_test(t, launcher_in_a_launcher_in_a_launcher);
    tcase_add_loop_test(t, spoilt_list, 0, sizeof(spoilers) / sizeof(spoilers[0]));
    tcase_add_test(t, refused);
    tcase_add_test(t, no_driver);
    tcase_add_test(t, older_profiles);
    return stage_main("unheard", t);
}
