/* SPDX-License-Identifier: MIT */
#include "ctl/ctl_report.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cutrace/format.h"
#include "cutrace/installation.h"
#include "cutrace/messages.h"
#include "report/host_memory.h"

#define ARGUMENTS 5 /* of the report, besides the files and the end */
#define COPIED_BYTES 65536
#define COPIES 10 /* of a profile that changes meanwhile */

bool ctl_find_all(struct ctl_links *all)
{
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc));) {
        struct link l;
        pid_t pid = isdigit((unsigned char)*e->d_name) ? (pid_t)atoi(e->d_name) : 0;
        if (!pid || !link_listens(pid) || !link_find(&l, pid))
            continue;
        all->links = ct_memory_grow(all->links, &all->size, all->count + 1, sizeof(*all->links));
        all->links[all->count++] = l;
    }
    if (proc)
        closedir(proc);
    if (!all->count)
        complain("there is no process to ask");
    return all->count;
}

/* The report has the profile by its descriptor: the file may be in another container. */
static void add(struct ctl_profiles *p, int profile)
{
    p->path = ct_memory_grow(p->path, &p->size, p->count + 1, sizeof(*p->path));
    fcntl(profile, F_SETFD, 0);
    snprintf(p->path[p->count++], CTL_PATH_BYTES, "/proc/self/fd/%d", profile);
}

static bool copy_all(int from, int to)
{
    static char part[COPIED_BYTES];
    off_t at = 0;
    ssize_t n;
    while ((n = pread(from, part, sizeof(part), at)) > 0 && pwrite(to, part, (size_t)n, at) == n)
        at += n;
    return !n;
}

/* The process has committed nothing since the copy was begun: no part of it is newer. */
static bool is_whole(int profile, int copy)
{
    static struct ct_file_header now, then;
    return pread(profile, &now, sizeof(now), 0) == sizeof(now) &&
           pread(copy, &then, sizeof(then), 0) == sizeof(then) &&
           !memcmp(now.commit, then.commit, sizeof(now.commit));
}

/* In memory, in place of the file; -1: it could not be copied. */
static int copy_of(int profile)
{
    int copy = memfd_create("profile", MFD_CLOEXEC);
    bool copied = false, whole = false;
    for (int i = 0; i < COPIES && copy >= 0 && !whole; i++) {
        copied = copy_all(profile, copy);
        whole = copied && is_whole(profile, copy);
    }
    close(profile);
    if (copied) /* one of its two payloads is whole, as a rule, where the process never pauses */
        return copy;
    if (copy >= 0)
        close(copy);
    return -1;
}

bool ctl_add_profile(struct ctl_profiles *p, const struct link *l, enum ct_ctl_command command,
                     bool keep)
{
    struct ct_ctl_answer a;
    int profile = -1;
    switch (link_ask(l, command, &a, &profile)) {
    case LINK_ANSWERED:
        break;
    case LINK_ENDED:
        complain("process %d has ended, or listens no more", (int)l->pid);
        return false;
    default:
        return false;
    }
    if (profile >= 0 && keep)
        profile = copy_of(profile);
    if (profile < 0)
        complain("the profile of process %d cannot be read", (int)l->pid);
    else
        add(p, profile);
    return profile >= 0;
}

int ctl_show(const struct ctl_profiles *p, const struct options *o, const char *report)
{
    const char *path = installation_report();
    const char *format = o->value[OPTION_CTL_FORMAT];
    char **argv = ct_memory_array(ARGUMENTS + p->count + 1, sizeof(*argv));
    size_t n = 0;
    if (!path) {
        complain("cutrace-report was not found beside cutrace, nor in " CT_BINDIR);
        return EXIT_FAILURE;
    }
    argv[n++] = (char *)(uintptr_t) "cutrace-report";
    argv[n++] = (char *)(uintptr_t)report;
    argv[n++] = (char *)(uintptr_t) "--format";
    argv[n++] = (char *)(uintptr_t)(format ? format : "table");
    argv[n++] = (char *)(uintptr_t) "--";
    for (size_t i = 0; i < p->count; i++)
        argv[n++] = p->path[i];
    execv(path, argv);
    complain("%s: %s", path, strerror(errno));
    return EXIT_FAILURE;
}
