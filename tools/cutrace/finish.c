/* SPDX-License-Identifier: MIT */
#include "finish.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gather.h"
#include "job.h"
#include "list.h"
#include "messages.h"
#include "role.h"
#include "silent_process.h"

#define RANKS_SHOWN "8"
#define FILES_NAMED 8 /* in the line that says how to look at the files again */

/* A path as the user would write it: without the working directory. */
static const char *short_path(const char *path)
{
    static char cwd[4096];
    size_t len = getcwd(cwd, sizeof(cwd)) ? strlen(cwd) : 0;
    bool below = len > 1 && !strncmp(path, cwd, len) && path[len] == '/';
    return below && path[len + 1] != '-' ? path + len + 1 : path; /* no name is to be an option */
}

/* ---- the table ---- */

struct arguments {
    char **word;
    size_t count;
};

static void add(struct arguments *a, const char *word)
{
    a->word[a->count++] = (char *)(uintptr_t)word;
}

static void add_option(struct arguments *a, const struct options *o, enum option_id id)
{
    const struct option_row *r = &option_rows[id];
    char *text;
    if (o->value[id] &&
        asprintf(&text, r->argument ? "--%s=%s" : "--%s", r->name, o->value[id]) > 0)
        add(a, text);
}

/* The report's own options are handed over as they came. */
static void add_options(struct arguments *a, const struct options *o)
{
    add(a, "cutrace-report");
    if (options_wants_trace(o))
        add(a, "trace");
    add_option(a, o, OPTION_GPU_TRACE);
    add_option(a, o, OPTION_API_TRACE);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].who == FOR_REPORT)
            add_option(a, o, (enum option_id)i);
}

/* Rows in a file have no text behind them. */
static int where_text_goes(const struct options *o)
{
    bool rows = options_has(o, OPTION_CSV) && options_has(o, OPTION_LOG_FILE);
    return rows ? complain_where_else() : complain_where();
}

static void print_table(const struct options *o, const char *report, const char *const *paths,
                        size_t count)
{
    struct arguments a = {calloc(count + OPTION_COUNT + 8, sizeof(char *)), 0};
    if (!a.word)
        return;
    add_options(&a, o);
    add(&a, "--live");
    add(&a, "--");
    for (size_t i = 0; i < count; i++)
        add(&a, paths[i]);
    int status = job_tool(report, a.word, complain_where(),
                          where_text_goes(o)); /* the report says its own failures */
    if (status < 0 || status >= 127)
        complain("the table could not be printed: %s failed", report);
    free(a.word);
}

/* Slower ranks and their operations, those that cost most. */
static void print_ranks(const char *report, const char *const *paths, size_t count)
{
    struct arguments a = {calloc(count + 8, sizeof(char *)), 0};
    if (!a.word)
        return;
    add(&a, "cutrace-report");
    add(&a, "ranks");
    add(&a, "--top=" RANKS_SHOWN);
    add(&a, "--");
    for (size_t i = 0; i < count; i++)
        add(&a, paths[i]);
    job_tool(report, a.word, complain_where(), complain_where());
    free(a.word);
}

void finish_import(const struct options *o, const char *report)
{
    struct arguments a = {calloc(OPTION_COUNT + 8, sizeof(char *)), 0};
    if (!a.word)
        return;
    add_options(&a, o);
    if (options_has(o, OPTION_LOG_FILE)) {
        add(&a, "--log-file");
        add(&a, o->value[OPTION_LOG_FILE]);
    }
    add(&a, "--");
    add(&a, o->value[OPTION_IMPORT]);
    execv(report, a.word);
}

/* Whether each process is to have a table, and for that its file. */
static bool wants_each(const struct options *o)
{
    const char *each = o->value[OPTION_CHILDREN];
    return each && !*each;
}

static void print_tables(const struct options *o, const char *report, const char *const *paths,
                         size_t count)
{
    if (!wants_each(o))
        print_table(o, report, paths, count);
    for (size_t i = 0; wants_each(o) && i < count; i++)
        print_table(o, report, &paths[i], 1);
}

/* ---- words ---- */

static void say_who_runs(const struct list *l, pid_t pid)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->files[i].open && !l->files[i].trace)
            complain_of(pid, "Process %d still runs and goes on writing %s", (int)l->files[i].pid,
                        short_path(l->files[i].path));
}

static void say_what_next(pid_t pid, const char *report, const char *const *paths, size_t count)
{
    char line[4096] = "", room[4096];
    size_t at = 0;
    for (size_t i = 0; i < count && i < FILES_NAMED && at < sizeof(line); i++)
        at += (size_t)snprintf(line + at, sizeof(line) - at, " %s",
                               complain_quoted(short_path(paths[i]), room, sizeof(room)));
    complain_of(pid, "Look at it again, or closer: cutrace-report%s%s%s", report, line,
                count > FILES_NAMED ? " ..." : "");
}

/* Profiles of other ranks are other launchers', and may still be written. */
static void say_all_ranks(pid_t pid, const char *path)
{
    char all[4096];
    struct ct_text t = ct_text_in(all, sizeof(all));
    if (ct_rank_has_job(role_rank()) && ct_rank_add_all(&t, short_path(path)))
        complain_of(pid, "The table of all ranks: cutrace-report ranks %s", all);
}

/* A file may have been removed since, or be where the launcher cannot see it. */
static void say_who_left_none(const struct list *l, pid_t pid)
{
    if (!l->known || role_is_left_out())
        return;
    if (!l->started && role_speaks())
        silent_process_say(pid);
    else if (l->started && !l->profiles && silent_process_say_files(pid))
        return; /* these processes could not tell when their files had names */
    else if (l->started == 1 && !l->profiles)
        complain_of(pid, "The process that started CUDA left no profile that can be found");
    else if (l->profiles < l->started)
        complain_of(pid, "Of %zu processes that started CUDA %zu left no profile that can be found",
                    l->started, l->started - l->profiles);
}

/* The report names the profiles that it is given. */
static void say_files(pid_t pid, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        complain_of(pid, "Generated result file: %s", paths[i]);
}

/* A file of rows ends with a row: other lines go to the terminal. */
static void say_beside_rows(const struct options *o)
{
    if (where_text_goes(o) != complain_where())
        complain_to(where_text_goes(o));
}

/* The traces, if they are wanted and there are some; else the profiles. */
static void tell(const struct options *o, const char *report, const struct list *l, pid_t pid,
                 const char **profiles)
{
    size_t count = wants_each(o) ? gather_all(l, false, profiles) : gather(l, report, profiles);
    const char **traces = profiles + count;
    size_t trace_count = gather_all(l, true, traces);
    bool traced = options_wants_trace(o) && trace_count;
    job_may_be_ended();
    if (options_has(o, OPTION_QUIET))
        return;
    say_who_left_none(l, pid);
    if (!count && !traced)
        return;
    if (!role_speaks()) {
        say_who_runs(l, pid);
        return;
    }
    bool rows_last = options_has(o, OPTION_CSV) && where_text_goes(o) == complain_where();
    if (!rows_last)
        print_tables(o, report, traced ? traces : profiles, traced ? trace_count : count);
    say_beside_rows(o);
    if (!traced && !options_has(o, OPTION_CSV) && gather_has_ranks(l))
        print_ranks(report, profiles, count);
    say_files(pid, profiles, traced ? count : 0);
    say_files(pid, traces, trace_count);
    say_who_runs(l, pid);
    say_what_next(pid, traced ? " trace" : "", traced ? traces : profiles,
                  traced ? trace_count : count);
    if (count)
        say_all_ranks(pid, profiles[0]);
    if (rows_last)
        print_tables(o, report, traced ? traces : profiles, traced ? trace_count : count);
}

/* A launcher inside of this one told of a profile: the launcher around is to know. */
static void pass_further(pid_t launcher, const char *wanted, const char *path)
{
    (void)wanted;
    list_pass_on(launcher, path);
}

void finish(const struct options *o, const char *report, pid_t pid)
{
    struct list l;
    list_read(&l);
    const char **paths = calloc(l.count + 1, sizeof(*paths));
    if (paths)
        tell(o, report, &l, pid, paths);
    for (size_t i = 0; i < l.count; i++) /* merged ones have been removed */
        if (!l.files[i].trace && !access(l.files[i].path, F_OK))
            list_pass_on(getpid(), l.files[i].path);
    list_each(CT_RUN_PASSED, pass_further);
    free(paths);
}
