/* SPDX-License-Identifier: MIT */
/*
 * cutrace: runs a program with libcutrace.so preloaded, and prints one table of all its processes.
 * Ends as the program does. Its own failures: 125, not executable: 126, not found: 127.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl_client.h"
#include "cutrace/trace.h"
#include "descriptor.h"
#include "environment.h"
#include "file_pattern.h"
#include "finish.h"
#include "installation.h"
#include "job.h"
#include "launcher_options.h"
#include "list.h"
#include "messages.h"
#include "nsys_options.h"
#include "previous_run.h"
#include "program.h"
#include "report/guess.h"
#include "role.h"
#include "silent_process.h"
#include "system/parent.h"

#define FAILED 125
#define NOT_EXECUTABLE 126
#define NOT_FOUND 127

/* A file of ours where a program is wanted. */
static bool is_profile(const char *name)
{
    char magic[8] = "";
    FILE *f = fopen(name, "re");
    size_t n = f ? fread(magic, 1, sizeof(magic), f) : 0;
    if (f)
        fclose(f);
    return n == sizeof(magic) && (!memcmp(magic, CT_FILE_MAGIC, sizeof(magic)) ||
                                  !memcmp(magic, CT_TRACE_MAGIC, sizeof(magic)));
}

/* A word without a slash: perhaps one of the launcher's own. */
static const char *why_no_command(const char *name)
{
    static const char *const words[] = {"ctl", "profile", "stats", "export", "report"};
    static const char *const meant[] = {"cutrace ctl", "cutrace profile", "cutrace stats",
                                        "cutrace export", "cutrace-report"};
    static char text[64];
    const char *word = ct_guess(name, words, sizeof(words) / sizeof(words[0]));
    size_t len = strlen(name);
    if (len > 3 && !strcmp(name + len - 3, ".py"))
        return strerror(ENOENT);
    for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++)
        if (word == words[i])
            snprintf(text, sizeof(text), "command not found (did you mean %s?)", meant[i]);
    return word ? text : "command not found";
}

static _Noreturn void cannot_run(const char *name, int error)
{
    char room[PATH_MAX];
    bool ours = is_profile(name), is_path = strchr(name, '/');
    bool missing = (error == ENOENT || error == ENOTDIR) && !ours;
    const char *why = strerror(error);
    if (ours)
        why = "is a profile or a trace, no program: cutrace-report prints it";
    else if (error == ENOENT && !is_path)
        why = why_no_command(name);
    else if (error == ENOENT && !access(name, F_OK))
        why = "the interpreter that it names was not found";
    complain("%s: %s", *name ? name : complain_quoted(name, room, sizeof(room)), why);
    exit(missing ? NOT_FOUND : NOT_EXECUTABLE);
}

static const char *need_report(void)
{
    const char *report = installation_report();
    if (!report) {
        complain("cutrace-report was not found beside cutrace, nor in " CT_BINDIR);
        exit(FAILED);
    }
    return report;
}

static const char *need_library(void)
{
    const char *library = installation_library();
    if (!library) {
        complain("libcutrace.so was not found in " CT_LIBDIR ", nor where it is beside cutrace");
        exit(FAILED);
    }
    library = installation_preloadable(library);
    if (!library) {
        complain(
            "the path of libcutrace.so holds blanks, colons or $, and no link to it could be made: "
            "%s",
            strerror(errno));
        exit(FAILED);
    }
    return library;
}

/* ---- outputs, before anything is run ---- */

/* nvprof's help has %1 for standard output, and %2 for standard error; -1: it is a file. */
static int stream_of(const char *log)
{
    return !log ? -1 : !strcmp(log, "%1") ? STDOUT_FILENO : !strcmp(log, "%2") ? STDERR_FILENO : -1;
}

static void need_pattern(const char *option, const char *pattern)
{
    const char *wrong = pattern ? file_pattern_check(pattern) : NULL;
    if (!wrong)
        return;
    complain("--%s '%s': %s", option, pattern, wrong);
    exit(FAILED);
}

/* The error is better said now than after hours. */
static void need_writable(const char *path)
{
    char directory[4096];
    snprintf(directory, sizeof(directory), "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = '\0';
    const char *place = slash ? directory : ".";
    struct stat st;
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (access(path, F_OK) ? !access(place, W_OK | X_OK) : !access(path, W_OK))
        return;
    complain("%s: cannot be written: %s", path, strerror(errno));
    exit(FAILED);
}

/* Adds the rank's number to its file's name, as the library does. */
static void add_own_rank(char *path, size_t size)
{
    char rest[256];
    char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    dot = dot ? dot : path + strlen(path);
    snprintf(rest, sizeof(rest), "%s", dot);
    *dot = '\0';
    struct ct_text t = {path, (size_t)(dot - path), size};
    ct_rank_add(&t, role_rank());
    ct_text_add(&t, rest);
}

static int log_stream = -1; /* duplicate of a standard stream: the launcher keeps none */

static void check_outputs(const struct options *o)
{
    const char *output = o->value[OPTION_OUTPUT];
    const char *log = stream_of(o->value[OPTION_LOG_FILE]) < 0 ? o->value[OPTION_LOG_FILE] : NULL;
    if (!log && options_has(o, OPTION_LOG_FILE))
        log_stream = descriptor_move_up(dup(stream_of(o->value[OPTION_LOG_FILE])));
    need_pattern("export-profile", output);
    need_pattern("log-file", log);
    char path[4096];
    struct stat st;
    if (log &&
        !file_pattern_expand(path, sizeof(path), log, getpid())) /* no pid of the program yet */
        exit(FAILED);
    if (log)
        need_writable(path);
    if (!output || file_pattern_varies(output)) /* processes may have names of their own */
        return;
    if (!file_pattern_expand(path, sizeof(path), output, 0))
        exit(FAILED);
    if (ct_rank_has_job(role_rank()))
        add_own_rank(path, sizeof(path));
    bool there = lstat(path, &st) == 0 && !S_ISDIR(st.st_mode);
    if (!options_has(o, OPTION_OVERWRITE) && there) {
        complain("%s: is there already; -f overwrites it", path);
        exit(FAILED);
    }
    need_writable(path);
}

/* The ranks of a job may have one log: one of them empties it. */
static void open_log(const char *pattern, pid_t pid)
{
    char path[4096];
    if (log_stream >= 0) {
        complain_to(log_stream);
        return;
    }
    if (!pattern || !file_pattern_expand(path, sizeof(path), pattern, pid))
        return;
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY;
    int fd =
        descriptor_move_up(ct_parent_open_file(path, flags | (role_speaks() ? O_TRUNC : 0), 0666));
    if (fd < 0)
        complain("%s: cannot be written: %s", path, strerror(errno));
    else
        complain_to(fd);
}

/* ---- the two things it does ---- */

static int import(struct options *o)
{
    const char *report = need_report();
    char log[4096];
    if (stream_of(o->value[OPTION_LOG_FILE]) == STDOUT_FILENO)
        o->value[OPTION_LOG_FILE] = "-";
    else if (stream_of(o->value[OPTION_LOG_FILE]) == STDERR_FILENO)
        o->value[OPTION_LOG_FILE] = "/dev/stderr";
    else
        need_pattern("log-file", o->value[OPTION_LOG_FILE]);
    if (options_has(o, OPTION_LOG_FILE)) {
        if (!file_pattern_expand(log, sizeof(log), o->value[OPTION_LOG_FILE], getpid()))
            exit(FAILED);
        o->value[OPTION_LOG_FILE] = log;
    }
    finish_import(o, report);
    complain("%s: %s", report, strerror(errno));
    return FAILED;
}

/* The library comes neither into the program nor into its children: nothing is left to do. */
static _Noreturn void run_without(const struct program *p, const struct options *o)
{
    complain("%s %s: it runs unprofiled", p->path, p->why);
    execvp(o->command[0], o->command);
    cannot_run(o->command[0], errno);
}

static void look_at_program(const struct options *o)
{
    struct program p;
    program_look(&p, o->command[0]);
    if (p.kind == PROGRAM_REFUSED)
        cannot_run(o->command[0], errno);
    if (p.kind == PROGRAM_CLOSED)
        run_without(&p, o);
    if (p.kind == PROGRAM_STATIC)
        complain("%s %s: it runs unprofiled, but for the dynamic programs that it starts", p.path,
                 p.why);
}

static int run(const struct options *o)
{
    check_outputs(o);
    look_at_program(o);
    previous_run_keep(o);
    const char *report = need_report(), *library = need_library(), *list = list_make();
    struct job j = {.argv = o->command,
                    .environment = environment_make(o, library, list),
                    .timeout_s = o->value[OPTION_TIMEOUT] ? atof(o->value[OPTION_TIMEOUT]) : 0,
                    .has_started = list_has_started};
    if (!list)
        complain("what processes write cannot be found out: %s", strerror(errno));
    silent_process_start(environment_output());
    int error = job_start(&j);
    if (error)
        cannot_run(o->command[0], error);
    open_log(o->value[OPTION_LOG_FILE], j.pid);
    job_wait(&j);
    installation_tidy();
    if (j.timed_out)
        complain_of(j.pid, "The program was ended %s s after it had started CUDA",
                    o->value[OPTION_TIMEOUT]);
    previous_run_end();
    finish(o, report, j.pid);
    job_end_as(j.status);
}

int main(int argc, char **argv)
{
    struct options o;
    if (argc > 1 && !strcmp(argv[1], "ctl"))
        return ctl_main(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "stats"))
        return nsys_stats(argc - 1, argv + 1, need_report());
    if (argc > 1 && !strcmp(argv[1], "export"))
        return nsys_export(argc - 1, argv + 1, need_report());
    if (argc > 1 && !strcmp(argv[1], "profile") && !nsys_profile(&argc, &argv))
        return FAILED;
    switch (options_parse(&o, argc, argv)) {
    case OPTIONS_RUN:
        complain_to(descriptor_move_up(dup(STDERR_FILENO)));
        role_find(&o);
        return options_has(&o, OPTION_IMPORT) ? import(&o) : run(&o);
    case OPTIONS_DONE:
        return fflush(stdout) || ferror(stdout) ? FAILED : EXIT_SUCCESS;
    default:
        return FAILED;
    }
}
