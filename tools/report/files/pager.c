/* SPDX-License-Identifier: MIT */
#include "report/files/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager; /* 0: none */

void ct_pager_wait(void)
{
    while (pager > 0 && waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* The terminal belongs to the pager until it ends. */
static void reader_is_gone(int number)
{
    (void)number;
    ct_pager_wait();
    _exit(EXIT_SUCCESS);
}

/* A pager that cannot be run is replaced by cat. */
static _Noreturn void become(const char *command, const int ends[2])
{
    signal(SIGPIPE, SIG_DFL);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    if (command) {
        setenv("LESS", "RFX", 0);
        execl("/bin/sh", "sh", "-c", "eval \"$PAGER\"; [ $? -ne 127 ] || exec cat", (char *)NULL);
    }
    execlp("less", "less", "-RFX", (char *)NULL);
    execlp("cat", "cat", (char *)NULL);
    _exit(127);
}

static void start(const char *command)
{
    int ends[2];
    if (pipe(ends))
        return;
    pager = fork();
    if (!pager)
        become(command, ends);
    if (pager > 0)
        dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
}

void ct_pager_start(bool wanted)
{
    const char *command = getenv("PAGER");
    signal(SIGPIPE, reader_is_gone);
    if (wanted && (!command || (*command && strcmp(command, "cat"))))
        start(command);
}
