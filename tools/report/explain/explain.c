/* SPDX-License-Identifier: MIT */
/*
 * Report "explain": one page of what other reports say, each part with the command that shows all
 * of it.
 */
#include <ctype.h>
#include <stdlib.h>

#include "report/explain/explain_page.h"
#include "report/profile/files.h"
#include "report/reports.h"
#include "report/reports/diff.h"
#include "report/reports/headline.h"
#include "report/reports/truth.h"

/*
 * A change is named when chance shows one like it, of any operation, in less than one of a hundred
 * pairs of equal runs: the report diff corrects its tests for the number of operations.
 */
#define CHANGE_LEVEL 0.01

#define COMMAND_WIDTH 90 /* characters of the files in a command; more are FILE... */

struct explanation {
    struct ct_page page;
    struct ct_input in; /* of NEW */
    struct ct_options o;
    size_t processes[2]; /* OLD, NEW */
    size_t tested;       /* operations that are in both */
    size_t changed;
};

/* ---- lines of text that other reports print ---- */

/* Puts as notes the lines that `print` writes. */
static void put_lines(struct ct_page *page,
                      void (*print)(FILE *out, const char *prefix, const struct explanation *e))
{
    char *text = NULL, *line, *at;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        ct_memory_fail();
    print(out, "", page->context);
    if (fclose(out))
        ct_memory_fail();
    for (at = text; (line = strsep(&at, "\n"));)
        if (*line)
            ct_page_note(page, line);
    free(text);
}

static void print_headline(FILE *out, const char *prefix, const struct explanation *e)
{
    ct_headline_print(out, prefix, e->in.m);
}

static void note_headline(struct ct_page *page)
{
    put_lines(page, print_headline);
}

static void print_truth(FILE *out, const char *prefix, const struct explanation *e)
{
    struct ct_view gpu;
    struct ct_view_options o = ct_report_view(&e->o);
    ct_view_gpu(&gpu, e->in.m, CT_VIEW_ALL_DEVICES, &o);
    ct_truth_print(out, prefix, e->in.m, &gpu, &o);
    ct_view_free(&gpu);
}

static void note_truth(struct ct_page *page)
{
    put_lines(page, print_truth);
}

static void note_nothing(struct ct_page *page)
{
    (void)page;
}

/* ---- changes ---- */

static bool is_text(const struct ct_cell *cell, const char *text)
{
    return cell->known && !strcmp(cell->text, text);
}

/* The numbers of processes come with all together. */
static bool is_of_gpu(struct ct_page *page, const struct ct_cell *cells)
{
    struct explanation *e = page->context;
    struct ct_cell type = ct_page_cell(page, cells, "type");
    struct ct_cell before = ct_page_cell(page, cells, "old_processes");
    struct ct_cell after = ct_page_cell(page, cells, "new_processes");
    e->processes[0] = before.known ? before.count : 0;
    e->processes[1] = after.known ? after.count : 0;
    return is_text(&type, "GPU activities");
}

/* Numbers of calls are counted, so that a change of these is none by chance. */
static bool is_changed(struct ct_page *page, const struct ct_cell *cells)
{
    struct explanation *e = page->context;
    struct ct_cell type = ct_page_cell(page, cells, "type");
    struct ct_cell p = ct_page_cell(page, cells, "avg_p_value");
    struct ct_cell before = ct_page_cell(page, cells, "old_calls");
    struct ct_cell after = ct_page_cell(page, cells, "new_calls");
    if (!is_text(&type, "GPU activities"))
        return false;
    bool counted = !before.known || !after.known || before.count != after.count;
    bool timed = p.known && p.number < CHANGE_LEVEL;
    e->tested += p.known;
    e->changed += counted || timed;
    return counted || timed;
}

/* Which lines changed by chance nobody tells: they are shown where an operation did not. */
static bool is_line_changed(struct ct_page *page, const struct ct_cell *cells)
{
    struct ct_cell change = ct_page_cell(page, cells, "change_ns");
    return ((struct explanation *)page->context)->changed && change.number != 0;
}

static void note_changes(struct ct_page *page)
{
    const struct explanation *e = page->context;
    char text[320];
    snprintf(text, sizeof(text),
             "%zu of %zu operations changed; chance alone would name any in less than 1 of 100 "
             "pairs of runs",
             e->changed, e->tested > e->changed ? e->tested : e->changed);
    ct_page_note(page, text);
    if (e->processes[0] > 1 && e->processes[1] > 1)
        snprintf(text, sizeof(text),
                 "Changes are held against how the %zu and %zu processes differ among themselves",
                 e->processes[0], e->processes[1]);
    else
        snprintf(text, sizeof(text),
                 "A side is one process: how processes of this program differ by themselves is not "
                 "known, and a change may be no more than that; give several of each "
                 "(--baseline OLD1 --baseline OLD2 NEW1 NEW2)");
    ct_page_note(page, text);
}

/* Readings with a mean. */
static bool is_telling(struct ct_page *page, const struct ct_cell *cells)
{
    return ct_page_cell(page, cells, "mean").known;
}

/* ---- sections ---- */

/* clang-format off */
static const struct ct_page_section run[] = {
    {"processes", {.key = "run", .title = "What ran"}, "duration_ns,rank,end,command", 3, 1500, 320, NULL, note_headline},
    {"devices", {.key = "devices", .title = "GPUs"}, "gpu,memory_bytes,multiprocessors,clock_mhz,name", 2, 1000, 0, NULL, note_nothing},
    {0},
};
static const struct ct_page_section modules[] = {
    {"modules", {.key = "modules", .title = "Time by module"}, "time_percent,total_ns,launches,module", 5, 1300, 100, NULL, NULL},
    {0},
};
static const struct ct_page_section lines[] = {
    {"lines", {.key = "lines", .title = "Time by line of Python"}, "time_percent,total_ns,own_ns,line,function,file", 5, 1900, 150, NULL, NULL},
    {0},
};
static const struct ct_page_section operations[] = {
    {"summary", {.key = "operations", .title = "Time by operation"}, "time_percent,time_ns,calls,avg_ns,name,line", 8, 2100, 0, is_of_gpu, note_nothing},
    {0},
};
static const struct ct_page_section idle[] = {
    {"devices", {.key = "idle", .title = "Idle time and its causes"}, "gpu,busy_percent,idle_ns,idle_host_ns,idle_sync_ns,idle_queued_ns,idle_unknown_ns,gaps,longest_gap_ns", 2, 1600, 0, NULL, NULL},
    {0},
};
static const struct ct_page_section device[] = {
    {"device", {.key = "device", .title = "The GPUs meanwhile"}, "gpu,sensor,unit,mean,most,limit", 9, 1700, 0, is_telling, NULL},
    {"clock_reasons", {.key = "clock_reasons", .title = "Clocks below the highest"}, "gpu,time_percent,sm_mhz,highest_sm_mhz,reason", 3, 700, 0, NULL, NULL},
    {0},
};
static const struct ct_page_section certain[] = {
    {"kernels", {.key = "certain", .title = "How certain the times are"}, "total_ns,interval_ns,avg_ns,uncertainty_ns,upper_bounds,name", 4, 1800, 500, NULL, note_truth},
    {0},
};
static const struct ct_page_section losses[] = {
    {"losses", {.key = "losses", .title = "Operations with and without a time"}, "operations,percent,outcome", 4, 1000, 120, NULL, NULL},
    {0},
};
static const struct ct_page_section changes[] = {
    {"diff_totals", {.key = "change", .title = "Change of all together"}, "change_ns,change_percent,old_total_ns,new_total_ns", 1, 800, 0, is_of_gpu, NULL},
    {"diff", {.key = "changes", .title = "Changes by operation"}, "change_ns,change_percent,verdict,avg_p_value,old_avg_ns,new_avg_ns,avg_change_uncertainty_ns,name", 6, 2900, 420, is_changed, note_changes},
    {0},
};
static const struct ct_page_section changed_lines[] = {
    {"diff_lines", {.key = "changed_lines", .title = "Changes by line of Python"}, "change_ns,change_percent,line,function,file", 4, 1300, 0, is_line_changed, note_nothing},
    {0},
};
static const struct ct_page_section changed_modules[] = {
    {"diff_modules", {.key = "changed_modules", .title = "Changes by module"}, "change_ns,change_percent,verdict,module", 4, 1200, 0, is_line_changed, note_nothing},
    {0},
};
static const struct ct_page_section advice[] = {
    {"advice", {.key = "advice", .title = "What to try"}, "percent,advice", 4, 1500, 0, NULL, NULL},
    {0},
};

/* In the order of the page. */
static const struct part {
    enum ct_report_id report;
    const struct ct_page_section *sections;
    enum { OF_NEW, OF_SENSORS, OF_MODULES, OF_STACKS, OF_BOTH, OF_MODULES_OF_BOTH, OF_STACKS_OF_BOTH } of;
    int per;
} parts[] = {
    {CT_REPORT_INFO, run, OF_NEW, 0},
    {CT_REPORT_DIFF, changes, OF_BOTH, 0},
    {CT_REPORT_DIFF, changed_modules, OF_MODULES_OF_BOTH, CT_PER_MODULE},
    {CT_REPORT_DIFF, changed_lines, OF_STACKS_OF_BOTH, CT_PER_LINE},
    {CT_REPORT_MODULES, modules, OF_MODULES, 0},
    {CT_REPORT_LINES, lines, OF_STACKS, 0},
    {CT_REPORT_SUMMARY, operations, OF_NEW, 0},
    {CT_REPORT_STREAMS, idle, OF_NEW, 0},
    {CT_REPORT_DEVICE, device, OF_SENSORS, 0},
    {CT_REPORT_KERNELS, certain, OF_NEW, 0},
    {CT_REPORT_LOSSES, losses, OF_NEW, 0},
    {CT_REPORT_ADVICE, advice, OF_NEW, 0},
};
/* clang-format on */

static bool is_wanted(const struct explanation *e, const struct part *part)
{
    const struct ct_merged_stacks *stacks = &e->in.m->stacks;
    if (part->of >= OF_BOTH && !e->o.baselines.count)
        return false;
    switch (part->of) {
    case OF_SENSORS:
        return e->in.m->sensors.keys.count;
    case OF_MODULES:
    case OF_MODULES_OF_BOTH:
        return stacks->module_keys.count;
    case OF_STACKS:
    case OF_STACKS_OF_BOTH:
        return stacks->keys.count;
    default:
        return true;
    }
}

/* ---- commands ---- */

static bool is_plain(const char *name)
{
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("_./%+=:@,-", *name))
            return false;
    return true;
}

/* A shell takes it as it stands. */
static void put_file(struct ct_string *to, const char *file)
{
    if (is_plain(file)) {
        ct_string_printf(to, " %s", file);
        return;
    }
    ct_string_put(to, " '");
    for (; *file; file++)
        ct_string_printf(to, *file == '\'' ? "'\\''" : "%c", *file);
    ct_string_put(to, "'");
}

static void put_files(struct ct_string *to, char *const *files, int count, const char *otherwise)
{
    struct ct_string all = {0}, safe = {0};
    for (int i = 0; i < count && all.len <= COMMAND_WIDTH; i++)
        put_file(&all, files[i]);
    ct_name_safe(&safe, all.data);
    if (all.len > COMMAND_WIDTH || strcmp(safe.data, all.data) || strchr(all.data, '`'))
        ct_string_printf(to, " %s...", otherwise);
    else
        ct_string_put(to, all.data);
    ct_string_free(&all);
    ct_string_free(&safe);
}

static void put_command(struct ct_string *to, const struct explanation *e, const struct part *part)
{
    const struct ct_options *o = &e->o;
    ct_string_printf(to, CT_NOTE_COMMAND "cutrace-report %s%s", ct_reports[part->report].name,
                     part->per == CT_PER_MODULE ? " --per module"
                     : part->per                ? " --per line"
                                                : "");
    if (o->grouped)
        ct_string_put(to, " --group");
    if (part->report == CT_REPORT_DIFF) {
        put_files(to, o->baselines.texts, o->baselines.count, "OLD");
        ct_string_put(to, " --");
    }
    put_files(to, o->files, o->file_count, "FILE");
}

/* ---- the page ---- */

/* The operands of diff: OLD... -- NEW... */
static char **both_sides(struct ct_options *to, const struct ct_options *o)
{
    size_t old = (size_t)o->baselines.count, new = (size_t)o->file_count;
    to->files = ct_memory_array(old + new, sizeof(*to->files));
    memcpy(to->files, o->baselines.texts, old * sizeof(*to->files));
    memcpy(to->files + old, o->files, new * sizeof(*to->files));
    to->file_count = (int)(old + new);
    to->behind = (int)new;
    return to->files;
}

static int put_part(struct explanation *e, const struct part *part)
{
    struct ct_string command = {0};
    struct ct_options o = e->o;
    struct ct_input in = e->in;
    char **files = part->report == CT_REPORT_DIFF ? both_sides(&o, &e->o) : NULL;
    o.per = part->per;
    in.o = &o;
    in.report = &ct_reports[part->report];
    put_command(&command, e, part);
    e->page.sections = part->sections;
    e->page.command = command.data;
    int status = in.report->rows(&in, &e->page.sink);
    ct_string_free(&command);
    free(files);
    return status;
}

int ct_report_explain(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_merged m = {.details = true, .grouped = in->o->grouped};
    struct ct_file_list list = {0};
    struct explanation e = {.in = *in, .o = *in->o};
    int status = EXIT_SUCCESS;
    for (int i = 0; i < in->o->file_count; i++)
        status |= !ct_files_add(&list, in->o->files[i]);
    status |= !ct_files_merge(&m, list.paths, list.count, 0);
    e.in.m = &m;
    ct_page_open(&e.page, sink);
    e.page.context = &e;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && m.process_count; i++)
        if (is_wanted(&e, &parts[i]))
            status |= put_part(&e, &parts[i]);
    ct_page_close(&e.page);
    ct_merge_free(&m);
    ct_files_free(&list);
    return status;
}
