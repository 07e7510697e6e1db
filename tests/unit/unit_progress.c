/* SPDX-License-Identifier: MIT */
/* The line that says how far reading is, on a terminal of our own. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "case_main.h"
#include "report/progress.h"

#define MS ((uint64_t)1000000)

static int master, slave, saved;
static char text[4096];
static struct ct_progress p;

static void set_width(unsigned short columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    ck_assert_int_eq(ioctl(slave, TIOCSWINSZ, &size), 0);
}

static void set_up(void)
{
    master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_int_ge(master, 0);
    ck_assert(!grantpt(master) && !unlockpt(master));
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(slave, 0);
    ck_assert_int_eq(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    saved = dup(STDERR_FILENO);
    dup2(slave, STDERR_FILENO);
    setenv("TERM", "xterm", true);
    set_width(80);
}

static void tear_down(void)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(slave);
    close(master);
}

/* What came on the terminal since the last time. */
static const char *shown(void)
{
    ssize_t n = read(master, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

START_TEST(nothing_in_the_first_second)
{
    ct_progress_start(&p, "Reading", "files", 100);
    ct_progress_add_at(&p, 1, p.begin_ns);
    ct_progress_add_at(&p, 1, p.begin_ns + 999 * MS);
    ct_progress_end(&p);
    ck_assert_str_eq(shown(), "");
}
END_TEST

START_TEST(a_line_that_goes_again)
{
    ct_progress_start(&p, "Reading", "files", 100);
    ct_progress_add_at(&p, 25, p.begin_ns + 1000 * MS);
    ck_assert_str_eq(shown(), "\r\033[KReading  25%  25 of 100 files, 3 s left  "
                              "[#########...........................]");
    ct_progress_add_at(&p, 25, p.begin_ns + 1050 * MS); /* ten a second are enough */
    ck_assert_str_eq(shown(), "");
    ct_progress_add_at(&p, 0, p.begin_ns + 1100 * MS);
    ck_assert_ptr_nonnull(strstr(shown(), " 50%  50 of 100 files, 1 s left  ["));
    ct_progress_hide(&p);
    ck_assert_str_eq(shown(), "\r\033[K");
    ct_progress_hide(&p);
    ck_assert_str_eq(shown(), "");
    ct_progress_add_at(&p, 70, p.begin_ns + 1300 * MS); /* more than was said */
    ck_assert_ptr_nonnull(strstr(shown(), "100%  100 of 100 files, 0 s left  ["));
    ct_progress_end(&p);
    ck_assert_str_eq(shown(), "\r\033[K");
}
END_TEST

START_TEST(bytes)
{
    ct_progress_start(&p, "Writing", "bytes", (uint64_t)4 << 30);
    ct_progress_add_at(&p, (uint64_t)1 << 30, p.begin_ns + 2000 * MS);
    ck_assert_ptr_nonnull(strstr(shown(), "Writing  25%  1.0000GB of 4.0000GB, 6 s left"));
    ct_progress_end(&p);
}
END_TEST

/* Never more than fits: the terminal would go to the next line. */
START_TEST(narrow_terminals)
{
    for (unsigned short columns = 2; columns < 300; columns++) {
        set_width(columns);
        ct_progress_start(&p, "Reading", "files", 100);
        ct_progress_add_at(&p, 25, p.begin_ns + 1000 * MS);
        ck_assert_uint_lt(strlen(shown()) - strlen("\r\033[K"), columns);
        ct_progress_end(&p);
        shown();
    }
}
END_TEST

START_TEST(no_terminal)
{
    static const char *const terms[] = {"dumb", "", NULL};
    int pipes[2];
    for (size_t i = 0; i < 2; i++) {
        setenv("TERM", terms[i], true);
        ct_progress_start(&p, "Reading", "files", 100);
        ck_assert_int_eq(p.fd, -1);
        ct_progress_add(&p, 50);
        ct_progress_end(&p);
    }
    setenv("TERM", "xterm", true);
    ck_assert_int_eq(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    ct_progress_start(&p, "Reading", "files", 100);
    ck_assert_int_eq(p.fd, -1);
    ct_progress_end(&p);
    dup2(slave, STDERR_FILENO);
    close(pipes[0]);
    close(pipes[1]);
    ck_assert_str_eq(shown(), "");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("progress");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, nothing_in_the_first_second);
    tcase_add_test(tests, a_line_that_goes_again);
    tcase_add_test(tests, bytes);
    tcase_add_test(tests, narrow_terminals);
    tcase_add_test(tests, no_terminal);
    return ct_case_main("progress", tests);
}
