/* SPDX-License-Identifier: MIT */
#include "rig.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 30000

const char *rig_launcher(void)
{
    return stage_path_of("cutrace");
}

const char *rig_inner(void)
{
    return stage_path_of("tests/e2e/launch/inner");
}

const char *rig_actor(void)
{
    return stage_path_of("tests/e2e/actor/actor");
}

/* "LD_PRELOAD=" with a sanitizer's runtime, which has to come first. */
static const char *sanitizer_variable(void)
{
    static char text[4200];
    char runtime[4096];
    stage_sanitizer(runtime, sizeof(runtime));
    runtime[strcspn(runtime, ":")] = '\0';
    snprintf(text, sizeof(text), "LD_PRELOAD=%s", runtime);
    return text;
}

struct stage_run rig_launch(const struct stage_scene *scene)
{
    struct stage_scene s = *scene;
    unsigned n = 0;
    while (s.env[n])
        n++;
    s.program = s.program ? s.program : rig_launcher();
    s.bare = true;
    s.env[n] = sanitizer_variable();
    return stage_play(&s);
}

struct rig rig_start(const char *const *argv)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    struct rig r = {.pid = fork(), .out = ends[0]};
    ck_assert_int_ge(r.pid, 0);
    if (!r.pid) {
        setpgid(0, 0);
        putenv((char *)(uintptr_t)sanitizer_variable());
        setenv("LD_LIBRARY_PATH", stage_path_of("tests/sim/lib"), 1);
        dup2(ends[1], 1);
        dup2(open("err", O_WRONLY | O_CREAT | O_APPEND, 0666), 2);
        execv(argv[0], (char **)(uintptr_t)argv);
        _exit(127);
    }
    setpgid(r.pid, r.pid);
    close(ends[1]);
    return r;
}

const char *rig_line(struct rig *r)
{
    static char line[1024];
    for (size_t n = 0; n < sizeof(line) - 1; n++) {
        struct pollfd p = {.fd = r->out, .events = POLLIN};
        ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "no line came");
        if (read(r->out, &line[n], 1) != 1 || line[n] == '\n') {
            line[n] = '\0';
            return line;
        }
    }
    ck_abort_msg("a line without an end");
    return NULL;
}

int rig_wait(struct rig *r)
{
    int status;
    for (unsigned ms = 0; ms < PATIENCE_MS; ms++) {
        if (waitpid(r->pid, &status, WNOHANG | WUNTRACED) == r->pid)
            return status;
        rig_pause(1);
    }
    kill(-r->pid, SIGKILL);
    ck_abort_msg("the launcher still runs");
    return 0;
}

void rig_pause(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

unsigned rig_lines(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}
