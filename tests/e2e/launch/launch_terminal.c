/* SPDX-License-Identifier: MIT */
/* Under a terminal, in the hands of a real shell: ^C, ^Z, fg, bg, hanging up. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "rig.h"

#define PATIENCE_MS 30000

static struct {
    pid_t shell;
    int terminal;
    char seen[65536]; /* what came since the last expect() that fitted */
    size_t bytes;
} session;

static void open_session(void)
{
    struct winsize size = {.ws_row = 24, .ws_col = 500};
    session.bytes = 0;
    session.shell = forkpty(&session.terminal, NULL, NULL, &size);
    ck_assert_int_ge(session.shell, 0);
    if (!session.shell) {
        char sanitizer[4096];
        stage_sanitizer(sanitizer, sizeof(sanitizer));
        setenv("PS1", "", 1);
        setenv("TERM", "dumb", 1);
        setenv("HISTFILE", "", 1);
        setenv("SANITIZER", sanitizer, 1);
        setenv("CUTRACE", rig_launcher(), 1);
        setenv("INNER", rig_inner(), 1);
        execl("/bin/bash", "bash", "--norc", "--noprofile", "--noediting", "-i", NULL);
        _exit(127);
    }
}

static void type(const char *text)
{
    ck_assert_int_eq(write(session.terminal, text, strlen(text)), (ssize_t)strlen(text));
}

/* Reads until the text has come, and forgets all up to there. */
static void expect(const char *text)
{
    char *at;
    session.seen[session.bytes] = '\0';
    while (!(at = strstr(session.seen, text))) {
        struct pollfd p = {.fd = session.terminal, .events = POLLIN};
        ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "'%s' did not come: %s", text, session.seen);
        ssize_t n = read(session.terminal, session.seen + session.bytes,
                         sizeof(session.seen) - 1 - session.bytes);
        ck_assert_msg(n > 0, "'%s' did not come before the end: %s", text, session.seen);
        session.bytes += (size_t)n;
        session.seen[session.bytes] = '\0';
    }
    at += strlen(text);
    session.bytes -= (size_t)(at - session.seen);
    memmove(session.seen, at, session.bytes);
}

static void close_session(void)
{
    int status;
    type("exit 0\n");
    for (unsigned ms = 0; ms < 10000 && waitpid(session.shell, &status, WNOHANG) == 0; ms++)
        rig_pause(1);
    kill(session.shell, SIGKILL);
    close(session.terminal);
}

/* Till a job of the shell's has the terminal and goes on: that would undo a stop of before. */
static void await_foreground(void)
{
    for (unsigned ms = 0; ms < PATIENCE_MS; ms++) {
        pid_t group = tcgetpgrp(session.terminal);
        if (group != session.shell && ct_case_state(group) != 'T')
            return;
        rig_pause(1);
    }
    ck_abort_msg("no job came to the foreground");
}

/* Stops the program with ^Z, and has the shell go on with it. */
static void stop_and_go_on(void)
{
    type("\032");
    expect("Stopped");
    type("fg\n");
    await_foreground();
}

/* As a user types it; the quotes keep the echo of the line from looking like the answer. */
#define RUN "LD_PRELOAD=$SANITIZER $CUTRACE -q "

START_TEST(interrupt_from_the_keyboard)
{
    open_session();
    type("stty -echo; " RUN "$INNER hear 2; echo status' '$?\n");
    expect("ready ");
    type("\003");
    expect("got 2 0");
    type("\034");
    expect("got 3 0");
    expect("status 0");
    type(RUN "sh -c 'echo ready; exec sleep 60'; echo status' '$?\n");
    expect("ready"); /* before it is executed the shell's own process has the terminal, and ^C */
    type("\003");
    type("\necho after' 'all\n");
    expect("after all");
    close_session();
}
END_TEST

START_TEST(stop_and_foreground)
{
    open_session();
    type("stty -echo; " RUN "$INNER hear 1; echo status' '$?\n");
    expect("ready ");
    type("\032");
    expect("Stopped");
    type("\njobs\n");
    expect("Stopped");
    type("fg\n");
    await_foreground();
    type("\003");
    expect("got 2 0");
    close_session();
}
END_TEST

/* A second stop works as the first one did. */
START_TEST(stop_again)
{
    open_session();
    type("stty -echo; " RUN "$INNER hear 1\n");
    expect("ready ");
    for (int i = 0; i < 3; i++)
        stop_and_go_on();
    type("\003");
    expect("got 2 0");
    close_session();
}
END_TEST

START_TEST(background)
{
    open_session();
    type("stty -echo; " RUN "$INNER hear 1 &\n");
    expect("ready ");
    type("kill -USR1 $!; wait $!; echo status' '$?\n");
    expect("got 10 0");
    expect("status 0");
    type(RUN "cat & wait; sleep 0.3; jobs\n"); /* reads from the terminal: it is stopped */
    expect("Stopped");
    type("fg\n");
    await_foreground();
    type("words\n\004");
    expect("words");
    close_session();
}
END_TEST

/* In a pipeline it is one of several in the group, and the terminal is the group's. */
START_TEST(pipeline)
{
    open_session();
    type("stty -echo; echo one | " RUN "$INNER cat | cat; echo status' '${PIPESTATUS[@]}\n");
    expect("one");
    expect("status 0 0 0");
    type(RUN "$INNER hear 1 | cat\n");
    expect("ready ");
    stop_and_go_on();
    type("kill\003");
    close_session();
}
END_TEST

START_TEST(hang_up)
{
    int program = 0;
    open_session();
    type("stty -echo; " RUN "$INNER hear 1 >lines\n");
    for (int i = 0; i < 3000 && !program; i++) {
        FILE *f = fopen("lines", "r");
        if (!f || fscanf(f, "ready %d", &program) != 1)
            rig_pause(5);
        if (f)
            fclose(f);
    }
    ck_assert_int_ne(program, 0);
    close(session.terminal);
    for (int i = 0; i < 5000 && kill(program, 0) == 0; i++)
        rig_pause(1);
    char *lines = stage_read("lines");
    ck_assert_msg(strstr(lines, "got 1 0") != NULL, "%s", lines);
    ck_assert_ptr_null(strstr(strstr(lines, "got 1 0") + 1, "got"));
    free(lines);
    waitpid(session.shell, NULL, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("terminal");
    tcase_add_test(t, interrupt_from_the_keyboard);
    tcase_add_test(t, stop_and_foreground);
    tcase_add_test(t, stop_again);
    tcase_add_test(t, background);
    tcase_add_test(t, pipeline);
    tcase_add_test(t, hang_up);
    return stage_main("launch_terminal", t);
}
