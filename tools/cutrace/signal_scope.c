/* SPDX-License-Identifier: MIT */
#include "signal_scope.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptor.h"

#define HIGHEST 64  /* signal */
#define LOOK_MS 100 /* between looks whether the witness is stopped */

static pid_t pid = -1;
static int testimony = -1;
static unsigned seen[HIGHEST + 1];

/* Lower signals are delivered first: when the highest comes, all before it are written. */
static _Noreturn void testify(int to, pid_t launcher)
{
    sigset_t all;
    sigfillset(&all);
    for (siginfo_t info;;) {
        int signal = sigwaitinfo(&all, &info);
        if (signal < 0)
            continue;
        bool launchers = info.si_pid == launcher;
        bool asked = launchers && signal == SIGRTMAX && info.si_code == SI_QUEUE;
        if (launchers && signal == SIGCONT && info.si_code == SI_USER)
            continue; /* see await_testimony() */
        unsigned char word = asked ? 0 : (unsigned char)signal;
        if (write(to, &word, 1) != 1)
            _exit(0);
    }
}

void signal_scope_start(void)
{
    int ends[2];
    pid_t launcher = getpid();
    if (pipe2(ends, O_CLOEXEC))
        return;
    pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "cutrace-witness");
        descriptor_drop_inherited();
        if (getppid() == launcher)
            testify(ends[1], launcher);
        _exit(0);
    }
    close(ends[1]);
    testimony = descriptor_move_up(ends[0]);
}

bool signal_scope_is(pid_t process)
{
    return process == pid;
}

void signal_scope_end(void)
{
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(testimony);
    pid = testimony = -1;
}

/* A stop of the group stops the witness; whoever lets the launcher go on may leave it so. */
static void await_testimony(void)
{
    struct pollfd p = {.fd = testimony, .events = POLLIN};
    while (poll(&p, 1, LOOK_MS) == 0) {
        siginfo_t stopped = {0};
        waitid(P_PID, (id_t)pid, &stopped, WSTOPPED | WNOHANG);
        if (stopped.si_pid == pid)
            kill(pid, SIGCONT);
    }
}

/* Reads all that the witness has seen; if it has ended, there is no witness from now on. */
static void hear(void)
{
    unsigned char word = 0;
    if (pid <= 0 || sigqueue(pid, SIGRTMAX, (union sigval){0}))
        return;
    do {
        await_testimony();
        if (read(testimony, &word, 1) != 1) {
            signal_scope_end();
            return;
        }
        if (word <= HIGHEST)
            seen[word]++;
    } while (word);
}

/* Standard signals of one number that wait are merged into one. */
static void forget_merged(int signal)
{
    sigset_t pending;
    if (signal < SIGRTMIN && !sigpending(&pending))
        seen[signal] = sigismember(&pending, signal) == 1;
}

bool signal_scope_saw(int signal)
{
    hear();
    if (!seen[signal])
        return false;
    seen[signal]--;
    forget_merged(signal);
    return true;
}
