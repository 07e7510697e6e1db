/* SPDX-License-Identifier: MIT */
#include "gather.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rank.h"
#include "job.h"
#include "messages.h"
#include "role.h"

struct group {
    const char **paths;
    size_t count;
    bool open; /* a process still writes one of the files */
};

/* Profiles that were to have the name of entry `first`, the first of them in the list. */
static struct group group_of(const struct list *l, size_t first, const char **room)
{
    struct group g = {.paths = room};
    for (size_t i = first; i < l->count; i++) {
        const struct list_file *f = &l->files[i];
        if (f->trace || strcmp(f->wanted, l->files[first].wanted))
            continue;
        g.paths[g.count++] = f->path;
        g.open |= f->open;
    }
    return g;
}

static bool is_first(const struct list *l, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!l->files[k].trace && !strcmp(l->files[k].wanted, l->files[i].wanted))
            return false;
    return true;
}

/* Whether the file is a rank's, with the number in its name. */
static bool is_of_rank(const char *path, const char *wanted)
{
    char all[2 * PATH_MAX];
    struct ct_text t = ct_text_in(all, sizeof(all));
    return strcmp(path, wanted) != 0 && ct_rank_add_all(&t, path);
}

/*
 * The name that was asked for, if one of the processes here has it, or if these are all ranks; else
 * another run may have it. With a launcher in each rank the name would be for the other ranks, too.
 */
static const char *name_of(const struct group *g, const char *wanted)
{
    for (size_t i = 0; i < g->count; i++)
        if (!strcmp(g->paths[i], wanted))
            return wanted;
    bool all_ranks = is_of_rank(g->paths[0], wanted) && !ct_rank_has_job(role_rank());
    return all_ranks ? wanted : g->paths[0];
}

static bool merge(const struct group *g, const char *report, const char *to)
{
    const char **words = calloc(g->count + 7, sizeof(*words));
    size_t n = 0;
    if (!words)
        return false;
    words[n++] = "cutrace-report";
    words[n++] = "merge";
    words[n++] = "--live"; /* all of them or none: a sum beside its parts counts twice */
    words[n++] = "-o";
    words[n++] = to;
    words[n++] = "--";
    memcpy(words + n, g->paths, g->count * sizeof(*words));
    bool done =
        job_tool(report, (char **)(uintptr_t)words, complain_where(), complain_where()) == 0;
    free(words);
    for (size_t i = 0; done && i < g->count; i++)
        if (strcmp(g->paths[i], to))
            unlink(g->paths[i]);
    return done;
}

size_t gather(const struct list *l, const char *report, const char **paths)
{
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (l->files[i].trace || !is_first(l, i))
            continue;
        struct group g = group_of(l, i, paths + count);
        const char *to = name_of(&g, l->files[i].wanted);
        if (g.count > 1 && !g.open && merge(&g, report, to)) {
            paths[count] = to;
            g.count = 1;
        }
        count += g.count;
    }
    return count;
}

size_t gather_all(const struct list *l, bool traces, const char **paths)
{
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->files[i].trace == traces)
            paths[count++] = l->files[i].path;
    return count;
}

bool gather_has_ranks(const struct list *l)
{
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += !l->files[i].trace && is_of_rank(l->files[i].path, l->files[i].wanted);
    return count > 1;
}
