/* SPDX-License-Identifier: MIT */
/* Limits, full disks, broken pipes, sandboxes: one line at most, and the program is as without. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.h"

#define SKIPPED 77 /* the actor may not do what it was to do */
#define NOTICE                                                                                     \
    "CUTRACE_SAMPLE=wrong" /* there is something to say, in a thread of the program's              \
                            */

/* The same with and without cutrace, but for what we say. False: not possible here. */
static bool play(struct stage_run *r, struct stage_scene scene)
{
    unsigned n = 0;
    scene.bare = true;
    struct stage_run bare = stage_play(&scene);
    bool can = stage_exit(&bare) == 0;
    ck_assert_msg(can || stage_exit(&bare) == SKIPPED, "%.400s%.900s", bare.out, bare.err);
    scene.bare = false;
    while (scene.env[n])
        n++;
    scene.env[n] = "CUTRACE_PRINT=on";
    if (can) {
        *r = stage_play(&scene);
        ck_assert_str_eq(r->out, bare.out);
        ck_assert_msg(r->status == bare.status, "%x: %.900s", (unsigned)r->status, r->err);
        ck_assert_str_eq(bare.err, "");
    }
    stage_drop(&bare);
    return can;
}

static void check_profile(const char *path, uint64_t launches)
{
    struct ct_summary s;
    stage_profile(&s, path);
    CHECK_SUM(stage_kernel(&s, "worked"), launches);
    ct_summary_free(&s);
}

static void check_line(const struct stage_run *r, const char *words)
{
    ck_assert_msg(stage_said(r) == 1 && strstr(r->err, words), "%s: %.900s", words, r->err);
}

static bool has_table(const struct stage_run *r)
{
    return strstr(r->err, "GPU activities:") != NULL;
}

/* ---- signals ---- */

/* Which signals came, to whom, and what is pending is in the output that is compared. */
static const char *const quiet[] = {"small-files", "small-files-deadly", "few-threads-small-files",
                                    "broken-pipe", "full-pipe"};

START_TEST(no_signal_is_ours)
{
    struct stage_run r;
    if (play(&r, (struct stage_scene){.argv = {"scarce", quiet[_i]}, .env = {NOTICE}}))
        stage_drop(&r);
}
END_TEST

/* stderr itself is the file that may not grow. */
START_TEST(line_that_does_not_fit)
{
    static char script[3000];
    const char *const acts[] = {"small-files", "few-threads-small-files"};
    for (unsigned i = 0; i < 2; i++) {
        struct stage_run r;
        snprintf(script, sizeof(script), "exec 2>>err; exec %s scarce %s",
                 stage_path_of("tests/e2e/actor/actor"), acts[i]);
        FILE *f = fopen("err", "w");
        ck_assert(f && fprintf(f, "%0200d", 0) > 0 && fclose(f) == 0);
        if (play(&r, (struct stage_scene){
                         .program = "/bin/sh", .argv = {"-c", script}, .env = {NOTICE}}))
            stage_drop(&r);
    }
}
END_TEST

START_TEST(no_thread)
{
    struct stage_run r;
    if (!play(&r, (struct stage_scene){.argv = {"scarce", "few-threads"}}))
        return;
    ck_assert_msg(strstr(r.err, "no drain thread could be started") != NULL, "%.900s", r.err);
    ck_assert_uint_le(stage_said(&r), 2); /* no process for the table either */
    check_profile("summary.bin", 100);
    stage_drop(&r);
}
END_TEST

/* ---- stderr and descriptors ---- */

START_TEST(data_where_stderr_was)
{
    struct stage_run r;
    ck_assert(
        play(&r, (struct stage_scene){.argv = {"scarce", "data-on-stderr"}, .env = {NOTICE}}));
    char *data = stage_read("data");
    ck_assert_str_eq(data, "data\n");
    free(data);
    check_profile("summary.bin", 100);
    stage_drop(&r);
}
END_TEST

/* The whole table comes, however slowly it is read. */
START_TEST(stderr_that_does_not_block)
{
    struct stage_run r;
    ck_assert(play(&r, (struct stage_scene){.argv = {"scarce", "slow-pipe"}}));
    for (int i = 0; i < 500; i++) {
        char name[64];
        snprintf(name, sizeof(name), "needs_some_room_%d\n", i);
        ck_assert_msg(strstr(r.err, name) != NULL, "no %s in %.900s", name, r.err);
    }
    ck_assert_ptr_nonnull(strstr(r.err, "cuLaunchKernel\n"));
    stage_drop(&r);
}
END_TEST

static const char *const closings[] = {"close-all-first", "close-all-first-few", "close-all-later"};

/* The program's files get the numbers that they get without us, and hold what it wrote. */
START_TEST(closed_descriptors)
{
    struct stage_run r;
    if (!play(&r, (struct stage_scene){.argv = {"scarce", closings[_i]}, .env = {NOTICE}}))
        return;
    for (int i = 0; i < 3; i++) {
        char name[] = {'o', 'w', 'n', '-', (char)('0' + i), '\0'};
        char *own = stage_read(name);
        ck_assert_str_eq(own, "own\n");
        free(own);
    }
    if (_i < 2)
        check_profile("summary.bin", 100);
    stage_drop(&r);
}
END_TEST

/* ---- memory ---- */

/* From much too little for us to enough. */
static const char *const megabytes[] = {"1", "4", "16", "48", "400"};
static const char *const little[] = {"memory", "data"};

START_TEST(little_memory)
{
    for (unsigned i = 0; i < sizeof(megabytes) / sizeof(megabytes[0]); i++) {
        struct stage_run r;
        remove("summary.bin");
        if (!play(&r, (struct stage_scene){.argv = {"scarce", little[_i], megabytes[i]}}))
            return;
        ck_assert_msg(stage_said(&r) <= 2, "%s: %.900s", megabytes[i], r.err);
        stage_drop(&r);
    }
    check_profile("summary.bin", 100);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) /* they need memory themselves */
static const char *const later[] = {"memory-later", "data-later"};

START_TEST(memory_that_runs_out)
{
    static const char *const left[] = {"1", "2", "4"};
    for (unsigned i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        struct ct_summary s;
        struct stage_run r;
        if (!play(&r, (struct stage_scene){.argv = {"scarce", later[_i], left[i]}}))
            return;
        ck_assert_msg(stage_said(&r) <= 2, "%s: %.900s", left[i], r.err);
        struct ct_read_error error;
        memset(&s, 0, sizeof(s)); /* its histograms need not be whole */
        ck_assert_msg(ct_summary_read(&s, "summary.bin", &error) == 0, "%s", error.text);
        CHECK_SUM(stage_kernel(&s, "worked"), 100);
        bool has_all = s.process->flags & CT_PROCESS_FINISHED;
        ck_assert_msg(has_all || strstr(r.err, "no memory: the profile lacks"), "%.900s", r.err);
        ct_summary_free(&s);
        stage_drop(&r);
    }
}
END_TEST

/* Flags of mlockall(): MCL_CURRENT 1, MCL_FUTURE 2, MCL_ONFAULT 4. */
static const struct {
    const char *flags, *megabytes;
    bool records; /* with so little to lock */
} locks[] = {{"0", NULL, true}, {"2", NULL, true}, {"3", NULL, true},
             {"7", NULL, true}, {"2", "64", true}, {"2", "4", false}};

#define MOST_LOCKED_KIB 40960 /* of five contexts, a thread of the program's and ours */
#define MOST_CHARGED_KIB 65536

static unsigned long figure(const struct stage_run *r, const char *word)
{
    const char *p = strstr(r->err, word);
    ck_assert_msg(p != NULL, "%.900s", r->err);
    return strtoul(p + strlen(word), NULL, 10);
}

START_TEST(memory_is_locked)
{
    struct stage_scene scene = {.argv = {"scarce", "locked", locks[_i].flags, locks[_i].megabytes},
                                .bare = true};
    struct stage_run bare = stage_play(&scene);
    if (stage_exit(&bare) == SKIPPED)
        return;
    scene.bare = false;
    struct stage_run r = stage_play(&scene);
    ck_assert_int_eq(bare.status, 0);
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, bare.out);
    ck_assert_uint_le(figure(&r, "locked "), figure(&bare, "locked ") + MOST_LOCKED_KIB);
    ck_assert_uint_le(figure(&r, "charged "), figure(&bare, "charged ") + MOST_CHARGED_KIB);
    if (locks[_i].records)
        check_profile("summary.bin", 104);
    else
        ck_assert_msg(strstr(r.err, "not recording: no memory") != NULL, "%.900s", r.err);
    stage_drop(&bare);
    stage_drop(&r);
}
END_TEST
#endif

/* The report cannot live with it, and leaves nothing behind. */
START_TEST(little_stack)
{
    struct stage_run r;
    if (!play(&r, (struct stage_scene){.argv = {"scarce", "stack"}}))
        return;
    ck_assert_uint_le(stage_said(&r), 1);
    ck_assert_int_ne(system("ls | grep core"), 0);
    check_profile("summary.bin", 100);
    stage_drop(&r);
}
END_TEST

START_TEST(environment_that_has_gone)
{
    struct stage_run r;
    ck_assert(play(&r, (struct stage_scene){.argv = {"scarce", "no-environment"}}));
    ck_assert(has_table(&r));
    stage_drop(&r);
}
END_TEST

/* ---- the disk ---- */

static void write_word(const char *path, const char *word)
{
    int fd = open(path, O_WRONLY);
    if (fd >= 0 && write(fd, word, strlen(word)) < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
}

/* A small disk of this process's own; false: that is not allowed here. */
static bool mount_disk(void)
{
    char map[64];
    snprintf(map, sizeof(map), "0 %u 1", (unsigned)geteuid());
    if (unshare(CLONE_NEWNS)) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
            return false;
        write_word("/proc/self/uid_map", map);
    }
    return mkdir("disk", 0777) == 0 && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
           !mount("none", "disk", "tmpfs", 0, "size=64k");
}

/* The directory of the scene can be removed then. */
static void unmount_disk(void)
{
    ck_assert_int_eq(umount2("disk", MNT_DETACH), 0);
}

static void empty_disk(void)
{
    ck_assert_int_eq(system("rm -f disk/*"), 0);
}

/* The commit before stays in the file; the table has all. */
START_TEST(disk_that_fills_up)
{
    struct stage_run r;
    ct_skip_if(!mount_disk(), "no file system may be mounted here");
    struct stage_scene scene = {.argv = {"scarce", "fill", "disk"},
                                .env = {"CUTRACE_OUTPUT=disk/x.bin"}};
    scene.bare = true;
    r = stage_play(&scene);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_drop(&r);
    empty_disk();
    scene.bare = false;
    scene.env[1] = "CUTRACE_PRINT=on";
    r = stage_play(&scene);
    ck_assert_str_eq(r.out, "filled: errno 28\nscarce fill: done\n");
    ck_assert_int_eq(r.status, 0);
    check_line(&r, "disk/x.bin: no space left");
    ck_assert_ptr_nonnull(strstr(r.err, "a_kernel_whose_name_needs_some_room_499"));
    check_profile("disk/x.bin", 50);
    stage_drop(&r);
    unmount_disk();
}
END_TEST

START_TEST(disk_that_is_full)
{
    ct_skip_if(!mount_disk(), "no file system may be mounted here");
    struct stage_run r = PLAY(.argv = {"scarce", "fill-first", "disk"},
                              .env = {"CUTRACE_OUTPUT=disk/x.bin", "CUTRACE_PRINT=on"});
    ck_assert_str_eq(r.out, "filled: errno 28\nscarce fill-first: done\n");
    ck_assert_int_eq(r.status, 0);
    check_line(&r, "disk/x.bin: no space left");
    ck_assert(has_table(&r));
    stage_drop(&r);
    unmount_disk();
}
END_TEST

START_TEST(output_that_goes_away)
{
    ck_assert_int_eq(mkdir("out", 0777), 0);
    struct stage_run r =
        PLAY(.argv = {"scarce", "remove"}, .env = {"CUTRACE_OUTPUT=out/x.bin", "CUTRACE_PRINT=on"});
    ck_assert_str_eq(r.out, "remove: 0 0\nthere: -1\nscarce remove: done\n");
    ck_assert_int_eq(r.status, 0);
    check_line(&r, "out/x.bin: it was removed");
    ck_assert(has_table(&r));
    ck_assert_ptr_null(strstr(r.err, "Generated result file"));
    stage_drop(&r);
}
END_TEST

/* It cannot be read any more, and that is said, not that it is there. */
START_TEST(output_that_is_cut)
{
    const char *trace = _i ? "CUTRACE_TRACE=1" : NULL;
    struct stage_run r =
        PLAY(.argv = {"scarce", "cut"}, .env = {"CUTRACE_OUTPUT=x.bin", "CUTRACE_PRINT=on", trace});
    ck_assert_str_eq(r.out, "cut: 0\nscarce cut: done\n");
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.err, "x.bin: it was made shorter"));
    ck_assert(!trace || strstr(r.err, "x.trace: it was made shorter"));
    ck_assert_uint_eq(stage_said(&r), trace ? 2 : 1);
    ck_assert_ptr_nonnull(strstr(r.err, "100 operations: "));
    ck_assert_ptr_null(strstr(r.err, "Generated result file"));
    stage_drop(&r);
}
END_TEST

START_TEST(output_that_becomes_read_only)
{
    ck_assert_int_eq(mkdir("out", 0777), 0);
    struct stage_run r = PLAY(.argv = {"scarce", "protect"}, .env = {"CUTRACE_OUTPUT=out/x.bin"});
    ck_assert_str_eq(r.out, "protect: 0 0\nscarce protect: done\n");
    ck_assert_str_eq(r.err, "");
    check_profile("out/x.bin", 100);
    ck_assert_int_eq(chmod("out", 0700), 0);
    stage_drop(&r);
}
END_TEST

/* ---- sandboxes ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which open files at exit */
/* said: lines, at most; launches: in the file */
static const struct {
    const char *act;
    unsigned said;
    uint64_t launches;
} sandboxes[] = {
    {"refuse", 3, 50}, /* no file any more, no memory, and no table */
    {"kill-on-exec", 1, 100},
    {"kill-on-open", 1, 150},
};

/* Also without exit handlers: then no line is said of the table. */
START_TEST(sandbox)
{
    static const char *const ends[] = {NULL, "_exit"};
    for (unsigned i = 0; i < 2; i++) {
        struct stage_run r;
        remove("summary.bin");
        if (!play(&r, (struct stage_scene){.argv = {"scarce", sandboxes[_i].act, ends[i]}}))
            return;
        ck_assert_msg(stage_said(&r) <= sandboxes[_i].said - i, "%u: %.900s", i, r.err);
        ck_assert(!has_table(&r));
        check_profile("summary.bin", sandboxes[_i].launches);
        stage_drop(&r);
    }
}
END_TEST

/* Calls that the library would make, and that end the process. */
static const long deadly[] = {
    SYS_socket,          SYS_fcntl,        SYS_flock,          SYS_ftruncate, SYS_clone,
    SYS_clone3,          SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_pwrite64,  SYS_prctl,
    SYS_uname,           SYS_getcwd,       SYS_rt_sigpending,  SYS_geteuid,   SYS_getppid,
    SYS_rt_sigtimedwait, SYS_wait4,        SYS_memfd_create,   SYS_getrandom, SYS_getresuid,
};

/* Twice, as the second one finds the profile of the first. */
START_TEST(filter_from_before_the_start)
{
    char number[24];
    const char *actor = stage_path_of("tests/e2e/actor/actor");
    snprintf(number, sizeof(number), "%ld", deadly[_i]);
    struct stage_scene scene = {.argv = {"as-filtered", number, actor, "small", "10"},
                                .bare = true};
    struct stage_run bare = stage_play(&scene);
    for (int i = 0; stage_exit(&bare) == 0 && i < 2; i++) {
        struct stage_run r = PLAY(.program = "/bin/sh",
                                  .argv = {"-c", "unset CUTRACE_PRINT; exec \"$0\" \"$@\"", actor,
                                           "as-filtered", number, actor, "small", "10"});
        ck_assert_msg(r.status == 0, "call %ld: %x %s", deadly[_i], (unsigned)r.status, r.err);
        ck_assert_str_eq(r.out, bare.out);
        ck_assert_msg(strstr(r.err, "no table, as CUDA was started under a filter"), "%s", r.err);
        ck_assert_uint_eq(stage_profiles(), 1);
        struct ct_summary s;
        stage_profile(&s, "summary.bin");
        CHECK_TIMED(stage_kernel(&s, "alpha"), 10);
        ck_assert_uint_eq(s.process->flags, CT_PROCESS_FINISHED);
        ct_summary_free(&s);
        stage_drop(&r);
    }
    stage_drop(&bare);
}
END_TEST

/* A filter that a thread has put on itself alone: what /proc/self tells is another one's. */
static const struct {
    const char *act, *end;
    const char *said;
} own_filters[] = {
    {"end-confined", NULL, "no table, as the program may not start others"},
    {"end-confined", "_exit", NULL},
    {"begin-confined", NULL, "no table, as CUDA was started under a filter"},
    {"begin-confined", "_exit", NULL},
};

START_TEST(filter_of_one_thread)
{
    struct stage_run r;
    const char *act = own_filters[_i].act, *said = own_filters[_i].said;
    if (!play(&r, (struct stage_scene){.program = "/bin/sh",
                                       .argv = {"-c", "unset CUTRACE_PRINT; exec \"$0\" \"$@\"",
                                                stage_path_of("tests/e2e/actor/actor"), "scarce",
                                                act, own_filters[_i].end}}))
        return;
    ck_assert_msg(!said || strstr(r.err, said), "%s: %.900s", act, r.err);
    ck_assert(!has_table(&r));
    check_profile("summary.bin", 100);
    stage_drop(&r);
}
END_TEST

/* Nothing is deadly here, and the table is asked for. */
START_TEST(filter_and_what_is_asked_for)
{
    const char *actor = stage_path_of("tests/e2e/actor/actor");
    struct stage_run r =
        PLAY(.argv = {"as-filtered", "100000", actor, "small", "10"}, .env = {"CUTRACE_PRINT=on"});
    if (stage_exit(&r) != SKIPPED)
        ck_assert_msg(r.status == 0 && has_table(&r), "%s", r.err);
    stage_drop(&r);
}
END_TEST
#endif

int main(void)
{
    TCase *t = tcase_create("limits, disks, sandboxes");
    tcase_add_loop_test(t, no_signal_is_ours, 0, sizeof(quiet) / sizeof(quiet[0]));
    tcase_add_test(t, line_that_does_not_fit);
    tcase_add_test(t, no_thread);
    tcase_add_test(t, data_where_stderr_was);
    tcase_add_test(t, stderr_that_does_not_block);
    tcase_add_loop_test(t, closed_descriptors, 0, sizeof(closings) / sizeof(closings[0]));
    if (!CT_CHECKS_THREADS) {
        tcase_add_loop_test(t, little_memory, 0, 2);
        tcase_add_test(t, little_stack);
    }
    tcase_add_test(t, environment_that_has_gone);
    tcase_add_test(t, disk_that_fills_up);
    tcase_add_test(t, disk_that_is_full);
    tcase_add_test(t, output_that_goes_away);
    tcase_add_loop_test(t, output_that_is_cut, 0, 2);
    tcase_add_test(t, output_that_becomes_read_only);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_loop_test(t, memory_that_runs_out, 0, 2);
    tcase_add_loop_test(t, memory_is_locked, 0, sizeof(locks) / sizeof(locks[0]));
    tcase_add_loop_test(t, sandbox, 0, sizeof(sandboxes) / sizeof(sandboxes[0]));
    tcase_add_loop_test(t, filter_from_before_the_start, 0, sizeof(deadly) / sizeof(deadly[0]));
    tcase_add_test(t, filter_and_what_is_asked_for);
    tcase_add_loop_test(t, filter_of_one_thread, 0, sizeof(own_filters) / sizeof(own_filters[0]));
#endif
    return stage_main("life_scarce", t);
}
