/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "descriptor.h"
#include "family.h"
#include "messages.h"
#include "signal_scope.h"

#define LOOK_NS 50000000 /* between looks whether CUDA has started */
#define PATIENCE_S 5     /* from SIGTERM to SIGKILL */

/* The mask and the handler that the launcher was started with: the program gets them. */
static sigset_t inherited_mask;
static struct sigaction inherited_child;

/* No signal is handled: each waits until it is taken. Children are not to vanish unseen. */
static void take_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &inherited_mask);
    sigaction(SIGCHLD, &standard, &inherited_child);
}

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

static sigset_t endings(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        if (!sigismember(&inherited_mask, ending[i]))
            sigaddset(&set, ending[i]);
    return set;
}

/* Signals to end that came until now were for the program. */
static void forget_endings(void)
{
    const struct timespec now = {0};
    sigset_t set = endings();
    while (sigtimedwait(&set, NULL, &now) > 0)
        ;
}

void job_may_be_ended(void)
{
    sigset_t set = endings();
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void give_signals_back(void)
{
    sigaction(SIGCHLD, &inherited_child, NULL);
    sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
}

/* ---- the child ---- */

/* The kernel may have no room for variables that the program itself has room for. */
static void execute(const struct job *j)
{
    execvpe(j->argv[0], j->argv, j->environment);
    if (errno != E2BIG)
        return;
    complain("%s: no room for cutrace's variables: it runs unprofiled", j->argv[0]);
    execvp(j->argv[0], j->argv);
}

static _Noreturn void be_program(const struct job *j, pid_t launcher, int failure)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
        raise(SIGKILL);
    give_signals_back();
    execute(j);
    int error = errno;
    if (write(failure, &error, sizeof(error)) < 0) {
        /* the launcher has gone */
    }
    _exit(127);
}

/* Returns 0 when the program is running, or the errno by which it cannot be. */
static int start(struct job *j)
{
    int ends[2], error = 0;
    pid_t launcher = getpid();
    if (pipe2(ends, O_CLOEXEC))
        return errno;
    j->pid = fork();
    if (j->pid < 0)
        return errno;
    if (!j->pid)
        be_program(j, launcher, descriptor_move_up(ends[1]));
    close(ends[1]);
    ssize_t n = read(ends[0], &error, sizeof(error));
    close(ends[0]);
    if (n != sizeof(error))
        return 0;
    waitpid(j->pid, NULL, 0);
    return error;
}

/* ---- signals ---- */

/* The launcher was told to stop, after all that it has taken. */
static bool is_to_stop(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGTSTP) == 1 || sigismember(&pending, SIGTTIN) == 1 ||
           sigismember(&pending, SIGTTOU) == 1;
}

/* Signals that the program sends to its parent are meant for whoever started it. */
static void pass_on(const struct job *j, int signal, const siginfo_t *info)
{
    if (signal_scope_saw(signal))
        return; /* the program has got the signal as well */
    if (signal == SIGCONT && is_to_stop())
        return; /* the witness lost SIGCONT to the stop, and the program may have stopped by now */
    pid_t to = info->si_code == SI_USER && info->si_pid == j->pid ? getppid() : j->pid;
    if (info->si_code == SI_QUEUE)
        sigqueue(to, signal, info->si_value);
    else
        kill(to, signal);
}

/*
 * The program has stopped: so must the launcher, by the same signal, for the shell to see its job
 * stop. Not if a SIGCONT waits already.
 */
static void stop_by(int signal)
{
    struct sigaction standard = {.sa_handler = SIG_DFL}, before;
    sigset_t pending, one;
    sigpending(&pending);
    if (sigismember(&pending, SIGCONT) == 1)
        return;
    sigemptyset(&one);
    sigaddset(&one, signal);
    if (signal != SIGSTOP)
        sigaction(signal, &standard, &before);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here the launcher stops */
    sigprocmask(SIG_BLOCK, &one, NULL);
    if (signal != SIGSTOP)
        sigaction(signal, &before, NULL);
}

/* False: the program has ended. The witness's end is for reap_orphans() to see. */
static bool look_at_program(struct job *j)
{
    int status;
    while (waitpid(j->pid, &status, WNOHANG | WUNTRACED) == j->pid) {
        if (!WIFSTOPPED(status)) {
            j->status = status;
            return false;
        }
        stop_by(WSTOPSIG(status));
    }
    return true;
}

/*
 * Children that others left to the launcher: where it is process 1 of a container, or took the
 * place of a program that had some.
 */
static void reap_orphans(const struct job *j)
{
    for (siginfo_t info;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid ||
            info.si_pid == j->pid)
            return;
        if (signal_scope_is(info.si_pid))
            signal_scope_end();
        else
            waitpid(info.si_pid, NULL, WNOHANG);
    }
}

/* ---- the timeout ---- */

double job_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Descendants are looked for before the first ends: then the others have new parents. */
static void end_all(pid_t program, int signal)
{
    family_gather(program);
    kill(program, signal);
    kill(program, SIGCONT);
    family_signal(signal);
    family_signal(SIGCONT);
}

/* SIGTERM after the timeout, then SIGKILL to processes that have not ended. */
static void watch_clock(struct job *j)
{
    static double end_s; /* 0: CUDA has not started */
    if (end_s <= 0) {
        if (j->has_started())
            end_s = job_now_s() + j->timeout_s;
    } else if (job_now_s() > end_s) {
        end_all(j->pid, j->timed_out ? SIGKILL : SIGTERM);
        j->timed_out = true;
        end_s = job_now_s() + PATIENCE_S;
    }
}

static int next_signal(struct job *j, siginfo_t *info)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    sigset_t all;
    sigfillset(&all);
    if (!(j->timeout_s > 0))
        return sigwaitinfo(&all, info);
    int signal = sigtimedwait(&all, info, &look);
    watch_clock(j);
    return signal;
}

int job_start(struct job *j)
{
    take_signals();
    signal_scope_start();
    int error = start(j);
    if (error)
        signal_scope_end();
    else
        descriptor_drop_inherited();
    return error;
}

void job_wait(struct job *j)
{
    for (siginfo_t info;;) {
        int signal = next_signal(j, &info);
        if (signal == SIGCHLD && !look_at_program(j))
            break;
        if (signal == SIGCHLD)
            reap_orphans(j);
        else if (signal > 0)
            pass_on(j, signal, &info);
    }
    if (j->timed_out)
        family_end(PATIENCE_S);
    forget_endings();
    signal_scope_end();
}

_Noreturn void job_end_as(int status)
{
    if (WIFSIGNALED(status)) {
        struct sigaction standard = {.sa_handler = SIG_DFL};
        int signal = WTERMSIG(status);
        sigset_t one;
        prctl(PR_SET_DUMPABLE, 0);
        sigaction(signal, &standard, NULL);
        raise(signal);
        sigemptyset(&one);
        sigaddset(&one, signal);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        _exit(128 + signal);
    }
    _exit(WEXITSTATUS(status));
}

int job_tool(const char *path, char **argv, int out, int err)
{
    int status;
    pid_t launcher = getpid(), pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* by which the tool leaves no part of a file behind */
        sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
        if (getppid() != launcher)
            _exit(127);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        execv(path, argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
