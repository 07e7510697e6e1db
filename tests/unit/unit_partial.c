/* SPDX-License-Identifier: MIT */
/* A file that gets its name when it is whole, and is not there when that does not happen. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "report/files/atomic_replace.h"
#include "report/files/tmpfile.h"
#include "report/report_options.h"
#include "report/reports.h"
#include "system/parent.h"

#define PATH "partial.out"

static char part[64]; /* what it was called meanwhile */

static void clean(void)
{
    unlink(PATH);
    unlink(part);
}

static void make(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void check_content(const char *text)
{
    char found[16] = "";
    FILE *f = fopen(PATH, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(found, sizeof(found), f));
    fclose(f);
    ck_assert_str_eq(found, text);
}

static void begin(void)
{
    make(PATH, "old");
    snprintf(part, sizeof(part), "%s", ct_partial_begin(PATH));
    make(part, "new");
}

START_TEST(it_is_there_when_it_is_whole)
{
    begin();
    check_content("old");
    ck_assert(ct_partial_keep(PATH));
    check_content("new");
    ck_assert_int_ne(access(part, F_OK), 0);
}
END_TEST

START_TEST(it_is_gone_when_it_is_not)
{
    begin();
    errno = ENOSPC;
    ct_partial_drop();
    ck_assert_int_eq(errno, ENOSPC);
    check_content("old");
    ck_assert_int_ne(access(part, F_OK), 0);
}
END_TEST

START_TEST(a_name_that_cannot_be_given)
{
    begin();
    ck_assert(!ct_partial_keep("/dev/null/none"));
    ck_assert_int_eq(errno, ENOTDIR);
    ck_assert_int_ne(access(part, F_OK), 0);
}
END_TEST

static bool part_is_there(pid_t of)
{
    char pattern[64];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s.%ld.*.part", PATH, (long)of);
    bool there = !glob(pattern, 0, NULL, &found);
    globfree(&found);
    return there;
}

/* A child's, which gets a signal before it keeps the file: how it ended. */
static int interrupt(int number)
{
    int status;
    pid_t child = fork();
    if (!child) {
        begin();
        raise(number);
        _exit(ct_partial_keep(PATH) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(!part_is_there(child));
    return status;
}

START_TEST(a_signal_removes_it_and_ends_the_program)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    signal(signals[_i], SIG_DFL); /* who started the tests may have it ignored */
    int status = interrupt(signals[_i]);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), signals[_i]);
    check_content("old");
}
END_TEST

/* As nohup does. */
START_TEST(an_ignored_signal_stays_so)
{
    signal(SIGHUP, SIG_IGN);
    ck_assert_int_eq(interrupt(SIGHUP), 0);
    check_content("new");
}
END_TEST

START_TEST(its_name_cannot_be_guessed)
{
    char first[64];
    begin();
    snprintf(first, sizeof(first), "%s", part);
    ct_partial_drop();
    begin();
    ck_assert_str_ne(first, part);
    ct_partial_drop();
}
END_TEST

#define STRANGER 12345 /* a user who is nobody here */

/* In a directory for all: what another user put there, and what this one did. */
START_TEST(what_a_stranger_planted)
{
    struct stat st;
    ct_skip_if(geteuid(), "only root can give files away");
    ck_assert(!system("rm -rf all; mkdir -m 1777 all; echo old >all/file; echo old >all/mine; "
                      "ln -s ../secret all/link; ln -s ../reached all/mylink"));
    ck_assert(!lchown("all/file", STRANGER, STRANGER) && !lchown("all/link", STRANGER, STRANGER));
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    ck_assert(ct_parent_open_file("all/file", flags, 0666) == -1 && errno == EACCES);
    ck_assert(ct_parent_open_file("all/link", flags, 0666) == -1 && errno == ELOOP);
    ck_assert(stat("secret", &st) == -1 && !stat("all/file", &st) && st.st_size == 4);
    ck_assert_int_ge(ct_parent_open_file("all/mine", flags, 0666), 0);
    ck_assert_int_ge(ct_parent_open_file("all/mylink", flags, 0666), 0);
    ck_assert_int_ge(ct_parent_open_file("all/new", flags, 0666), 0);
    ck_assert(!stat("reached", &st) && !stat("all/new", &st) && !stat("all/mine", &st));
    ck_assert_int_eq(st.st_size, 0);
    ck_assert(!system("rm -rf all reached"));
}
END_TEST

/* Afterwards signals do what they did before. */
START_TEST(handlers_are_given_back)
{
    struct sigaction before, now;
    ck_assert_int_eq(sigaction(SIGTERM, NULL, &before), 0);
    begin();
    ck_assert(ct_partial_keep(PATH));
    ck_assert_int_eq(sigaction(SIGTERM, NULL, &now), 0);
    ck_assert(now.sa_handler == before.sa_handler);
}
END_TEST

/* ---- without a name ---- */

static bool dies_in_fsync;

/* Instead of the C library's: what is to be on the disk is written then, and nothing else is left.
 */
int fsync(int fd)
{
    (void)fd;
    if (dies_in_fsync)
        raise(SIGKILL);
    return 0;
}

static bool cannot_link;

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    errno = EPERM;
    return cannot_link ? -1 : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

static bool has_unnamed_files(void)
{
    int fd = ct_unnamed_open(PATH);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int merge_to_path(char *from)
{
    struct ct_options o = {.files = &from, .file_count = 1, .log_file = PATH};
    return ct_report_merge(&(struct ct_input){.o = &o}, NULL);
}

static void make_profile(const char *path)
{
    struct ct_build b;
    ct_build_start(&b);
    ct_build_process(&b, 10, "./app");
    ct_build_device(&b, 0, "GPU");
    ck_assert(ct_build_save(&b, path));
    ct_build_free(&b);
}

START_TEST(a_merge_that_is_killed_leaves_nothing)
{
    char from[] = "partial.in";
    int status;
    make_profile(from);
    pid_t child = fork();
    if (!child) {
        dies_in_fsync = true;
        _exit(merge_to_path(from));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ck_assert_int_ne(access(PATH, F_OK), 0);
    ck_assert(part_is_there(child) == !has_unnamed_files());
    unlink(part);
    ck_assert_int_eq(merge_to_path(from), 0);
    ck_assert_int_eq(merge_to_path(from), 0); /* over its own */
    ck_assert_int_eq(access(PATH, F_OK), 0);
    ck_assert(!part_is_there(getpid()));
    unlink(from);
}
END_TEST

/* Some file systems have no links. */
START_TEST(a_merge_that_cannot_name_it)
{
    char from[] = "partial.in";
    make_profile(from);
    cannot_link = true;
    ck_assert_int_eq(merge_to_path(from), 0);
    cannot_link = false;
    ck_assert_int_eq(access(PATH, F_OK), 0);
    ck_assert(!part_is_there(getpid()));
    unlink(from);
}
END_TEST

/* As of any file that is made. */
START_TEST(its_mode_is_what_the_mask_leaves)
{
    char from[] = "partial.in";
    struct stat st;
    make_profile(from);
    umask(027);
    ck_assert_int_eq(merge_to_path(from), 0);
    ck_assert_int_eq(stat(PATH, &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0640);
    unlink(from);
}
END_TEST

/* Neither a file nor a link, wherever that leads, is written over or followed. */
START_TEST(a_name_that_is_taken)
{
    ct_skip_if(!has_unnamed_files(), "the file system has no files without a name");
    int fd = ct_unnamed_open(PATH);
    make(PATH, "old");
    ck_assert(!ct_unnamed_link(fd, PATH));
    ck_assert_int_eq(errno, EEXIST);
    check_content("old");
    unlink(PATH);
    ck_assert_int_eq(symlink("partial.target", PATH), 0);
    ck_assert(!ct_unnamed_link(fd, PATH));
    ck_assert_int_eq(errno, EEXIST);
    ck_assert_int_ne(access("partial.target", F_OK), 0);
    unlink(PATH);
    ck_assert(ct_unnamed_link(fd, PATH));
    ck_assert_int_eq(access(PATH, F_OK), 0);
    close(fd);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("partial");
    tcase_add_checked_fixture(tests, NULL, clean);
    tcase_add_test(tests, it_is_there_when_it_is_whole);
    tcase_add_test(tests, it_is_gone_when_it_is_not);
    tcase_add_test(tests, a_name_that_cannot_be_given);
    tcase_add_loop_test(tests, a_signal_removes_it_and_ends_the_program, 0, 3);
    tcase_add_test(tests, an_ignored_signal_stays_so);
    tcase_add_test(tests, handlers_are_given_back);
    tcase_add_test(tests, its_name_cannot_be_guessed);
    tcase_add_test(tests, what_a_stranger_planted);
    tcase_add_test(tests, a_merge_that_is_killed_leaves_nothing);
    tcase_add_test(tests, a_merge_that_cannot_name_it);
    tcase_add_test(tests, its_mode_is_what_the_mask_leaves);
    tcase_add_test(tests, a_name_that_is_taken);
    return ct_case_main("partial", tests);
}
