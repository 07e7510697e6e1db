/* SPDX-License-Identifier: MIT */
#include "report/operands.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/file_error.h"
#include "report/guess.h"
#include "report/host_memory.h"
#include "report/options_table.h"
#include "report/reports.h"

#define DEFAULT_FILE "summary.bin"
#define FILE_BEFORE "summary.old.bin" /* of the run before, which the launcher keeps */
#define MOST_LETTERS 63               /* of a report's name with its suffix */

/* ---- names ---- */

enum ct_options_result ct_operands_refuse(const char *argument, const char *kind,
                                          const char *const *names, size_t count)
{
    struct ct_string after = {0};
    const char *meant = ct_guess(argument, names, count);
    ct_string_printf(&after, meant ? "' is no %s (did you mean %s?)" : "' is no %s: there are",
                     kind, meant);
    for (size_t i = 0; i < count && !meant; i++)
        ct_string_printf(&after, "%s%s", i ? ", " : " ", names[i]);
    ct_options_answer("'", argument, after.data);
    ct_string_free(&after);
    return CT_OPTIONS_WRONG;
}

/* ---- the report ---- */

static void list_reports(const char *names[CT_REPORT_COUNT])
{
    for (size_t i = 0; i < CT_REPORT_COUNT; i++)
        names[i] = ct_reports[i].name;
}

/* Letters alone, and there is no such file. */
static bool is_a_word(const char *word)
{
    return *word && *word != '-' &&
           !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-:")] &&
           access(word, F_OK);
}

/*
 * A word that was meant for a report: the first with files behind it, or a first or last one that
 * is nearly a report's name. NULL: there is none.
 */
static const char *mistyped(const struct ct_options *o, const char *const *names)
{
    const char *first = o->files[0], *last = o->files[o->file_count - 1];
    if (is_a_word(first) && (o->file_count > 1 || ct_guess(first, names, CT_REPORT_COUNT)))
        return first;
    return !o->behind && is_a_word(last) && ct_guess(last, names, CT_REPORT_COUNT) ? last : NULL;
}

/* The report, whatever its suffix. */
static const struct ct_report *find_suffixed(const char *word)
{
    char name[MOST_LETTERS + 1];
    size_t len = strcspn(word, ":");
    if (len >= sizeof(name))
        return NULL;
    memcpy(name, word, len);
    name[len] = 0;
    return ct_report_find(name);
}

/* nsys's suffixes say how kernels are named. */
static const struct ct_report *find_report(struct ct_options *o, const char *word)
{
    const struct ct_report *report = find_suffixed(word);
    size_t len = strcspn(word, ":");
    bool base = !strcmp(word + len, ":base"), mangled = !strcmp(word + len, ":mangled");
    if (!report || (word[len] && !base && !mangled))
        return NULL;
    o->base |= base;
    o->mangled |= mangled;
    return report;
}

/* The first operand that has a report's name, or the last one if there is no such file. */
static const struct ct_report *take_name(struct ct_options *o)
{
    const struct ct_report *report = o->file_count ? find_report(o, o->files[0]) : NULL;
    if (report) {
        o->files++;
        o->file_count--;
        return report;
    }
    const char *last = o->file_count > 1 && !o->behind ? o->files[o->file_count - 1] : NULL;
    report = last && access(last, F_OK) ? find_report(o, last) : NULL;
    o->file_count -= report != NULL;
    return report;
}

/* ---- files ---- */

static bool reads_one(const struct ct_options *o)
{
    return o->report != &ct_reports[CT_REPORT_MERGE] && o->report != &ct_reports[CT_REPORT_DIFF];
}

static bool copy_input(int to)
{
    char room[65536];
    ssize_t n;
    while ((n = read(STDIN_FILENO, room, sizeof(room))) > 0 || (n < 0 && errno == EINTR))
        for (ssize_t done = 0, m; n > 0 && done < n; done += m)
            if ((m = write(to, room + done, (size_t)(n - done))) <= 0)
                return false;
    return n == 0;
}

/* A pipe cannot be read twice, as profiles and traces are. */
static enum ct_options_result take_input(char **file)
{
    static char path[32];
    int copy = memfd_create("standard input", MFD_CLOEXEC);
    if (*path || copy < 0 || !copy_input(copy)) {
        ct_file_error("-", *path ? "is given twice" : strerror(errno));
        return CT_OPTIONS_WRONG;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
    *file = path;
    ct_file_error_as(path, "standard input");
    return CT_OPTIONS_RUN;
}

static enum ct_options_result take_files(struct ct_options *o)
{
    static char now[] = DEFAULT_FILE, before[] = FILE_BEFORE, *files[] = {before, now, NULL};
    bool diff = o->report == &ct_reports[CT_REPORT_DIFF];
    if (!o->file_count && (reads_one(o) || diff) && !access(now, F_OK) &&
        !(diff && access(before, F_OK))) {
        o->files = diff ? files : files + 1;
        o->file_count = diff ? 2 : 1;
    }
    for (int i = 0; i < o->file_count - o->behind; i++)
        if (!strcmp(o->files[i], "-") && take_input(&o->files[i]) != CT_OPTIONS_RUN)
            return CT_OPTIONS_WRONG;
    return CT_OPTIONS_RUN;
}

enum ct_options_result ct_operands_take(struct ct_options *o, bool plain)
{
    const struct ct_report *report = plain ? NULL : take_name(o);
    bool trace = o->gpu_trace || o->api_trace;
    o->report = report ? report : &ct_reports[trace ? CT_REPORT_TRACE : CT_REPORT_SUMMARY];
    const char *names[CT_REPORT_COUNT];
    list_reports(names);
    const char *word = report || plain || !o->file_count ? NULL : mistyped(o, names);
    if (!word)
        return take_files(o);
    if (find_suffixed(word))
        return ct_options_answer("'", word, "': behind a report's name comes :base or :mangled");
    return ct_operands_refuse(word, "report", names, CT_REPORT_COUNT);
}
