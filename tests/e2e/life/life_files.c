/* SPDX-License-Identifier: MIT */
/* Output files: what somebody put where the profile is to go stays as it is, and the program too.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cutrace/run.h"
#include "drain/journal.h"
#include "stage.h"

#define POEM "a poem that is nobody's profile\n"
#define STRANGER 12345 /* a user who is nobody here */

static void write_file(const char *path, const char *text)
{
    static const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
}

static void check_text(const char *path, const char *text)
{
    char *found = stage_read(path);
    ck_assert_str_eq(found, text);
    free(found);
}

/* A profile with all of the part "small 10". */
static void check_small(const char *path)
{
    struct ct_summary s;
    stage_profile(&s, path);
    CHECK_TIMED(stage_kernel(&s, "alpha"), 10);
    ck_assert_uint_eq(s.process->flags, CT_PROCESS_FINISHED);
    ct_summary_free(&s);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISREG(st.st_mode));
    return st.st_mode & 07777;
}

/* ---- the mode ---- */

START_TEST(the_umask_decides)
{
    static const struct {
        mode_t umask, mode;
    } cases[] = {{077, 0600}, {022, 0644}, {0, 0666}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mode_t before = umask(cases[i].umask);
        struct stage_run r = PLAY(.argv = {"small", "10"});
        umask(before);
        check_small("summary.bin");
        ck_assert_uint_eq(mode_of("summary.bin"), cases[i].mode);
        ck_assert_int_eq(unlink("summary.bin"), 0);
        stage_drop(&r);
    }
}
END_TEST

START_TEST(a_file_that_is_there_keeps_its_mode)
{
    write_file("summary.bin", "");
    ck_assert_int_eq(chmod("summary.bin", 0640), 0);
    for (int i = 0; i < 2; i++) { /* empty at first, then a profile */
        struct stage_run r = PLAY(.argv = {"small", "10"});
        ck_assert_str_eq(r.err, "");
        check_small("summary.bin");
        ck_assert_uint_eq(mode_of("summary.bin"), 0640);
        stage_drop(&r);
    }
}
END_TEST

/* ---- what is in the way ---- */

static void put_link(void)
{
    write_file("victim", POEM);
    ck_assert_int_eq(symlink("victim", "out"), 0);
}

static void put_link_to_nothing(void)
{
    write_file("victim", POEM);
    ck_assert_int_eq(symlink("made", "out"), 0);
}

static void put_foreign_file(void)
{
    write_file("victim", POEM);
    write_file("out", POEM);
}

static void put_hard_link(void)
{
    write_file("victim", POEM);
    ck_assert_int_eq(link("victim", "out"), 0);
}

static void put_pipe(void)
{
    write_file("victim", POEM);
    ck_assert_int_eq(mkfifo("out", 0666), 0);
}

static void put_directory(void)
{
    write_file("victim", POEM);
    ck_assert_int_eq(mkdir("out", 0777), 0);
}

static void put_socket(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "out"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    close(fd);
    write_file("victim", POEM);
}

static void put_device(void)
{
    write_file("victim", POEM);
    if (mknod("out", S_IFCHR | 0666, 1 << 8 | 7)) /* that of /dev/full */
        ck_assert_int_eq(mkfifo("out", 0666), 0);
}

static const struct {
    void (*put)(void);
    const char *words;
    bool forced; /* CUTRACE_FORCE=1 overwrites it */
} obstacles[] = {
    {put_link, ": it is a symbolic link", false},
    {put_link_to_nothing, ": it is a symbolic link", false},
    {put_foreign_file, ": something else is there (CUTRACE_FORCE=1 overwrites)", true},
    {put_hard_link, ": it has other names", true},
    {put_pipe, ": it is no regular file", false},
    {put_directory, ": it is no regular file", false},
    {put_socket, ": it is no regular file", false},
    {put_device, ": it is no regular file", false},
};

/* One line, nothing touched, nothing waited for; the program runs as ever, and the table is there.
 */
static void check_refusal(const char *output, const char *force, const char *words)
{
    struct stat before = {0}, after = {0};
    lstat("out", &before);
    struct stage_run r =
        PLAY(.argv = {"small", "10"}, .env = {output, force, "CUTRACE_PRINT=on"}, .timeout_s = 20);
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "small: 10 launches, last byte 9\n");
    ck_assert_msg(stage_said(&r) == 1 && strstr(r.err, words), "%s: %.900s", words, r.err);
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    ck_assert_ptr_null(strstr(r.err, "Generated result file"));
    lstat("out", &after);
    ck_assert_int_eq(memcmp(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim)), 0);
    ck_assert(before.st_ino == after.st_ino && before.st_mode == after.st_mode);
    check_text("victim", POEM);
    ck_assert(!stage_exists("made"));
    stage_drop(&r);
}

START_TEST(obstacle)
{
    obstacles[_i].put();
    check_refusal("CUTRACE_OUTPUT=out", "CUTRACE_FORCE=0", obstacles[_i].words);
    if (!obstacles[_i].forced) {
        check_refusal("CUTRACE_OUTPUT=out", "CUTRACE_FORCE=1", obstacles[_i].words);
        return;
    }
    struct stage_run r =
        PLAY(.argv = {"small", "10"}, .env = {"CUTRACE_OUTPUT=out", "CUTRACE_FORCE=1"});
    ck_assert_str_eq(r.err, "");
    check_small("out");
    stage_drop(&r);
}
END_TEST

/* As a directory's name is often written; one that is not there is another matter. */
START_TEST(directory_with_a_slash)
{
    put_directory();
    check_refusal("CUTRACE_OUTPUT=out/", "CUTRACE_FORCE=0", "/out/: it is no regular file");
    check_refusal("CUTRACE_OUTPUT=none/", "CUTRACE_FORCE=0", "/none/: no such directory");
}
END_TEST

START_TEST(hard_link_to_a_profile)
{
    struct stage_run r = PLAY(.argv = {"small", "10"}, .env = {"CUTRACE_OUTPUT=kept"});
    stage_drop(&r);
    ck_assert_int_eq(link("kept", "out"), 0);
    write_file("victim", POEM);
    check_refusal("CUTRACE_OUTPUT=out", "CUTRACE_FORCE=0", ": it has other names");
    check_small("kept");
}
END_TEST

/* Whoever waits at the other end of a pipe still waits. */
START_TEST(pipe_with_a_reader)
{
    ck_assert_int_eq(mkfifo("out", 0666), 0);
    write_file("victim", POEM);
    pid_t reader = fork();
    if (!reader)
        _exit(open("out", O_RDONLY) >= 0);
    ck_assert_int_eq(ct_case_wait_state(reader), 'S');
    check_refusal("CUTRACE_OUTPUT=out", "CUTRACE_FORCE=1", ": it is no regular file");
    ck_assert_int_eq(ct_case_wait_state(reader), 'S');
    kill(reader, SIGKILL);
    ck_assert_int_eq(waitpid(reader, NULL, 0), reader);
}
END_TEST

/* ---- directories where everybody may put files ---- */

static void make_shared(void)
{
    write_file("victim", POEM);
    ck_assert_int_eq(mkdir("shared", 0777), 0);
    ck_assert_int_eq(chmod("shared", 01777), 0);
    ck_assert_int_eq(mkdir("home", 0777), 0);
    ck_assert_int_eq(symlink("../home", "shared/way"), 0);
}

START_TEST(own_links_are_followed)
{
    make_shared();
    ck_assert_int_eq(symlink("shared/../shared/way", "path"), 0);
    struct stage_run r = PLAY(.argv = {"small", "10"}, .env = {"CUTRACE_OUTPUT=path//./x.bin"});
    ck_assert_str_eq(r.err, "");
    check_small("home/x.bin");
    stage_drop(&r);
}
END_TEST

START_TEST(planted_links_are_not)
{
    make_shared();
    ct_skip_if(lchown("shared/way", STRANGER, STRANGER), "only root can give files away");
    check_refusal("CUTRACE_OUTPUT=shared/way/x.bin", "CUTRACE_FORCE=1", ": it is a symbolic link");
    check_refusal("CUTRACE_OUTPUT=shared/way/../x", "CUTRACE_FORCE=1", ": it is a symbolic link");
    ck_assert(!stage_exists("home/x.bin"));
    ck_assert_int_eq(symlink("../victim", "shared/out"), 0);
    check_refusal("CUTRACE_OUTPUT=shared/out", "CUTRACE_FORCE=1", ": it is a symbolic link");
}
END_TEST

START_TEST(strangers_files_are_kept)
{
    make_shared();
    write_file("shared/out", "");
    ct_skip_if(chown("shared/out", STRANGER, STRANGER) || chmod("shared/out", 0666),
               "only root can give files away");
    check_refusal("CUTRACE_OUTPUT=shared/out", "CUTRACE_FORCE=1",
                  ": another user has put it there");
    check_text("shared/out", "");
}
END_TEST

/* ---- names with the pid in them ---- */

/* Puts a link where this very process will write, then becomes the actor. */
static struct stage_run play_planted(const char *name, const char *variable)
{
    static char script[3000];
    snprintf(script, sizeof(script), "ln -s victim %s; exec %s small 10", name,
             stage_path_of("tests/e2e/actor/actor"));
    struct stage_run r = PLAY(.program = "/bin/sh", .argv = {"-c", script}, .env = {variable});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "small: 10 launches, last byte 9\n");
    check_text("victim", POEM);
    return r;
}

START_TEST(pattern_of_the_pid)
{
    write_file("victim", POEM);
    struct stage_run r = play_planted("a.$$.bin", "CUTRACE_OUTPUT=a.%p.bin");
    ck_assert_msg(stage_said(&r) == 1 && strstr(r.err, "it is a symbolic link"), "%s", r.err);
    stage_drop(&r);
}
END_TEST

/* A lock of the description, as the profile's is. */
static bool lock(int fd, short type)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET};
    return !fcntl(fd, F_OFD_SETLK, &l);
}

/* The file of the run is being written: this one would get a name with its pid. */
START_TEST(added_pid)
{
    write_file("victim", POEM);
    write_file("summary.bin", "");
    int fd = open("summary.bin", O_RDWR | O_CLOEXEC);
    ck_assert(fd >= 0 && lock(fd, F_WRLCK));
    struct stage_run r = play_planted("summary.$$.bin", "CUTRACE_FORCE=1");
    ck_assert_msg(stage_said(&r) == 1 && strstr(r.err, "it is a symbolic link"), "%s", r.err);
    check_text("summary.bin", "");
    close(fd);
    stage_drop(&r);
}
END_TEST

/* Who may read the profile of the last run cannot keep this run from its name, nor see more of it.
 */
START_TEST(reader_with_a_lock)
{
    stage_drop(&(struct stage_run[]){PLAY(.argv = {"small", "10"})}[0]);
    ck_assert_int_eq(chmod("summary.bin", 0640), 0);
    int fd = open("summary.bin", O_RDONLY | O_CLOEXEC);
    ck_assert(fd >= 0 && (_i ? lock(fd, F_RDLCK) : flock(fd, LOCK_EX) == 0));
    struct stage_run r = PLAY(.argv = {"small", "10"});
    ck_assert_uint_eq(stage_said(&r), 0);
    ck_assert_uint_eq(stage_profiles(), 1);
    check_small("summary.bin");
    ck_assert_uint_eq(mode_of("summary.bin"), 0640);
    close(fd);
    stage_drop(&r);
}
END_TEST

/* The clock of whoever keeps the files: two runs, and two processes of one run. */
START_TEST(file_of_another_clock)
{
    static const char *const touch[] = {"touch -d '+1 hour' summary.bin",
                                        "touch -d '-1 hour' summary.bin"};
    char script[3000];
    stage_drop(&(struct stage_run[]){PLAY(.argv = {"small", "10"})}[0]);
    ck_assert_int_eq(system(touch[_i]), 0);
    struct stage_run r = PLAY(.argv = {"small", "10"});
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_drop(&r);
    const char *actor = stage_path_of("tests/e2e/actor/actor");
    snprintf(script, sizeof(script), "%s small 10; %s; %s small 10", actor, touch[_i], actor);
    r = PLAY(.program = "/bin/sh", .argv = {"-c", script});
    ck_assert_uint_eq(stage_profiles(), 2);
    check_small("summary.bin");
    stage_drop(&r);
}
END_TEST

/* Made shorter and longer all the time while processes look for a name in it. */
START_TEST(launchers_list_that_shrinks)
{
    static char list[1100] = "CUTRACE_RUN=";
    char script[3000];
    write_file("list", CT_RUN_MAGIC);
    ck_assert_ptr_nonnull(realpath("list", list + 12));
    stage_drop(&(struct stage_run[]){PLAY(.argv = {"small", "10"})}[0]);
    snprintf(script, sizeof(script),
             "(while [ -e list ]; do truncate -s 60M list; sleep .01; truncate -s 64 list; done) & "
             "for i in 1 2 3 4 5 6; do %s small 10 >/dev/null || echo status $?; done; rm list",
             stage_path_of("tests/e2e/actor/actor"));
    struct stage_run r = PLAY(.program = "/bin/sh", .argv = {"-c", script}, .env = {list});
    ck_assert_str_eq(r.out, "");
    stage_drop(&r);
}
END_TEST

/* The name is behind as many others as there are in several pieces. */
START_TEST(launchers_list_that_is_long)
{
    static char list[1100] = "CUTRACE_RUN=";
    char path[1100];
    stage_drop(&(struct stage_run[]){PLAY(.argv = {"small", "10"})}[0]);
    ck_assert_ptr_nonnull(realpath("summary.bin", path));
    write_file("list", CT_RUN_MAGIC);
    FILE *f = fopen("list", "a");
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < 200; i++)
        fprintf(f, "F %d%c%s.wanted%c%s.%d%c", i, 0, path, 0, path, i, 0);
    if (_i)
        fprintf(f, "F 1%c%s.wanted%c%s%c", 0, path, 0, path, 0);
    fclose(f);
    ck_assert_ptr_nonnull(realpath("list", list + 12));
    struct stage_run r = PLAY(.argv = {"small", "10"}, .env = {list});
    ck_assert_uint_eq(stage_profiles(), 1 + (unsigned)_i);
    stage_drop(&r);
}
END_TEST

/* A journal has no mark of its own: nothing that is there is taken for one. */
START_TEST(journals)
{
    static const char *const commands[] = {"ln -s victim", "ln victim", "mkfifo", "cp victim"};
    write_file("victim", POEM);
    for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        char script[3000];
        snprintf(script, sizeof(script), "%s b.$$; exec %s small 10", commands[i],
                 stage_path_of("tests/e2e/actor/actor"));
        struct stage_run r = PLAY(.program = "/bin/sh", .argv = {"-c", script},
                                  .env = {"CUTRACE_BRACKETS=b"}, .timeout_s = 20);
        ck_assert_int_eq(r.status, 0);
        ck_assert_msg(stage_said(&r) == 1 && strstr(r.err, "cannot write CUTRACE_BRACKETS=b"), "%s",
                      r.err);
        check_text("victim", POEM);
        check_small("summary.bin");
        stage_drop(&r);
    }
}
END_TEST

/* What a kernel takes of a multiprocessor and of the front end is part of its bracket. */
START_TEST(journal_of_kernels)
{
    struct ct_journal_entry e;
    char path[64];
    unsigned kernels = 0, others = 0;
    struct stage_run r = PLAY(.program = "/bin/sh",
                              .argv = {"-c", "echo $$ >pid; exec \"$0\" small 10",
                                       stage_path_of("tests/e2e/actor/actor")},
                              .env = {"CUTRACE_BRACKETS=b"}, .timeout_s = 20);
    ck_assert_int_eq(r.status, 0);
    char *pid = stage_read("pid");
    snprintf(path, sizeof(path), "b.%d", atoi(pid));
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fread(&e, sizeof(e), 1, f) == 1) {
        ck_assert_uint_eq(e.parameter_bytes, e.block_registers ? 12 : 0);
        ck_assert_uint_eq(e.block_registers % 32, 0);
        *(e.block_registers ? &kernels : &others) += 1;
    }
    ck_assert(feof(f));
    fclose(f);
    ck_assert_uint_eq(kernels, 15);
    ck_assert_uint_eq(others, 20);
    free(pid);
    stage_drop(&r);
}
END_TEST

/* ---- while it is written ---- */

START_TEST(swapped_for_a_link)
{
    struct ct_summary s;
    write_file("victim", POEM);
    struct stage_run r = PLAY(.argv = {"files", "swap"}, .env = {"CUTRACE_PRINT=on"});
    ck_assert_str_eq(r.out, "files swap: done\n");
    check_text("victim", POEM);
    stage_profile(&s, "moved");
    CHECK_SUM(stage_kernel(&s, "worked"), 100);
    ck_assert_uint_eq(s.process->flags, CT_PROCESS_FINISHED);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- what is said about names ---- */

#define HOSTILE "\033]0;title\a\033[31m\302\233\342\200\256\377\r\n==1== "

static void check_shown(const char *text)
{
    for (const char *p = text; *p; p++)
        ct_assert_msg((*p >= 0x20 && *p != 0x7f) || *p == '\n', "byte %d in: %s", *p, text);
    ck_assert_ptr_null(strstr(text, "\n==1=="));
}

START_TEST(names_in_notices)
{
    static const char *const variables[] = {
        "CUTRACE_OUTPUT=/nonexistent/" HOSTILE,
        "CUTRACE_OUTPUT=%z" HOSTILE,
        "CUTRACE_SAMPLE=" HOSTILE,
        "CUTRACE_BRACKETS=/nonexistent/" HOSTILE,
        "CUTRACE_OUTPUT=" HOSTILE,
    };
    for (unsigned i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        struct stage_run r = PLAY(.argv = {"small", "10", HOSTILE},
                                  .env = {variables[i], "CUTRACE_PRINT=on", "CUTRACE_LOG=2"});
        ck_assert_int_eq(r.status, 0);
        check_shown(r.err);
        ck_assert_msg(strstr(r.err, "\\x1b]0;title\\x07") != NULL, "%u: %s", i, r.err);
        ck_assert_ptr_nonnull(strstr(r.err, "\\xe2\\x80\\xae\\xff\\x0d\\x0a==1== "));
        stage_drop(&r);
    }
}
END_TEST

/* What is wrong with a path stays in sight however long it is. */
START_TEST(long_names_in_notices)
{
    static char variable[3000] = "CUTRACE_OUTPUT=/nonexistent/";
    while (strlen(variable) < sizeof(variable) - 10)
        strcat(variable, "\033/long/");
    struct stage_run r = PLAY(.argv = {"small", "10"}, .env = {variable});
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "...: no such directory\n"));
    check_shown(r.err);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("files");
    tcase_add_test(t, the_umask_decides);
    tcase_add_test(t, a_file_that_is_there_keeps_its_mode);
    tcase_add_loop_test(t, obstacle, 0, sizeof(obstacles) / sizeof(obstacles[0]));
    tcase_add_test(t, directory_with_a_slash);
    tcase_add_test(t, hard_link_to_a_profile);
    tcase_add_test(t, pipe_with_a_reader);
    tcase_add_test(t, own_links_are_followed);
    tcase_add_test(t, planted_links_are_not);
    tcase_add_test(t, strangers_files_are_kept);
    tcase_add_test(t, pattern_of_the_pid);
    tcase_add_test(t, added_pid);
    tcase_add_loop_test(t, reader_with_a_lock, 0, 2);
    tcase_add_loop_test(t, file_of_another_clock, 0, 2);
    tcase_add_test(t, launchers_list_that_shrinks);
    tcase_add_loop_test(t, launchers_list_that_is_long, 0, 2);
    tcase_add_test(t, journals);
    tcase_add_test(t, journal_of_kernels);
    tcase_add_test(t, swapped_for_a_link);
    tcase_add_test(t, names_in_notices);
    tcase_add_test(t, long_names_in_notices);
    return stage_main("life_files", t);
}
