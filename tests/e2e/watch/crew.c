/* SPDX-License-Identifier: MIT */
#include "watch/crew.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage.h"

#define ANSWER_BYTES (1 << 16)

char *crew_format(const char *text, ...)
{
    va_list arguments;
    char *out;
    va_start(arguments, text);
    ck_assert_int_gt(vasprintf(&out, text, arguments), 0);
    va_end(arguments);
    return out;
}

static void become(const struct crew_role *r, int number)
{
    char sanitizer[4096];
    char *tree = strdup(stage_path_of("."));
    stage_sanitizer(sanitizer, sizeof(sanitizer));
    putenv(crew_format("LD_PRELOAD=%s%s/.libs/libcutrace.so", sanitizer, tree));
    putenv(crew_format("LD_LIBRARY_PATH=%s/tests/sim/lib", tree));
    putenv(crew_format("CUTRACE_OUTPUT=%d.bin", number));
    putenv((char *)(uintptr_t) "CUTRACE_PRINT=off");
    for (int i = 0; i < CREW_ENV && r->env[i]; i++)
        putenv((char *)(uintptr_t)r->env[i]);
    if (r->is_contained && unshare(CLONE_NEWNET))
        perror("unshare");
    int out = open(crew_format("%d.txt", number), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    char *argv[CREW_ARGS + 2] = {crew_format("%s/tests/e2e/watch/%s", tree, r->program)};
    for (int i = 0; i < CREW_ARGS; i++)
        argv[i + 1] = (char *)(uintptr_t)r->argv[i];
    execv(argv[0], argv);
    _exit(126);
}

pid_t crew_start(const struct crew_role *role, int number)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid)
        become(role, number);
    return pid;
}

void crew_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

char *crew_ask(const char *arguments)
{
    char *command = crew_format("%s ctl %s 2>&1", stage_path_of("cutrace"), arguments);
    char *text = calloc(1, ANSWER_BYTES);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, ANSWER_BYTES - 1, f);
    text[n] = '\0';
    pclose(f);
    free(command);
    return text;
}
