/* SPDX-License-Identifier: MIT */
#include "nsys_options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.h"
#include "report/guess.h"

#define WRONG 125
#define FIRST_CODE 256
#define MOST_WORDS 64 /* of a report's command line */

enum kind { VALUE, SWITCH, TRACE, STATS, RANGE, NODES, UNIFIED, VARIABLES, SILENT, NONE, NOT };

static const struct row {
    const char *name;
    char letter;
    enum kind kind;
    const char *option;
    const char *text;
} rows[] = {
#define NSYS(...) {__VA_ARGS__},
#include "nsys.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- words of a command line ---- */

struct words {
    char **word;
    int count;
};

static void add(struct words *w, const char *word)
{
    w->word = realloc(w->word, sizeof(char *) * (size_t)(w->count + 2));
    if (!w->word)
        abort();
    w->word[w->count++] = (char *)(uintptr_t)word;
    w->word[w->count] = NULL;
}

static void add_value(struct words *w, const char *option, const char *value)
{
    char *word;
    if (asprintf(&word, "%s=%s", option, value) < 0)
        abort();
    add(w, word);
}

/* Whether a word is in a list that commas separate. */
static bool has(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        if (n == len && !strncmp(at, word, n))
            return true;
        at += n;
    }
    return false;
}

/* ---- options that are not known ---- */

static void refuse(const char *command, int code, char **argv, const struct option *longs)
{
    char hint[CT_GUESS_BYTES];
    const char *word = argv[optind - 1];
    if (code == ':') {
        complain("%s: '%s' requires an argument", command, word);
        return;
    }
    const char *dashed = optopt ? ct_guess_dash(hint, argv, optind, optopt, longs) : NULL;
    if (!optopt)
        ct_guess_option(hint, word, longs);
    complain("'%s' is no option of %s that is known here%s", dashed ? dashed : word, command, hint);
}

/* ---- profile ---- */

/* "A=B,C=D" */
static void set_variables(const char *value)
{
    char *copy = strdup(value), *rest = copy;
    for (char *one; copy && (one = strsep(&rest, ","));)
        if (strchr(one, '='))
            putenv(strdup(one));
    free(copy);
}

static bool take_range(struct words *w, const struct row *r, const char *value)
{
    if (!strcmp(value, "cudaProfilerApi"))
        add(w, "--profile-from-start=off");
    else if (strcmp(value, "nvtx") && strcmp(value, "none")) {
        complain("'%s' is no value of --%s here: %s", value, r->name, r->text);
        return false;
    }
    return true;
}

/* False: the option is refused, which has been said. */
static bool take(struct words *w, const struct row *r, const char *value)
{
    bool is_off = !strcmp(value, "false") || !strcmp(value, "none");
    if ((r->kind == SWITCH || r->kind == STATS) && !is_off && strcmp(value, "true") != 0) {
        complain("'%s' is no value of --%s: true or false", value, r->name);
        return false;
    }
    switch (r->kind) {
    case VALUE:
        add_value(w, r->option, value);
        break;
    case SWITCH:
        if (!is_off)
            add(w, r->option);
        break;
    case STATS:
        if (is_off)
            add(w, r->option);
        break;
    case TRACE:
        if (!has(value, "cuda") && !has(value, "cuda-hw") && !has(value, "nvtx"))
            complain("--trace=%s: %s", value, r->text);
        break;
    case NODES:
        add_value(w, r->option, strncmp(value, "node", 4) ? "off" : "on");
        break;
    case UNIFIED:
        if (!is_off)
            add_value(w, r->option, "per-process-device");
        break;
    case RANGE:
        return take_range(w, r, value);
    case VARIABLES:
        set_variables(value);
        break;
    case NONE:
        if (!is_off)
            complain("--%s has no counterpart and is ignored: %s", r->name, r->text);
        break;
    case NOT:
        complain("there is no --%s here: %s", r->name, r->text);
        return false;
    case SILENT:
        break;
    }
    return true;
}

/* The plus: options behind the program are the program's. */
static void fill(struct option *longs, char *letters)
{
    letters = stpcpy(letters, "+:");
    for (size_t i = 0; i < ROWS; i++) {
        longs[i] = (struct option){rows[i].name, required_argument, NULL, FIRST_CODE + (int)i};
        if (rows[i].letter)
            letters += sprintf(letters, "%c:", rows[i].letter);
    }
}

static const struct row *row_of(int code)
{
    for (size_t i = 0; i < ROWS; i++)
        if (code == FIRST_CODE + (int)i || (rows[i].letter && code == rows[i].letter))
            return &rows[i];
    return NULL;
}

bool nsys_profile(int *argc, char ***argv)
{
    struct words w = {0};
    struct option longs[ROWS + 1] = {{0}};
    char letters[2 * ROWS + 3], **from = *argv + 1;
    int count = *argc - 1;
    fill(longs, letters);
    opterr = 0;
    add(&w, **argv);
    add_value(&w, "--trace-file", "1"); /* as nsys always has one */
    for (int code; (code = getopt_long(count, from, letters, longs, NULL)) != -1;) {
        const struct row *r = row_of(code);
        if (!r)
            refuse("nsys profile", code, from, longs);
        if (!r || !take(&w, r, optarg))
            return false;
    }
    add(&w, "--");
    for (int i = optind; i < count; i++)
        add(&w, from[i]);
    optind = 1;
    *argc = w.count;
    *argv = w.word;
    return true;
}

/* ---- reports of a file ---- */

/* A file named with `suffix` in place of nsys's; else the name, or NULL with a suffix. */
static const char *file_of(const char *name, const char *suffix)
{
    static const char *const theirs[] = {"", ".nsys-rep", ".sqlite", ".qdrep", ".bin"};
    static char path[4096];
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
        size_t n = strlen(theirs[i]);
        if (n >= len || strcmp(name + len - n, theirs[i]))
            continue;
        snprintf(path, sizeof(path), "%.*s%s", (int)(len - n), name, suffix);
        if (!access(path, F_OK))
            return path;
    }
    return *suffix ? NULL : name;
}

static int run(const char *report, char **words)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        execv(report, words);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return WRONG;
    return WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

struct request {
    const char *reports;
    const char *formats;
    const char *output; /* NULL, "-" or the beginning of files' names */
    const char *unit;   /* NULL: nanoseconds */
    const char *type;
    bool overwrites;
    const char *file;
};

static const char *const units[][2] = {{"usec", "us"}, {"microseconds", "us"},
                                       {"msec", "ms"}, {"milliseconds", "ms"},
                                       {"sec", "s"},   {"seconds", "s"}};

/* The report's name of a unit; NULL: nanoseconds, which these reports have anyway. */
static const char *unit_of(const char *name)
{
    if (!strcmp(name, "nsec") || !strcmp(name, "nanoseconds"))
        return NULL;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (!strcmp(name, units[i][0]))
            return units[i][1];
    return name;
}

/* False: the error has been said. */
static bool parse(struct request *r, int argc, char **argv)
{
    static const struct option longs[] = {
        {"report", 1, NULL, 'r'},          {"format", 1, NULL, 'f'},
        {"output", 1, NULL, 'o'},          {"type", 1, NULL, 't'},
        {"timeunit", 1, NULL, 'u'},        {"force-export", 1, NULL, 'F'},
        {"force-overwrite", 1, NULL, 'F'}, {"quiet", 0, NULL, 'q'},
        {"sqlite", 1, NULL, 's'},          {0}};
    bool exports = !strcmp(argv[0], "export");
    opterr = 0;
    const char *letters = exports ? ":o:t:f:q" : ":r:f:o:t:q";
    for (int code; (code = getopt_long(argc, argv, letters, longs, NULL)) != -1;)
        switch (code) {
        case 'r':
            r->reports = optarg;
            break;
        case 'f': /* export's: whether to overwrite */
            r->formats = optarg;
            r->overwrites |= !strcmp(optarg, "true");
            break;
        case 'F':
            r->overwrites |= !strcmp(optarg, "true");
            break;
        case 'o':
            r->output = optarg;
            break;
        case 't':
            r->type = optarg;
            break;
        case 'u':
            r->unit = unit_of(optarg);
            break;
        case 'q':
        case 's':
            break;
        default:
            refuse(exports ? "nsys export" : "nsys stats", code, argv, longs);
            return false;
        }
    r->file = argv[optind] ? argv[optind] : "summary.bin";
    return true;
}

/* The n-th word of a list, or the last one: as nsys does with fewer formats than reports. */
static char *nth(const char *list, unsigned n)
{
    while (n-- && strchr(list, ','))
        list = strchr(list, ',') + 1;
    return strndup(list, strcspn(list, ","));
}

static const char *format_of(const char *name)
{
    return !strcmp(name, "column") || !strcmp(name, "htable") ? "table" : name;
}

/* Single operations and calls are in the trace beside a profile. */
static bool is_of_traces(const char *report)
{
    size_t len = strcspn(report, ":");
    return (len > 6 && !strncmp(report + len - 6, "_trace", 6)) ||
           !strncmp(report, "nvtx_pushpop", 12) || !strncmp(report, "nvtx_gpu_proj", 13) ||
           !strncmp(report, "cuda_kern_exec", 14);
}

static int print_report(const struct request *r, const char *report, unsigned n)
{
    struct words w = {0};
    char *name = nth(r->reports, n), *format = nth(r->formats, n), *path = NULL;
    bool to_file = r->output && strcmp(r->output, "-");
    add(&w, "cutrace-report");
    add(&w, name);
    add_value(&w, "--format", format_of(format));
    if (r->unit)
        add_value(&w, "--normalized-time-unit", r->unit);
    bool is_text = !strcmp(format_of(format), "table");
    if (to_file && asprintf(&path, "%s_%s.%s", r->output, name, is_text ? "txt" : format) > 0)
        add_value(&w, "--log-file", path);
    add(&w, "--");
    const char *trace = is_of_traces(name) ? file_of(r->file, ".trace") : NULL;
    add(&w, trace ? trace : file_of(r->file, ""));
    return run(report, w.word);
}

int nsys_stats(int argc, char **argv, const char *report)
{
    struct request r = {
        .reports = "cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum",
        .formats = "table"};
    int status = 0;
    if (!parse(&r, argc, argv))
        return WRONG;
    unsigned count = 1;
    for (const char *at = r.reports; (at = strchr(at, ',')); at++)
        count++;
    for (unsigned n = 0; n < count && !status; n++) /* others would fail alike */
        status = print_report(&r, report, n);
    return status;
}

int nsys_export(int argc, char **argv, const char *report)
{
    struct request r = {.type = "sqlite"};
    struct words w = {0};
    char *path = NULL;
    if (!parse(&r, argc, argv))
        return WRONG;
    if (strcmp(r.type, "sqlite")) {
        complain("export: there is no --type %s here: sqlite, or cutrace-report --format chrome, "
                 "perfetto, "
                 "html, json or csv",
                 r.type);
        return WRONG;
    }
    const char *trace = file_of(r.file, ".trace");
    if (!r.output && asprintf(&path, "%.*s.sqlite", (int)strcspn(r.file, "."), r.file) < 0)
        return WRONG;
    add(&w, "cutrace-report");
    add_value(&w, "--format", "sqlite");
    add_value(&w, "--log-file", r.output ? r.output : path);
    if (r.overwrites)
        add(&w, "--force-overwrite");
    add(&w, "--");
    add(&w, trace ? trace : file_of(r.file, ""));
    return run(report, w.word);
}
