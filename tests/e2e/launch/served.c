/* SPDX-License-Identifier: MIT */
#include "served.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the process that is asked ---- */

struct served served;

/* In namespaces of its own (CLONE_NEWUSER ...), if any. */
void served_in(int namespaces, const char *variable)
{
    int to[2], from[2];
    const char *line;
    ck_assert(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    served.pid = fork();
    ck_assert_int_ge(served.pid, 0);
    if (!served.pid) {
        char preload[9000], runtime[4096];
        stage_sanitizer(runtime, sizeof(runtime));
        snprintf(preload, sizeof(preload), "%s%s", runtime, stage_path_of(".libs/libcutrace.so"));
        setenv("LD_LIBRARY_PATH", stage_path_of("tests/sim/lib"), 1);
        setenv("LD_PRELOAD", preload, 1);
        setenv("CUTRACE_PRINT", "off", 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        if (variable)
            putenv((char *)(uintptr_t)variable);
        dup2(to[0], 0);
        dup2(from[1], 1);
        if (!namespaces || unshare(namespaces) == 0)
            execl(rig_actor(), "actor", "served", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    served.rig = (struct rig){.pid = served.pid, .out = from[0]};
    served.to = to[1];
    line = rig_line(&served.rig);
    ck_assert_msg(!strncmp(line, "ready ", 6), "%s", line);
    snprintf(served.number, sizeof(served.number), "%d", (int)served.pid);
}

void served_with(const char *variable)
{
    served_in(0, variable);
}

void served_start(void)
{
    served_with(NULL);
}

void served_tell(const char *line)
{
    ck_assert_int_eq(write(served.to, line, strlen(line)), (ssize_t)strlen(line));
    ck_assert_str_eq(rig_line(&served.rig), "done");
}

/* Its exit status. */
int served_dismiss(void)
{
    close(served.to);
    int status = rig_wait(&served.rig);
    close(served.rig.out);
    return status;
}

/* ---- asking ---- */

struct stage_run served_ctl(const char *pid, const char *command)
{
    return LAUNCH(.argv = {"ctl", pid, command});
}

void served_expect_done(const char *command)
{
    struct stage_run r = served_ctl(served.number, command);
    ck_assert_msg(stage_exit(&r) == 0 && !*r.err, "%s: %s", command, r.err);
    stage_drop(&r);
}

/* One line on stderr that holds the text, and status 1. */
void served_expect_refusal(const char *pid, const char *command, const char *text)
{
    struct stage_run r = served_ctl(pid, command);
    ck_assert_int_eq(stage_exit(&r), 1);
    ck_assert_msg(strstr(r.err, text) && rig_lines(r.err) == 1, "%s: %s", text, r.err);
    ck_assert_str_eq(r.out, "");
    stage_drop(&r);
}

void served_expect_status(const char *text)
{
    struct stage_run r = served_ctl(served.number, "status");
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_msg(strstr(r.out, text) != NULL, "'%s' is not in:\n%s", text, r.out);
    stage_drop(&r);
}
