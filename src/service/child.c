/* SPDX-License-Identifier: MIT */
/*
 * Two processes: the program, and its parent. A process that has called exec sends its parent a
 * SIGCHLD, which the host could be handling or waiting for; the parent never calls exec, and sends
 * none. The parent runs in the host's memory, which costs nothing however large, with the thread
 * pointer of the thread that waits for it: so it uses nothing of the C library (system/raw.h). It
 * is killed when that thread ends, and the program when the parent does.
 *
 * As long as the parent is there, the host's memory is. A program that takes longer, and looks
 * itself whether the host is there (cutrace/host.h), tells the parent, which then ends before the
 * program; the host waits on.
 */
#include "service/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cutrace/host.h"
#include "system/mem.h"
#include "system/raw.h"

/* The C library's own name: a host, or ThreadSanitizer, may have put a function under the name
 * clone that is for processes with a memory of their own. */
int __clone(int (*function)(void *), void *stack, int flags, void *arg, ...);

#define STACK_BYTES (64 * 1024)
#define LONGEST_NS (INT64_C(1000000000) * CT_HOST_LONGEST_S) /* stderr may have no reader */
#define NAP_NS 1000000
#define KILLED_NS 500000000 /* for a killed program to end; a dead file server may keep it */
#define SIGNALS 64
#define MASK_BYTES 8 /* as the kernel has it */

enum leave {
    STAYS,
    ASKS,    /* by the parent: the program can do without it */
    MAY_GO,  /* by the host, which waits for the program itself */
    MUST_NOT /* by the host, which cannot */
};

enum end { RUNS, ENDED, ENDED_WELL, LEFT }; /* as the parent has seen the program */

/* Shared by all three processes, and not on a stack that a signal handler may leave. */
struct job {
    struct ct_child child;
    char *stack; /* program's, until its exec */
    pid_t host, parent, program;
    int64_t end_ns; /* end of the program's time */
    atomic_int leave;
    atomic_int end;
};

/* ---- in the program's process, before it is the program ---- */

/*
 * Where the program cannot live, as with too small a stack, its core would lie where the host's
 * does. One byte, as a limit of 0 lets cores through to a pipe (core(5)).
 */
CT_BARE static void leave_no_core(void)
{
    const struct rlimit least = {1, 1};
    CT_RAW(setrlimit, RLIMIT_CORE, &least, 0, 0, 0);
}

/* Returns and does not call _exit(): AddressSanitizer would warn of a stack it does not know. */
CT_BARE static int be_program(void *arg)
{
    struct job *j = arg;
    uint64_t nothing = 0;
    CT_RAW(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (CT_RAW(getppid, 0, 0, 0, 0, 0) != j->parent)
        return 127;
    if (j->child.descriptor >= 0)
        CT_RAW(fcntl, j->child.descriptor, F_SETFD, 0, 0, 0);
    CT_RAW(rt_sigprocmask, SIG_SETMASK, &nothing, NULL, MASK_BYTES, 0);
    leave_no_core();
    CT_RAW(execve, j->child.program, j->child.argv, j->child.envp, 0, 0);
    return 127;
}

/* ---- in its parent ---- */

struct entry { /* as getdents64(2) gives it */
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

CT_BARE static void close_entry(const char *name, int kept, int directory)
{
    int fd = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        fd = 10 * fd + (*name - '0');
    if (!*name && fd > STDERR_FILENO && fd != kept && fd != directory)
        CT_RAW(close, fd, 0, 0, 0, 0);
}

/* For Linux before 5.9, or without close_range() allowed. Closing does not disturb the reading. */
CT_BARE static void close_listed(int kept)
{
    _Alignas(struct entry) char room[1024];
    int at = (int)CT_RAW(openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0, 0);
    for (long n; at >= 0 && (n = CT_RAW(getdents64, at, room, sizeof(room), 0, 0)) > 0;)
        for (long i = 0; i < n;) {
            const struct entry *e = (const struct entry *)(const void *)(room + i);
            close_entry(e->name, kept, at);
            i += e->bytes;
        }
    if (at >= 0)
        CT_RAW(close, at, 0, 0, 0, 0);
}

/* The parent has a table of descriptors of its own: the host's stay open. */
CT_BARE static void close_others(int kept)
{
    const unsigned first = STDERR_FILENO + 1, last = ~0u;
#ifdef SYS_close_range
    if (kept < 0 && !CT_RAW(close_range, first, last, 0, 0, 0))
        return;
    if (kept >= 0 && !CT_RAW(close_range, (unsigned)kept + 1, last, 0, 0, 0)) {
        if ((unsigned)kept > first)
            CT_RAW(close_range, first, (unsigned)kept - 1, 0, 0, 0);
        return;
    }
#endif
    close_listed(kept);
}

/*
 * No handler of the host's may run in its memory when the program's process unblocks its signals.
 * Ignored signals stay so, but for SIGCHLD: that would make the program's status vanish.
 */
CT_BARE static void drop_handlers(void)
{
    uintptr_t action[8];
    static const uintptr_t standard[8];
    for (long number = 1; number <= SIGNALS; number++) {
        bool known = !CT_RAW(rt_sigaction, number, NULL, action, MASK_BYTES, 0);
        if (known && (action[0] != (uintptr_t)SIG_IGN || number == SIGCHLD))
            CT_RAW(rt_sigaction, number, standard, NULL, MASK_BYTES, 0);
    }
}

CT_BARE static int64_t now_ns(void)
{
    struct timespec t = {0};
    CT_RAW(clock_gettime, CLOCK_MONOTONIC, &t, 0, 0, 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits for two signals that are blocked: SIGCHLD when the program has ended, CT_HOST_WATCHED if
 * it says that it looks itself. */
CT_BARE static void hear(struct job *j, int64_t longest_ns)
{
    uint64_t signals = (uint64_t)1 << (SIGCHLD - 1) | (uint64_t)1 << (CT_HOST_WATCHED - 1);
    struct timespec t = {.tv_sec = longest_ns / 1000000000, .tv_nsec = longest_ns % 1000000000};
    siginfo_t info;
    long number = CT_RAW(rt_sigtimedwait, &signals, &info, &t, MASK_BYTES, 0);
    if (number == CT_HOST_WATCHED && info.si_pid == j->program && j->parent != 1)
        atomic_store(&j->leave, ASKS);
}

CT_BARE static enum end wait_for(struct job *j)
{
    for (;;) {
        int status = 0, leave = atomic_load(&j->leave);
        long r = CT_RAW(wait4, j->program, &status, __WALL | WNOHANG, NULL, 0);
        if (r == j->program)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ENDED_WELL : ENDED;
        if (r < 0 && r != -EINTR)
            return ENDED;
        if (leave == MAY_GO)
            return LEFT;
        int64_t left_ns = j->end_ns - now_ns();
        if (left_ns <= 0)
            return RUNS;
        hear(j, leave == ASKS && left_ns > NAP_NS ? NAP_NS : left_ns);
    }
}

/* getppid() gives 0 for a host in another namespace: then nobody can tell whether it is gone. */
CT_BARE static bool is_host_gone(const struct job *j)
{
    long parent = CT_RAW(getppid, 0, 0, 0, 0, 0);
    return parent && parent != j->host;
}

CT_BARE static int be_parent(void *arg)
{
    struct job *j = arg;
    CT_RAW(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (is_host_gone(j))
        return 0;
    close_others(j->child.descriptor);
    drop_handlers();
    j->parent = (pid_t)CT_RAW(getpid, 0, 0, 0, 0, 0);
    j->end_ns = now_ns() + LONGEST_NS;
    /* The C library's __clone() touches nothing of a thread's, unless it fails. */
    j->program = __clone(be_program, j->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, j);
    enum end end = j->program > 0 ? wait_for(j) : ENDED;
    if (end == RUNS) {
        CT_RAW(kill, j->program, SIGKILL, 0, 0, 0);
        j->end_ns += KILLED_NS;
        wait_for(j);
    }
    atomic_store(&j->end, end);
    return 0;
}

/* ---- in the host ---- */

/* Whether the host would get the program as a child when the parent has left. */
static bool is_adopter(void)
{
    int adopts = 0;
    return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) || adopts;
}

static int open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

static void kill_process(int process)
{
#ifdef SYS_pidfd_send_signal
    syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
#else
    (void)process;
#endif
}

/* Called while the parent is there, so that the number is still the program's. */
static int take_over(struct job *j)
{
    int process = is_adopter() ? -1 : open_process(j->program);
    atomic_store(&j->leave, process >= 0 ? MAY_GO : MUST_NOT);
    return process;
}

static bool has_ended(int process, int64_t end_ns)
{
    struct pollfd p = {.fd = process, .events = POLLIN};
    int64_t left_ns;
    while ((left_ns = end_ns - now_ns()) > 0) {
        int r = poll(&p, 1, (int)(left_ns / 1000000) + 1);
        if (r > 0 || (r < 0 && errno != EINTR))
            return r > 0;
    }
    return false;
}

/* Waits when the parent has left; only a parent could tell how the program ended. */
static bool wait_alone(struct job *j, int process)
{
    bool ended = has_ended(process, j->end_ns);
    if (!ended) {
        kill_process(process);
        has_ended(process, j->end_ns + KILLED_NS);
    }
    close(process);
    return ended;
}

/* False: the parent has not ended in time, as in an exec from a file server that is gone. */
static bool wait_for_parent(struct job *j, pid_t pid, int64_t end_ns, int *process)
{
    while (!waitpid(pid, NULL, __WCLONE | WNOHANG)) {
        if (now_ns() > end_ns)
            return false;
        if (atomic_load(&j->leave) == ASKS)
            *process = take_over(j);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return true;
}

/* *gone: nobody uses the job's memory any more. */
static bool wait_with_parent(struct job *j, pid_t pid, bool *gone)
{
    int process = -1;
    int64_t end_ns = now_ns() + LONGEST_NS + 2 * KILLED_NS;
    *gone = wait_for_parent(j, pid, end_ns, &process);
    if (!*gone) {
        kill(pid, SIGKILL);
        *gone = wait_for_parent(j, pid, end_ns + KILLED_NS, &process);
    }
    if (*gone && atomic_load(&j->end) == LEFT)
        return wait_alone(j, process);
    if (process >= 0)
        close(process);
    return atomic_load(&j->end) == ENDED_WELL;
}

/* No handler runs in the parent, which begins with the mask of the thread that made it. */
static pid_t start(struct job *j, char *stack)
{
    sigset_t everything, before;
    sigfillset(&everything);
    pthread_sigmask(SIG_SETMASK, &everything, &before);
    pid_t pid = __clone(be_parent, stack, CLONE_VM, j);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

bool ct_child_run(const struct ct_child *child)
{
    char *room = ct_map(3 * STACK_BYTES); /* the job lies below both stacks */
    struct job *j = (struct job *)(void *)room;
    if (!room)
        return false;
    *j = (struct job){.child = *child, .stack = room + 2 * STACK_BYTES, .host = getpid()};
    pid_t pid = start(j, room + 3 * STACK_BYTES);
    bool gone = true, ok = pid > 0 && wait_with_parent(j, pid, &gone);
    if (gone)
        ct_unmap(room, 3 * STACK_BYTES);
    return ok;
}
