/* SPDX-License-Identifier: MIT */
#include "family.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "job.h"
#include "list.h"
#include "system/proc.h"

/* The descriptor stays the process's; its number may become another's. */
struct member {
    pid_t pid;
    int fd;
};

static struct member *members;
static size_t count;
static pid_t eldest; /* the program */

static void keep(struct member new)
{
    struct member *more = realloc(members, (count + 1) * sizeof(*members));
    if (!more) {
        close(new.fd);
        return;
    }
    members = more;
    members[count++] = new;
}

static bool is_kept(pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (members[i].pid == pid)
            return true;
    return false;
}

/* Keeps a process and those between it and the program; false: it is no descendant. */
static bool keep_line(pid_t pid)
{
    if (pid == eldest || is_kept(pid))
        return true;
    int fd = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1; /* before its parent is read */
    if (fd < 0)
        return false;
    bool ours = keep_line((pid_t)ct_proc_parent((uint64_t)pid));
    if (ours)
        keep((struct member){pid, fd});
    else
        close(fd);
    return ours;
}

static void take(pid_t pid, const char *wanted, const char *path)
{
    (void)wanted;
    (void)path;
    keep_line(pid);
}

void family_gather(pid_t program)
{
    eldest = program;
    list_each(CT_RUN_STARTED, take);
}

void family_signal(int signal)
{
    for (size_t i = 0; i < count; i++)
        syscall(SYS_pidfd_send_signal, members[i].fd, signal, NULL, 0);
}

static bool await(double patience_s)
{
    double end_s = job_now_s() + patience_s;
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        struct pollfd p = {.fd = members[i].fd, .events = POLLIN};
        double left_s = end_s - job_now_s();
        all &= poll(&p, 1, left_s > 0 ? (int)(left_s * 1e3) : 0) == 1;
    }
    return all;
}

void family_end(double patience_s)
{
    if (await(patience_s))
        return;
    family_signal(SIGKILL);
    await(patience_s);
}
