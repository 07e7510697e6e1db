/* SPDX-License-Identifier: MIT */
/* A file that gets its name when it is whole, and is not there when that does not happen. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_main.h"
#include "report/partial.h"

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
    snprintf(part, sizeof(part), "%s.%ld.part", PATH, (long)child);
    ck_assert_int_ne(access(part, F_OK), 0);
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
    return ct_case_main("partial", tests);
}
