/* SPDX-License-Identifier: MIT */
/* How the launcher ends: as the program, or saying in one line why it did not run it. */
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rig.h"

#define FAILED 125

/* ---- as the program ends ---- */

static const char *const statuses[] = {"0", "1", "2", "7", "77", "125", "126", "127", "128", "255"};

START_TEST(status_is_the_programs)
{
    struct stage_run r = LAUNCH(.argv = {rig_inner(), "exit", statuses[_i]});
    ck_assert_int_eq(r.status, atoi(statuses[_i]) << 8);
    ck_assert_uint_eq(rig_lines(r.err), 1); /* no CUDA was started */
    stage_drop(&r);
}
END_TEST

/* Those that end a process, with a core or without. */
static const int deadly[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,
                             SIGBUS,  SIGFPE,  SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2,
                             SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ, SIGVTALRM,
                             SIGPROF, SIGIO,   SIGPWR,  SIGSYS,  34,      64};

START_TEST(signal_is_the_programs)
{
    char number[8];
    struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &core);
    snprintf(number, sizeof(number), "%d", deadly[_i]);
    struct stage_run r = LAUNCH(.argv = {rig_inner(), "die", number});
    ck_assert_msg(WIFSIGNALED(r.status) && WTERMSIG(r.status) == deadly[_i], "%x",
                  (unsigned)r.status);
    ck_assert(!WCOREDUMP(r.status));
    stage_drop(&r);
}
END_TEST

/* ---- programs that cannot be run, or not be seen into ---- */

static void write_program(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0 && chmod(path, 0755) == 0);
}

static void check_refused(const char *program, int status, const char *why)
{
    char line[200];
    struct stage_run r = LAUNCH(.argv = {program, "argument"});
    ck_assert_msg(stage_exit(&r) == status, "%s: %d %s", program, stage_exit(&r), r.err);
    snprintf(line, sizeof(line), "cutrace: %s: %s\n", *program ? program : "''", why);
    ck_assert_str_eq(r.err, line);
    stage_drop(&r);
}

START_TEST(cannot_be_run)
{
    ck_assert_int_eq(mkdir("directory", 0777), 0);
    write_program("plain", "text");
    write_program("headless", "#!/nonexistent/interpreter\n");
    ck_assert_int_eq(chmod("plain", 0644), 0);
    check_refused("no-such-program", 127, "command not found");
    check_refused("./no-such-program", 127, "No such file or directory");
    check_refused("no/such/directory", 127, "No such file or directory");
    check_refused("plain/below", 127, "Not a directory");
    check_refused("", 127, "command not found");
    check_refused("./headless", 127, "the interpreter that it names was not found");
    check_refused("./directory", 126, "Is a directory");
    check_refused("./plain", 126, "Permission denied");
}
END_TEST

START_TEST(scripts_are_run)
{
    write_program("script", "#!/bin/sh\necho script $1\nexit 3\n");
    write_program("bare", "echo bare $1\nexit 4\n");
    struct stage_run r = LAUNCH(.argv = {"./script", "one"});
    ck_assert_int_eq(stage_exit(&r), 3);
    ck_assert_str_eq(r.out, "script one\n");
    stage_drop(&r);
    r = LAUNCH(.argv = {"./bare", "two"});
    ck_assert_int_eq(stage_exit(&r), 4);
    ck_assert_str_eq(r.out, "bare two\n");
    stage_drop(&r);
}
END_TEST

/* A copy of the test's own program, with a byte changed: the loader's name, or the machine. */
static void write_changed(const char *path, const char *what)
{
    char command[4096];
    snprintf(command, sizeof(command), "cp %s %s && %s %s", rig_inner(), path, what, path);
    ck_assert_int_eq(system(command), 0);
}

static struct stage_run run_changed(const char *path, const char *why)
{
    struct stage_run r = LAUNCH(.argv = {path, "exit", "5"});
    ck_assert_msg(strstr(r.err, why) != NULL && strstr(r.err, "unprofiled"), "%s", r.err);
    return r;
}

START_TEST(runs_unprofiled)
{
    write_changed("own", "chown 65534");
    write_changed("other", "printf '\\377' | dd of=other bs=1 seek=18 conv=notrunc status=none; :");
    ck_assert_int_eq(chmod("own", 04755), 0);
    if (geteuid() == 0) {
        struct stage_run r = run_changed("./own", "privileges");
        ck_assert_int_eq(stage_exit(&r), 5);
        ck_assert_uint_eq(rig_lines(r.err), 1);
        stage_drop(&r);
    }
    struct stage_run r = run_changed("./other", "architecture");
    ck_assert_int_ne(r.status, 0); /* as whoever tries to run it says */
    stage_drop(&r);
}
END_TEST

/* CAP_NET_RAW, permitted and effective, as setcap(8) writes it. */
static bool give_capability(const char *path)
{
    const struct vfs_cap_data d = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                                   .data = {{.permitted = 1u << CAP_NET_RAW}}};
    return setxattr(path, "security.capability", &d, sizeof(d), 0) == 0;
}

static void check_profiled(const char *program)
{
    struct stage_run r = LAUNCH(.argv = {"-o", "x.bin", "-f", program, "small", "10"});
    ck_assert_msg(r.status == 0 && stage_exists("x.bin"), "%s", r.err);
    ck_assert_ptr_null(strstr(r.err, "privileges"));
    stage_drop(&r);
}

/* Things that would give a process more where it has all, or where it may have no more. */
START_TEST(privileges_that_are_none)
{
    char command[4096];
    snprintf(command, sizeof(command), "cp %s own", rig_actor());
    ck_assert_int_eq(system(command), 0);
    if (geteuid())
        return;
    if (give_capability("own"))
        check_profiled("./own");
    ck_assert_int_eq(chown("own", 65534, (gid_t)-1), 0);
    ck_assert_int_eq(chmod("own", 04755), 0);
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    check_profiled("./own");
}
END_TEST

/* ---- command lines ---- */

static const char *const wrong[][4] = {
    {"--no-such-option", "x"},
    {"-Z", "x"},
    {"-u", "parsecs", "x"},
    {"--csv=yes", "x"},
    {"--sample", "0", "x"},
    {"--sample=1.5", "x"},
    {"--sample", "2000000000", "x"},
    {"--budget", "%", "x"},
    {"--budget", "200%", "x"},
    {"--devices", "x", "x"},
    {"--events-in-use", "10", "x"},
    {"--exit-timeout", "0.5", "x"},
    {"--max-size", "1M", "x"},
    {"--trace-file", "", "x"},
    {"--timeout", "0", "x"},
    {"-t", "soon", "x"},
    {"-t", "-1", "x"},
    {"--trace", "cpu", "x"},
    {"--csv", "--details", "x"},
    {"--group", "--demangling", "off", "x"},
    {"--print-gpu-trace", "--csv", "--details", "x"},
    {"--print-gpu-trace", "--raw", "x"},
    {"--print-api-trace", "--details", "x"},
    {"--demangling", "maybe", "x"},
    {"--profile-from-start", "later", "x"},
    {"--nvtx-capture", "@domain", "x"},
    {"--profile-child-processes=some", "x"},
    {"--calibrate", "", "x"},
    {"--kernels=", "x"},
    {"-o", ""},
    {"-o"},
    {"--log-file"},
    {"-o", "%z.bin", "x"},
    {"-o", "%q{HOME", "x"},
    {"--log-file", "%", "x"},
    {"--log-file", "%q{CUTRACE_UNSET}", "x"},
    {"--log-file", "/nonexistent/%p", "x"},
    {"--log-file", ".", "x"},
    {"-o", "/nonexistent/x.bin", "x"},
    {"-o", "/dev/null/x.bin", "x"},
    {"-q"},
    {NULL},
    {"-i", "a.bin", "x"},
    {"-i", "a.bin", "--sample=3"},
    {"-o", "b.bin", "-i", "a.bin"},
    {"-i", "a.bin", "-f"},
    {"-i", "a.bin", "-q"},
};

START_TEST(wrong_command_line)
{
    const char *const *w = wrong[_i];
    struct stage_run r = LAUNCH(.argv = {w[0], w[1], w[2], w[3]});
    ck_assert_msg(stage_exit(&r) == FAILED, "%s %s: %s", w[0], w[1], r.err);
    ck_assert_msg(rig_lines(r.err) == 1 && !strncmp(r.err, "cutrace: ", 9), "%s", r.err);
    ck_assert_str_eq(r.out, "");
    stage_drop(&r);
}
END_TEST

static const struct {
    const char *option;
    char letter;
} never[] = {
#define CT_OPTION(...)
#define CT_NEVER(option, letter, argument, instead) {option, letter},
#include "options/options.def"
};

/* Of each option of nvprof's that there is not, one line says what does that instead. */
START_TEST(refused_option)
{
    char forms[3][100] = {"", "", ""};
    snprintf(forms[0], sizeof(forms[0]), "--%s", never[_i].option);
    snprintf(forms[1], sizeof(forms[1]), "--%s=value", never[_i].option);
    snprintf(forms[2], sizeof(forms[2]), "-%c", never[_i].letter);
    for (int form = 0; form < (never[_i].letter ? 3 : 2); form++) {
        struct stage_run r = LAUNCH(.argv = {forms[form], "x"});
        ck_assert_int_eq(stage_exit(&r), FAILED);
        ck_assert_msg(rig_lines(r.err) == 1 && strstr(r.err, " here: "), "%s", r.err);
        ck_assert_ptr_nonnull(strstr(r.err, never[_i].option));
        stage_drop(&r);
    }
}
END_TEST

static void check_script(const char *option, const char *value, const char *script, int status)
{
    struct stage_run r =
        option ? LAUNCH(.argv = {"-q", option, value, script}) : LAUNCH(.argv = {"-q", script});
    ck_assert_msg(stage_exit(&r) == status, "%s: %d %s", script, stage_exit(&r), r.err);
    stage_drop(&r);
}

START_TEST(script_has_an_interpreter)
{
    write_program("plain.py", "exit 7");
    ck_assert_int_eq(chmod("plain.py", 0644), 0);
    write_program("own.py", "#!/bin/sh\nexit 8");
    write_program("python3", "#!/bin/sh\nexit 9");
    ck_assert_int_eq(setenv("PATH", ".:/usr/bin:/bin", 1), 0);
    check_script("--python", "/bin/sh", "plain.py", 7);
    check_script("--python", "./python3", "./own.py", 9);
    check_script(NULL, NULL, "./own.py", 8);
    check_script(NULL, NULL, "plain.py", 9);
    check_script(NULL, NULL, "absent.py", 127);
}
END_TEST

/* The beginning of one name stands for it, that of several for none. */
START_TEST(abbreviations)
{
    struct stage_run r = LAUNCH(.argv = {"--print=yes", rig_inner(), "exit", "0"});
    ck_assert_int_eq(stage_exit(&r), FAILED);
    ck_assert_ptr_nonnull(
        strstr(r.err, "cutrace: ambiguous option '--print=yes': --print-gpu-trace, "));
    stage_drop(&r);
    r = LAUNCH(.argv = {"--qui", rig_inner(), "exit", "7"});
    ck_assert_int_eq(stage_exit(&r), 7);
    ck_assert_str_eq(r.err, "");
    stage_drop(&r);
}
END_TEST

/* As nsys has it; the program of that name is run where there is no other. */
START_TEST(force_overwrite)
{
    static const char *const forms[][2] = {
        {"-f", "true"}, {"--force-overwrite", "true"}, {"--force-overwrite=true", "-q"}};
    for (unsigned i = 0; i < 3; i++) {
        write_program("x.bin", "text");
        struct stage_run r = LAUNCH(.argv = {forms[i][0], forms[i][1], "-o", "x.bin", "-q",
                                             rig_actor(), "small", "20"});
        ck_assert_msg(r.status == 0 && strstr(r.out, "small: 20"), "%s", r.err);
        stage_drop(&r);
        ck_assert_int_eq(unlink("x.bin"), 0);
    }
    write_program("x.bin", "text");
    struct stage_run r = LAUNCH(.argv = {"-f", "false", "-o", "x.bin", rig_inner(), "exit", "7"});
    ck_assert_int_eq(stage_exit(&r), FAILED);
    ck_assert_msg(strstr(r.err, "is there already") != NULL, "%s", r.err);
    stage_drop(&r);
    r = LAUNCH(.argv = {"-f", "false"});
    ck_assert_int_eq(stage_exit(&r), 1);
    stage_drop(&r);
    r = LAUNCH(.argv = {"--force-overwrite=maybe", rig_inner(), "exit", "7"});
    ck_assert_int_eq(stage_exit(&r), FAILED);
    stage_drop(&r);
}
END_TEST

START_TEST(answers)
{
    struct stage_run r = LAUNCH(.argv = {"--help"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.err, "");
    ck_assert_ptr_nonnull(strstr(r.out, "--export-profile"));
    for (const char *line = r.out, *end; (end = strchr(line, '\n')); line = end + 1)
        ck_assert_msg(end - line < 80, "%s", line);
    stage_drop(&r);
    r = LAUNCH(.argv = {"-V"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.out, "cutrace "));
    stage_drop(&r);
}
END_TEST

/* A hostile name is shown, not obeyed. */
START_TEST(messages_are_safe)
{
    struct stage_run r = LAUNCH(.argv = {"./\033]0;title\007\n==1== evil\xff"});
    ck_assert_int_eq(stage_exit(&r), 127);
    ck_assert_uint_eq(rig_lines(r.err), 1);
    for (const char *p = r.err; *p; p++)
        ck_assert_msg(*p == '\n' || (*p >= ' ' && *p < 127), "%s", r.err);
    stage_drop(&r);
}
END_TEST

/* ---- its own parts ---- */

static void copy_launcher(const char *directory, bool report, bool library)
{
    char command[6000];
    snprintf(command, sizeof(command), "mkdir -p '%s/.libs' && cp '%s' '%s'", directory,
             rig_launcher(), directory);
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof(command), "ln -s '%s' '%s'", stage_path_of("cutrace-report"),
             directory);
    ck_assert(!report || system(command) == 0);
    snprintf(command, sizeof(command), "cp '%s' '%s/.libs'", stage_path_of(".libs/libcutrace.so"),
             directory);
    ck_assert(!library || system(command) == 0);
}

START_TEST(part_is_missing)
{
    copy_launcher("lost", _i == 0, _i == 1);
    struct stage_run r = LAUNCH(.program = "lost/cutrace", .argv = {rig_inner(), "exit", "0"});
    if (stage_exit(&r)) { /* else it found one that is installed */
        ck_assert_int_eq(stage_exit(&r), FAILED);
        ck_assert_msg(rig_lines(r.err) == 1 && strstr(r.err, "was not found"), "%s", r.err);
    }
    stage_drop(&r);
}
END_TEST

/* Where everybody may write, a library of another user's could lie by now. */
START_TEST(part_that_others_may_exchange)
{
    static const char *const open_up[] = {"chmod 777 open/.libs", "chmod 1777 open/.libs",
                                          "chmod 666 open/.libs/libcutrace.so",
                                          "chown 65534 open/.libs/libcutrace.so"};
    ct_skip_if(_i == 3 && geteuid(), "only root can give files away");
    copy_launcher("open", true, true);
    ck_assert_int_eq(system(open_up[_i]), 0);
    struct stage_run r =
        LAUNCH(.program = "open/cutrace", .argv = {"-o", "x.bin", rig_actor(), "small", "20"});
    ck_assert_msg(strstr(r.err, "libcutrace.so is not used, as others than its owner"), "%s",
                  r.err);
    ck_assert(stage_exit(&r) == FAILED || r.status == 0); /* one is installed */
    stage_drop(&r);
}
END_TEST

/* The three files in one directory are a copy that works. */
START_TEST(parts_in_one_directory)
{
    struct ct_summary s;
    copy_launcher("flat", true, true);
    ck_assert(!rename("flat/.libs/libcutrace.so", "flat/libcutrace.so") && !rmdir("flat/.libs"));
    struct stage_run r =
        LAUNCH(.program = "flat/cutrace", .argv = {"-o", "x.bin", rig_actor(), "small", "20"});
    ck_assert_msg(r.status == 0, "%s", r.err);
    stage_profile(&s, "x.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 20);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* LD_PRELOAD cannot have such a path, or the loader another one for it; a link can stand for it. */
static const char *const places[] = {"a b:c", "a$LIB", "${ORIGIN}x"};

START_TEST(path_that_means_another)
{
    char program[100];
    snprintf(program, sizeof(program), "%s/cutrace", places[_i]);
    struct ct_summary s;
    static char tmp[1100];
    ck_assert(mkdir("tmp", 0777) == 0 && realpath("tmp", tmp + 7));
    memcpy(tmp, "TMPDIR=", 7);
    copy_launcher(places[_i], true, true);
    write_program("headless", "#!/nonexistent/interpreter\n");
    struct stage_run r = LAUNCH(.program = program, .argv = {"./headless"}, .env = {tmp});
    ck_assert_int_eq(stage_exit(&r), 127);
    stage_drop(&r);
    r = LAUNCH(.program = program, .argv = {"-o", "x.bin", "--", rig_actor(), "small", "20"},
               .env = {tmp});
    ck_assert_msg(r.status == 0, "%s", r.err);
    stage_profile(&s, "x.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 20);
    ct_summary_free(&s);
    stage_drop(&r);
    ck_assert_int_eq(rmdir("tmp"), 0); /* nothing is left there */
}
END_TEST

/* Of the report's own failures it speaks itself; one that is killed cannot. */
START_TEST(report_that_is_killed)
{
    copy_launcher("other", false, true);
    write_program("other/cutrace-report", "#!/bin/sh\nkill -9 $$\n");
    struct stage_run r = LAUNCH(.program = "other/cutrace", .argv = {rig_actor(), "small", "10"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.err, "the table could not be printed"));
    ck_assert(stage_exists("summary.bin"));
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("status");
    tcase_add_loop_test(t, status_is_the_programs, 0, sizeof(statuses) / sizeof(statuses[0]));
    tcase_add_loop_test(t, signal_is_the_programs, 0, sizeof(deadly) / sizeof(deadly[0]));
    tcase_add_test(t, cannot_be_run);
    tcase_add_test(t, scripts_are_run);
    tcase_add_test(t, runs_unprofiled);
    tcase_add_test(t, privileges_that_are_none);
    tcase_add_loop_test(t, wrong_command_line, 0, sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_loop_test(t, refused_option, 0, sizeof(never) / sizeof(never[0]));
    tcase_add_test(t, abbreviations);
    tcase_add_test(t, script_has_an_interpreter);
    tcase_add_test(t, force_overwrite);
    tcase_add_test(t, answers);
    tcase_add_test(t, messages_are_safe);
    tcase_add_loop_test(t, part_is_missing, 0, 2);
    tcase_add_loop_test(t, part_that_others_may_exchange, 0, 4);
    tcase_add_test(t, parts_in_one_directory);
    tcase_add_loop_test(t, path_that_means_another, 0, sizeof(places) / sizeof(places[0]));
    tcase_add_test(t, report_that_is_killed);
    return stage_main("launch_status", t);
}
