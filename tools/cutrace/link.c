/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "messages.h"

#define PATIENCE_S 10

/* ---- finding ---- */

static FILE *open_of(pid_t pid, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    return fopen(path, "re");
}

static bool has_ended(pid_t pid)
{
    return kill(pid, 0) && errno == ESRCH;
}

/*
 * Looks for a descriptor whose target begins so, and copies the target's rest. False: there is
 * none; errno is EACCES if descriptors may not be read.
 */
static bool find_descriptor(DIR *descriptors, const char *start, char rest[LINK_NAME_BYTES])
{
    char target[128];
    size_t len = strlen(start);
    int error = 0;
    rewinddir(descriptors);
    for (struct dirent *e; (e = readdir(descriptors));) {
        ssize_t n = readlinkat(dirfd(descriptors), e->d_name, target, sizeof(target) - 1);
        error = n < 0 && errno == EACCES ? EACCES : error;
        target[n > 0 ? n : 0] = '\0';
        if (!strncmp(target, start, len)) {
            snprintf(rest, LINK_NAME_BYTES, "%s", target + len);
            return true;
        }
    }
    errno = error;
    return false;
}

static bool has_socket(DIR *descriptors, uint64_t inode)
{
    char wanted[64], rest[LINK_NAME_BYTES];
    snprintf(wanted, sizeof(wanted), "socket:[%" PRIu64 "]", inode);
    return find_descriptor(descriptors, wanted, rest);
}

/* A line of proc/PID/net/unix: "...: count protocol flags type state inode @name" */
static bool is_its_socket(const char *line, DIR *descriptors, char name[LINK_NAME_BYTES])
{
    uint64_t inode;
    return sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " @%63s", &inode, name) == 2 &&
           !strncmp(name, CT_CTL_NAME, strlen(CT_CTL_NAME)) && has_socket(descriptors, inode);
}

static bool find_name(struct link *l, DIR *descriptors)
{
    char line[512];
    bool found = false;
    FILE *f = open_of(l->pid, "net/unix");
    while (f && !found && fgets(line, sizeof(line), f))
        found = is_its_socket(line, descriptors, l->name);
    if (f)
        fclose(f);
    return found;
}

static bool find_key(struct link *l, DIR *descriptors)
{
    char key[LINK_NAME_BYTES];
    if (!find_descriptor(descriptors, "/memfd:" CT_CTL_KEY_NAME, key) ||
        strspn(key, "0123456789abcdef") != CT_CTL_KEY_DIGITS)
        return false;
    memcpy(l->key, key, sizeof(l->key));
    return true;
}

/* Whether the file that a line of maps ends with is the library, also one replaced since. */
static bool names_library(const char *line)
{
    static const char library[] = "libcutrace.so";
    const char *file = strrchr(line, '/');
    return file && !strncmp(file + 1, library, sizeof(library) - 1) &&
           strchr(". \n", file[sizeof(library)]);
}

static bool has_library(pid_t pid)
{
    char line[4200];
    bool found = false;
    FILE *f = open_of(pid, "maps");
    while (f && !found && fgets(line, sizeof(line), f))
        found = names_library(line);
    if (f)
        fclose(f);
    return found;
}

/* The process's effective user, as seen from here; -1: it is not known. */
static uid_t user_of(pid_t pid)
{
    char line[256];
    unsigned user = (unsigned)-1;
    FILE *f = open_of(pid, "status");
    while (f && fgets(line, sizeof(line), f) && sscanf(line, "Uid: %*u %u", &user) != 1)
        ;
    if (f)
        fclose(f);
    return user;
}

static void say_closed(pid_t pid)
{
    if (user_of(pid) == geteuid())
        complain(
            "process %d is this user's, but its descriptors cannot be read, as of one that is not "
            "dumpable or may do more: root may ask",
            (int)pid);
    else if (geteuid() == 0)
        complain("the descriptors of process %d cannot be read: for another user's, root needs "
                 "CAP_SYS_PTRACE",
                 (int)pid);
    else
        complain("process %d is another user's: its own user and root may ask", (int)pid);
}

static void say_why_not(pid_t pid)
{
    if (has_ended(pid))
        complain("there is no process %d", (int)pid);
    else if (has_library(pid))
        complain(
            "process %d has libcutrace.so, but does not listen: it has not started CUDA, was left "
            "out, or has CUTRACE_CONTROL=off",
            (int)pid);
    else
        complain("process %d runs without libcutrace.so", (int)pid);
}

/* Sockets' names are of a network namespace, and containers often have one of their own. */
static bool enter_network_of(pid_t pid)
{
    struct stat own, its;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    if (stat("/proc/self/ns/net", &own) || stat(path, &its) ||
        (own.st_dev == its.st_dev && own.st_ino == its.st_ino))
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool entered = fd >= 0 && !setns(fd, CLONE_NEWNET);
    if (!entered)
        complain("process %d is in another network namespace: ask as root, or inside its container",
                 (int)pid);
    if (fd >= 0)
        close(fd);
    return entered;
}

static DIR *open_descriptors(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    return opendir(path);
}

bool link_listens(pid_t pid)
{
    struct link l = {.pid = pid};
    DIR *descriptors = open_descriptors(pid);
    bool listens = descriptors && find_key(&l, descriptors) && find_name(&l, descriptors);
    if (descriptors)
        closedir(descriptors);
    return listens;
}

bool link_find(struct link *l, pid_t pid)
{
    *l = (struct link){.pid = pid};
    DIR *descriptors = open_descriptors(pid);
    bool has_key = descriptors && find_key(l, descriptors);
    bool closed = !has_key && errno == EACCES;
    bool found = descriptors && find_name(l, descriptors);
    if (descriptors)
        closedir(descriptors);
    if (closed)
        say_closed(pid);
    else if (!found)
        say_why_not(pid);
    else if (!has_key)
        complain("process %d has no key to its socket: its libcutrace.so is of another version",
                 (int)pid);
    return found && has_key;
}

/* ---- asking ---- */

#define SILENT "does not answer: a call of its driver does not return, or it is stopped"

static int call(const struct link *l)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    size_t len = strlen(l->name);
    memcpy(a.sun_path + 1, l->name, len);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (fd >= 0 && !connect(fd, (const struct sockaddr *)&a,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_that_process(int fd, pid_t pid)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid == pid;
}

/* Bytes of the answer; a descriptor beside it that is not wanted is closed. */
static ssize_t receive(int fd, struct ct_ctl_answer *answer, int *profile)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec data = {answer, sizeof(*answer)};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof(control.room)};
    ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    int passed = -1;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&passed, CMSG_DATA(c), sizeof(int));
    if (profile)
        *profile = passed;
    else if (passed >= 0)
        close(passed);
    return n;
}

static enum link_result fail(const struct link *l, const char *why)
{
    if (has_ended(l->pid))
        return LINK_ENDED;
    complain("process %d %s", (int)l->pid, why);
    return LINK_FAILED;
}

static enum link_result converse(const struct link *l, int fd, enum ct_ctl_command command,
                                 struct ct_ctl_answer *answer, int *profile)
{
    struct ct_ctl_request r = {.magic = CT_CTL_MAGIC, .command = command};
    memcpy(r.key, l->key, sizeof(r.key));
    if (!is_that_process(fd, l->pid))
        return fail(l, "is not the one that listens where it should");
    send(fd, &r, sizeof(r), MSG_NOSIGNAL); /* a refusal comes without being asked */
    ssize_t n = receive(fd, answer, profile);
    if (n < 0 && errno == ECONNRESET) /* told once, before the answer's bytes */
        n = receive(fd, answer, profile);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return fail(l, SILENT);
    if (n != sizeof(*answer) || answer->magic != CT_CTL_MAGIC)
        return LINK_ENDED;
    answer->path[sizeof(answer->path) - 1] = '\0';
    if (!answer->error)
        return LINK_ANSWERED;
    if (answer->error == EBUSY)
        return fail(l, SILENT);
    return fail(l, answer->error == EACCES ? "does not take the key that was read from it"
                                           : "does not know this command: it has another version");
}

enum link_result link_ask(const struct link *l, enum ct_ctl_command command,
                          struct ct_ctl_answer *answer, int *profile)
{
    if (profile)
        *profile = -1;
    if (!enter_network_of(l->pid))
        return LINK_FAILED;
    int fd = call(l);
    if (fd < 0) /* a process that ends listens no more before it is gone */
        return errno == ECONNREFUSED ? LINK_ENDED : fail(l, "cannot be reached");
    enum link_result result = converse(l, fd, command, answer, profile);
    close(fd);
    return result;
}
