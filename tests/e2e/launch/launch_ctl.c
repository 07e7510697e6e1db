/* SPDX-License-Identifier: MIT */
/* cutrace ctl: asks a process that runs on the simulated device. */
#include "config.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "served.h"

#define PATIENCE_MS 30000

START_TEST(start_stop_flush_status)
{
    struct ct_summary s;
    served_start();
    served_expect_status("recording: on");
    served_tell("alpha 20\n");
    served_expect_done("stop");
    served_expect_status("recording: off");
    served_tell("alpha 5\n");
    served_expect_status("unrecorded: 5 operations");
    served_expect_done("start");
    served_tell("beta 10\n");
    served_expect_done("flush"); /* and then it is in the file, whatever happens */
    kill(served.pid, SIGKILL);
    served_dismiss();
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 20);
    CHECK_TIMED(stage_kernel(&s, "beta"), 10);
    ct_summary_free(&s);
}
END_TEST

START_TEST(processes_that_can_be_asked)
{
    char row[64];
    served_start();
    struct stage_run r = LAUNCH(.argv = {"ctl", "list"});
    ck_assert_int_eq(stage_exit(&r), 0);
    snprintf(row, sizeof(row), "\n%-7s  ", served.number);
    ck_assert_msg(strstr(r.out, row) && strstr(r.out, " served\n"), "%s", r.out);
    snprintf(row, sizeof(row), "\n%-7d  ", (int)getpid());
    ck_assert_msg(!strstr(r.out, row), "%s", r.out);
    stage_drop(&r);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

START_TEST(status_says_where_the_profile_is)
{
    char place[4200] = "profile: ";
    served_start();
    served_tell("alpha 1\n");
    served_expect_done("flush");
    ck_assert_ptr_nonnull(getcwd(place + strlen(place), 4000));
    strcat(place, "/summary.bin\n");
    served_expect_status(place);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

/* ---- top ---- */

/* What stands in a row of the table: now and in all. */
struct row {
    unsigned long now, all;
};

static bool read_row(const char *line, struct row *r)
{
    return sscanf(line, "%*s %*s %lu | %*s %lu", &r->now, &r->all) == 2;
}

static struct row find_row(const char *table, const char *name)
{
    char wanted[64], copy[1024];
    struct row r = {0};
    snprintf(wanted, sizeof(wanted), "  %s\n", name);
    const char *end = strstr(table, wanted);
    ck_assert_msg(end != NULL, "'%s' is not in:\n%s", name, table);
    const char *begin = end;
    while (begin > table && begin[-1] != '\n')
        begin--;
    snprintf(copy, sizeof(copy), "%.*s", (int)(end - begin), begin);
    ck_assert_msg(read_row(copy, &r), "%s", copy);
    return r;
}

START_TEST(top_in_a_pipe)
{
    served_start();
    served_tell("alpha 40\n");
    served_tell("beta 8\n");
    struct stage_run r =
        LAUNCH(.argv = {"ctl", "-b", "-n", "2", "-d", "0.05", served.number, "top"});
    ck_assert_msg(stage_exit(&r) == 0, "%s", r.err);
    char *second = strstr(r.out, "\n\n");
    second = second ? strstr(second + 2, "\n\n") : NULL;
    ck_assert_ptr_nonnull(second);
    ck_assert_uint_eq(find_row(second, "alpha").now, 0);
    ck_assert_uint_eq(find_row(second, "alpha").all, 40);
    ck_assert_uint_eq(find_row(second, "beta").all, 8);
    *second = '\0';
    strcat(r.out, "\n");
    ck_assert_uint_eq(find_row(r.out, "alpha").now, 40); /* since the start */
    ck_assert_uint_eq(find_row(r.out, "alpha").all, 40);
    ck_assert_ptr_nonnull(strstr(r.out, "recording on"));
    ck_assert_ptr_nonnull(strstr(r.out, "48 operations in "));
    stage_drop(&r);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

START_TEST(top_in_order)
{
    served_start();
    served_tell("beta 40\n");
    served_tell("alpha 8\n");
    struct stage_run r = LAUNCH(.argv = {"ctl", served.number, "top", "-bn1", "--sort", "name"});
    ck_assert(strstr(r.out, "  alpha\n") < strstr(r.out, "  beta\n"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"ctl", served.number, "top", "-bn1", "--sort=calls"});
    ck_assert(strstr(r.out, "  alpha\n") > strstr(r.out, "  beta\n"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"ctl", served.number, "top", "-bn1", "--sort=weight"});
    ck_assert_int_eq(stage_exit(&r), 1);
    stage_drop(&r);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

static struct row next_graph(struct rig *r)
{
    struct row row;
    for (const char *line;;) {
        line = rig_line(r);
        if (strstr(line, "[CUDA graph ") && read_row(line, &row))
            return row;
    }
}

/* They change places in the table, and with these the numbers in their names. */
START_TEST(top_of_graphs_of_one_size)
{
    const char *argv[] = {rig_launcher(), "ctl", "-b", "-d", "0.05", NULL, "top", NULL};
    served_start();
    served_tell("graph alpha 10\n");
    served_tell("graph beta 5\n");
    argv[5] = served.number;
    struct rig r = rig_start(argv);
    ck_assert_uint_eq(next_graph(&r).all, 10);
    ck_assert_uint_eq(next_graph(&r).all, 5);
    served_tell("graph beta 40\n");
    for (bool overtaken = false; !overtaken;) {
        struct row a = next_graph(&r), b = next_graph(&r);
        if (a.all == b.all)
            continue;
        struct row alpha = a.all == 10 ? a : b;
        ck_assert_uint_eq(alpha.all, 10);
        ck_assert_uint_eq(alpha.now, 0);
        overtaken = a.all + b.all == 55;
    }
    ck_assert_int_eq(served_dismiss(), 0);
    ck_assert_int_eq(rig_wait(&r), 0);
    close(r.out);
}
END_TEST

/* That is no failure of a table that goes on until then. */
START_TEST(top_until_the_process_ends)
{
    const char *argv[] = {rig_launcher(), "ctl", "-b", "-d", "0.05", NULL, "top", NULL};
    served_start();
    served_tell("alpha 3\n");
    argv[5] = served.number;
    struct rig r = rig_start(argv);
    for (unsigned lines = 0; !strstr(rig_line(&r), "  alpha"); lines++)
        ck_assert_uint_lt(lines, 100);
    ck_assert_int_eq(served_dismiss(), 0);
    ck_assert_int_eq(rig_wait(&r), 0);
    char *err = stage_read("err");
    ck_assert_ptr_nonnull(strstr(err, "has ended"));
    free(err);
    close(r.out);
}
END_TEST

#if CT_WITH_NCURSES

static struct {
    pid_t pid;
    int terminal;
    char seen[65536];
    size_t bytes;
} screen;

static void expect(const char *text)
{
    char *at;
    while (!(at = strstr(screen.seen, text))) {
        struct pollfd p = {.fd = screen.terminal, .events = POLLIN};
        ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "'%s' did not come: %s", text, screen.seen);
        ssize_t n = read(screen.terminal, screen.seen + screen.bytes,
                         sizeof(screen.seen) - 1 - screen.bytes);
        ck_assert_msg(n > 0, "'%s' did not come before the end: %s", text, screen.seen);
        screen.bytes += (size_t)n;
        screen.seen[screen.bytes] = '\0';
    }
    screen.bytes = 0;
    screen.seen[0] = '\0';
}

static void type(const char *keys)
{
    ck_assert_int_eq(write(screen.terminal, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static void open_screen(const struct winsize *size, const char *term)
{
    screen.pid = forkpty(&screen.terminal, NULL, NULL, size);
    ck_assert_int_ge(screen.pid, 0);
    if (screen.pid)
        return;
    char runtime[4096];
    stage_sanitizer(runtime, sizeof(runtime));
    runtime[strcspn(runtime, ":")] = '\0';
    setenv("LD_PRELOAD", runtime, 1);
    setenv("TERM", term, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    execl(rig_launcher(), "cutrace", "ctl", "-d", "3600", served.number, "top", (char *)NULL);
    _exit(127);
}

static const unsigned short widths[] = {110, 80, 40};

/* The key after another draws all anew, which a terminal is not sent otherwise. */
START_TEST(top_on_a_terminal)
{
    struct winsize size = {.ws_row = 20, .ws_col = widths[_i]};
    int status;
    served_start();
    served_tell("alpha 40\n");
    served_tell("beta 8\n");
    open_screen(&size, "vt100");
    expect("alpha");
    type("n\f");
    expect("by name");
    type("t\f");
    expect("by total");
    type("s\f");
    expect("by calls");
    type("q");
    while (read(screen.terminal, screen.seen, sizeof(screen.seen)) > 0)
        ;
    ck_assert_int_eq(waitpid(screen.pid, &status, 0), screen.pid);
    ck_assert_int_eq(status, 0);
    close(screen.terminal);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

/* One that ncurses does not know is taken for one that it does. */
START_TEST(top_on_an_unknown_terminal)
{
    struct winsize size = {.ws_row = 20, .ws_col = 80};
    served_start();
    served_tell("alpha 40\n");
    open_screen(&size, "xterm-of-nobody");
    expect("alpha");
    type("q");
    while (read(screen.terminal, screen.seen, sizeof(screen.seen)) > 0)
        ;
    int status;
    ck_assert_int_eq(waitpid(screen.pid, &status, 0), screen.pid);
    ck_assert_int_eq(status, 0);
    close(screen.terminal);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

#endif

/* ---- nobody to ask ---- */

START_TEST(nobody_to_ask)
{
    char own[16];
    pid_t pid = fork();
    if (!pid)
        _exit(0);
    waitpid(pid, NULL, 0);
    snprintf(own, sizeof(own), "%d", (int)pid);
    served_expect_refusal(own, "status", "there is no process ");
    snprintf(own, sizeof(own), "%d", (int)getpid());
    served_expect_refusal(own, "top", "runs without libcutrace.so");
    served_expect_refusal("1x", "status", "'1x' is no process's number");
    served_expect_refusal("-1", "status", "invalid option");
    served_expect_refusal("0", "status", "'0' is no process's number");
    served_expect_refusal(own, "dance",
                          "'dance' is no command of cutrace ctl (try cutrace ctl --help)");
    struct stage_run r = LAUNCH(.argv = {"ctl", own});
    ck_assert_int_eq(stage_exit(&r), 1);
    stage_drop(&r);
}
END_TEST

START_TEST(switched_off)
{
    served_with("CUTRACE_CONTROL=off");
    served_expect_refusal(served.number, "status", "CUTRACE_CONTROL=off");
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

/* Who closes everything goes on as if nothing had been; it cannot be asked any more. */
START_TEST(descriptors_closed)
{
    served_start();
    served_expect_done("status");
    served_tell("alpha 3\n");
    served_tell("close\n");
    served_tell("alpha 4\n");
    served_expect_refusal(served.number, "status", "does not listen");
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

/* A child of fork() keeps nothing of its parent's alive. */
START_TEST(child_outlives_parent)
{
    char child[32];
    served_start();
    served_tell("alpha 3\n");
    ck_assert_int_eq(write(served.to, "fork\n", 5), 5);
    snprintf(child, sizeof(child), "%s", rig_line(&served.rig));
    ck_assert_int_eq(strncmp(child, "child ", 6), 0);
    ck_assert_str_eq(rig_line(&served.rig), "done");
    served_expect_refusal(child + 6, "status", "does not listen");
    kill(served.pid, SIGKILL);
    rig_wait(&served.rig);
    served_expect_refusal(served.number, "status", "there is no process ");
    close(served.to);
    close(served.rig.out);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ctl");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, start_stop_flush_status);
    tcase_add_test(t, processes_that_can_be_asked);
    tcase_add_test(t, status_says_where_the_profile_is);
    tcase_add_test(t, top_in_a_pipe);
    tcase_add_test(t, top_in_order);
    tcase_add_test(t, top_of_graphs_of_one_size);
    tcase_add_test(t, top_until_the_process_ends);
#if CT_WITH_NCURSES
    tcase_add_loop_test(t, top_on_a_terminal, 0, sizeof(widths) / sizeof(widths[0]));
    tcase_add_test(t, top_on_an_unknown_terminal);
#endif
    tcase_add_test(t, nobody_to_ask);
    tcase_add_test(t, switched_off);
    tcase_add_test(t, descriptors_closed);
    tcase_add_test(t, child_outlives_parent);
    return stage_main("ctl", t);
}
