/* SPDX-License-Identifier: MIT */
#include "ctl/ctl_stuck.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutrace/installation.h"
#include "cutrace/messages.h"

#define PATH_BYTES 32
#define ARGUMENTS 5 /* of the report, besides the files and the end */

struct files {
    char (*path)[PATH_BYTES];
    size_t count, size;
};

/* The report has the profile by its descriptor: the file may be in another container. */
static bool add(struct files *f, int profile)
{
    if (f->count == f->size) {
        size_t size = f->size ? 2 * f->size : 16;
        void *more = realloc(f->path, size * sizeof(*f->path));
        if (!more)
            return false;
        f->path = more;
        f->size = size;
    }
    fcntl(profile, F_SETFD, 0);
    snprintf(f->path[f->count++], PATH_BYTES, "/proc/self/fd/%d", profile);
    return true;
}

static bool ask(struct files *f, const struct link *l)
{
    struct ct_ctl_answer a;
    int profile = -1;
    switch (link_ask(l, CT_CTL_STUCK, &a, &profile)) {
    case LINK_ANSWERED:
        break;
    case LINK_ENDED:
        complain("process %d has ended, or listens no more", (int)l->pid);
        return false;
    default:
        return false;
    }
    if (profile < 0)
        complain("the profile of process %d cannot be read", (int)l->pid);
    return profile >= 0 && add(f, profile);
}

static int show(const struct files *f, const struct options *o)
{
    const char *report = installation_report();
    const char *format = o->value[OPTION_CTL_FORMAT];
    char **argv = calloc(ARGUMENTS + f->count + 1, sizeof(*argv));
    size_t n = 0;
    if (!report || !argv) {
        complain("cutrace-report was not found beside cutrace, nor in " CT_BINDIR);
        return EXIT_FAILURE;
    }
    argv[n++] = (char *)(uintptr_t) "cutrace-report";
    argv[n++] = (char *)(uintptr_t) "stuck";
    argv[n++] = (char *)(uintptr_t) "--format";
    argv[n++] = (char *)(uintptr_t)(format ? format : "table");
    argv[n++] = (char *)(uintptr_t) "--";
    for (size_t i = 0; i < f->count; i++)
        argv[n++] = f->path[i];
    execv(report, argv);
    complain("%s: %s", report, strerror(errno));
    return EXIT_FAILURE;
}

int stuck(const struct link *l, const struct options *o)
{
    struct files f = {0};
    return ask(&f, l) ? show(&f, o) : EXIT_FAILURE;
}

int stuck_of_all(const struct options *o)
{
    struct files f = {0};
    DIR *all = opendir("/proc");
    for (struct dirent *e; all && (e = readdir(all));) {
        struct link l;
        pid_t pid = isdigit((unsigned char)*e->d_name) ? (pid_t)atoi(e->d_name) : 0;
        if (pid && link_listens(pid) && link_find(&l, pid))
            ask(&f, &l);
    }
    if (all)
        closedir(all);
    if (f.count)
        return show(&f, o);
    complain("there is no process to ask");
    return EXIT_FAILURE;
}
