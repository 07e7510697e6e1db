/* SPDX-License-Identifier: MIT */
/* Report "diff": changes from one profile to another, and whether they are chance. */
#include "report/reports/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/profile/files.h"
#include "report/profile/view.h"
#include "report/reports.h"
#include "report/stacks/line_diff.h"
#include "report/stacks/module_diff.h"

#define MOST_NAMED 10

enum {
    WHAT,
    ALL_CHANGE,
    ALL_PERCENT,
    ALL_P,
    ALL_BEFORE,
    ALL_AFTER,
    BEFORE_PROCESSES,
    AFTER_PROCESSES,
    ALL_COLUMNS
};

static const struct ct_column all_columns[ALL_COLUMNS] = {
    [WHAT] = {"type", "Type", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [ALL_CHANGE] = {"change_ns", "Change", CT_CELL_CHANGE_NS, CT_FOLD_SUM, 0},
    [ALL_PERCENT] = {"change_percent", "Change(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [ALL_P] = {"p_value", "p", CT_CELL_NUMBER, CT_FOLD_NONE, 4},
    [ALL_BEFORE] = {"old_total_ns", "Old time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [ALL_AFTER] = {"new_total_ns", "New time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [BEFORE_PROCESSES] = {"old_processes", "Old processes", CT_CELL_COUNT, CT_FOLD_NONE,
                          CT_OPTIONAL(1)},
    [AFTER_PROCESSES] = {"new_processes", "New processes", CT_CELL_COUNT, CT_FOLD_NONE,
                         CT_OPTIONAL(1)},
};

static const struct ct_relation all_relation = {"diff_totals", "All together", all_columns,
                                                ALL_COLUMNS};

enum {
    TYPE,
    CHANGE,
    PERCENT,
    VERDICT,
    P,
    BEFORE,
    AFTER,
    BEFORE_CALLS,
    AFTER_CALLS,
    BEFORE_MEAN,
    AFTER_MEAN,
    MEAN_CHANGE,
    HALF,
    MEAN_P,
    LONGER,
    RANKS_P,
    TOTAL_P,
    NAME,
    COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
    [TYPE] = {"type", "Type", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [CHANGE] = {"change_ns", "Change", CT_CELL_CHANGE_NS, CT_FOLD_SUM, 0},
    [PERCENT] = {"change_percent", "Change(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [VERDICT] = {"verdict", "Verdict", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [P] = {"p_value", "p", CT_CELL_NUMBER, CT_FOLD_NONE, 4},
    [BEFORE] = {"old_total_ns", "Old time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [AFTER] = {"new_total_ns", "New time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [BEFORE_CALLS] = {"old_calls", "Old calls", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [AFTER_CALLS] = {"new_calls", "New calls", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [BEFORE_MEAN] = {"old_avg_ns", "Old avg", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [AFTER_MEAN] = {"new_avg_ns", "New avg", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [MEAN_CHANGE] = {"avg_change_ns", "Avg change", CT_CELL_CHANGE_NS, CT_FOLD_NONE,
                     CT_OPTIONAL(2)},
    [HALF] = {"avg_change_uncertainty_ns", "+-", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [MEAN_P] = {"avg_p_value", "p of avg", CT_CELL_NUMBER, CT_FOLD_NONE, 4 | CT_OPTIONAL(4)},
    [LONGER] = {"longer_percent", "Longer", CT_CELL_PERCENT, CT_FOLD_NONE, 1 | CT_OPTIONAL(5)},
    [RANKS_P] = {"ranks_p_value", "p of ranks", CT_CELL_NUMBER, CT_FOLD_NONE, 4 | CT_OPTIONAL(6)},
    [TOTAL_P] = {"total_p_value", "p of time", CT_CELL_NUMBER, CT_FOLD_NONE, 4 | CT_OPTIONAL(7)},
    [NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"diff", "Changes", columns, COLUMNS};

static const char *const types[] = {"API calls", "GPU activities"};

/* ---- the two sides ---- */

static bool read_side(struct ct_merged *m, char **files, int count, bool grouped)
{
    struct ct_file_list list = {0};
    bool good = true;
    *m = (struct ct_merged){.details = true, .grouped = grouped, .devices_as = CT_DEVICES_AS_ONE};
    for (int i = 0; i < count; i++)
        good &= ct_files_add(&list, files[i]);
    good &= ct_files_merge(m, list.paths, list.count, 0);
    ct_files_free(&list);
    return good;
}

/* OLD NEW, or several on either side of "--". */
bool ct_diff_read(struct ct_diff *d, const struct ct_options *o)
{
    int first = o->behind && o->behind < o->file_count ? o->file_count - o->behind : 1;
    *d = (struct ct_diff){.o = o};
    bool good = read_side(&d->before, o->files, first, o->grouped);
    good &= read_side(&d->after, o->files + first, o->file_count - first, o->grouped);
    if (ct_diff_has_sides(d))
        ct_pairs_make(&d->pairs, &d->before, &d->after, o->raw, !o->mangled);
    return good;
}

void ct_diff_free(struct ct_diff *d)
{
    ct_pairs_free(&d->pairs);
    ct_merge_free(&d->before);
    ct_merge_free(&d->after);
}

/* ---- rows ---- */

static struct ct_cell percent_cell(double change, double before)
{
    return before > 0 ? ct_cell_number(100 * change / before) : ct_cell_none();
}

static struct ct_cell when(bool known, struct ct_cell cell)
{
    return known ? cell : ct_cell_none();
}

static void put_all(struct ct_sink *sink, const struct ct_diff *s, bool gpu)
{
    struct ct_stats_value before = ct_pairs_total(&s->pairs, gpu, false);
    struct ct_stats_value after = ct_pairs_total(&s->pairs, gpu, true);
    double change = after.value - before.value;
    ct_sink_row(sink, (struct ct_cell[ALL_COLUMNS]){
                          [WHAT] = ct_cell_text(types[gpu]),
                          [ALL_CHANGE] = ct_cell_number(change),
                          [ALL_PERCENT] = percent_cell(change, before.value),
                          [ALL_P] = ct_cell_number(ct_pairs_total_p(&s->pairs, gpu)),
                          [ALL_BEFORE] = ct_cell_whole(before.value),
                          [ALL_AFTER] = ct_cell_whole(after.value),
                          [BEFORE_PROCESSES] = ct_cell_count(s->before.process_count),
                          [AFTER_PROCESSES] = ct_cell_count(s->after.process_count),
                      });
}

static void put_pair(struct ct_sink *sink, const struct ct_pair *pair)
{
    const struct ct_diff_side *a = &pair->before, *b = &pair->after;
    const char *verdict = ct_pair_verdict(pair);
    bool in_a = a->calls > 0, in_b = b->calls > 0, a_timed = a->timed > 0, b_timed = b->timed > 0;
    bool both = a_timed && b_timed;
    double change = ct_pair_change_ns(pair);
    ct_sink_row(
        sink,
        (struct ct_cell[COLUMNS]){
            [TYPE] = ct_cell_text(types[pair->gpu]),
            [CHANGE] = ct_cell_number(change),
            [PERCENT] = percent_cell(change, b->calls > 0 ? a->total_ns : 0),
            [P] = ct_cell_number(ct_pair_p(pair)),
            [BEFORE] = when(a_timed, ct_cell_whole(a->total_ns)),
            [AFTER] = when(b_timed, ct_cell_whole(b->total_ns)),
            [BEFORE_CALLS] = when(in_a, ct_cell_whole(a->calls)),
            [AFTER_CALLS] = when(in_b, ct_cell_whole(b->calls)),
            [BEFORE_MEAN] = when(a_timed, ct_cell_whole(a->mean.value)),
            [AFTER_MEAN] = when(b_timed, ct_cell_whole(b->mean.value)),
            [MEAN_CHANGE] = when(both, ct_cell_number(b->mean.value - a->mean.value)),
            [HALF] = when(both && !isnan(pair->half_ns), ct_cell_whole(pair->half_ns)),
            [MEAN_P] = ct_cell_number(pair->mean_p),
            [LONGER] = when(!isnan(pair->ranks.p), ct_cell_number(100 * pair->ranks.superiority)),
            [RANKS_P] = ct_cell_number(pair->ranks.p),
            [TOTAL_P] = ct_cell_number(pair->total_p),
            [VERDICT] = when(verdict, ct_cell_text(verdict)),
            [NAME] = ct_cell_text(pair->name.data),
        });
}

/* ---- notes ---- */

static void say(struct ct_sink *sink, struct ct_string *text)
{
    ct_sink_note(sink, text->data);
    ct_string_free(text);
}

/* The models of a profile's devices, each once. */
static void put_models(struct ct_string *text, const struct ct_merged *m)
{
    for (uint32_t i = 0; i < m->model_keys.count; i++) {
        ct_string_put(text, i ? ", " : "");
        ct_name_safe(text, ct_merge_name(m, m->devices[m->models[i]].sum.name));
    }
}

static bool is_raw(const struct ct_merged *m)
{
    return m->device_keys.count && m->devices[0].raw;
}

static void note_devices(struct ct_sink *sink, const struct ct_diff *s)
{
    struct ct_string before = {0}, after = {0}, text = {0};
    put_models(&before, &s->before);
    put_models(&after, &s->after);
    if (before.len && after.len && strcmp(before.data, after.data)) {
        ct_string_printf(&text, "The devices differ: OLD ran on %s, NEW on %s", before.data,
                         after.data);
        say(sink, &text);
    }
    if (before.len && after.len && !s->o->raw && is_raw(&s->before) != is_raw(&s->after)) {
        ct_string_printf(&text, "Only %s was calibrated: times of the other are raw brackets",
                         is_raw(&s->before) ? "NEW" : "OLD");
        say(sink, &text);
    }
    ct_string_free(&before);
    ct_string_free(&after);
}

static void note_tests(struct ct_sink *sink, const struct ct_diff *s)
{
    struct ct_string text = {0};
    size_t tests = 0, found = 0;
    for (size_t i = 0; i < s->pairs.count; i++) {
        tests += !isnan(s->pairs.pairs[i].mean_p);
        found += s->pairs.pairs[i].mean_p < CT_PAIRS_LEVEL;
    }
    ct_string_printf(&text,
                     "%zu of %zu means differ by more than they may be wrong by and chance makes "
                     "them (Welch's t test, 5%% for all together by Holm)",
                     found, tests);
    say(sink, &text);
    if (s->before.process_count != s->after.process_count) {
        ct_string_printf(&text, "OLD is of %zu processes, NEW of %zu: totals grow with them",
                         s->before.process_count, s->after.process_count);
        say(sink, &text);
    }
}

static bool is_over(double before, double after, double p, double limit)
{
    return before > 0 && after > before * (1 + limit / 100) && p < CT_PAIRS_LEVEL;
}

static void note_over(struct ct_sink *sink, const char *name, double before, double after,
                      double limit)
{
    struct ct_string text = {0};
    ct_string_printf(&text, "Over the limit of %g%%: %+.2f%% %s", limit, 100 * (after / before - 1),
                     name);
    say(sink, &text);
}

static void note_more(struct ct_sink *sink, size_t count)
{
    struct ct_string text = {0};
    ct_string_printf(&text, "Over the limit: %zu more", count);
    say(sink, &text);
}

static bool is_all_over(const struct ct_diff *s)
{
    return is_over(ct_pairs_total(&s->pairs, true, false).value,
                   ct_pairs_total(&s->pairs, true, true).value, ct_pairs_total_p(&s->pairs, true),
                   s->o->fail_over);
}

/* Rows that are new or have vanished count in the sum alone. */
static bool is_pair_over(const struct ct_diff *s, const struct ct_pair *pair)
{
    return pair->gpu &&
           is_over(pair->before.total_ns, pair->after.total_ns, pair->total_p, s->o->fail_over);
}

bool ct_diff_is_over(const struct ct_diff *s)
{
    bool over = s->o->fail_over >= 0 && is_all_over(s);
    for (size_t i = 0; i < s->pairs.count && s->o->fail_over >= 0 && !over; i++)
        over = is_pair_over(s, &s->pairs.pairs[i]);
    return over;
}

static void note_limit(struct ct_sink *sink, const struct ct_diff *s)
{
    double limit = s->o->fail_over;
    size_t over = 0;
    if (is_all_over(s) && ++over)
        note_over(sink, "GPU activities together", ct_pairs_total(&s->pairs, true, false).value,
                  ct_pairs_total(&s->pairs, true, true).value, limit);
    for (size_t i = 0; i < s->pairs.count; i++) {
        const struct ct_pair *pair = &s->pairs.pairs[i];
        if (is_pair_over(s, pair) && ++over <= MOST_NAMED)
            note_over(sink, pair->name.data, pair->before.total_ns, pair->after.total_ns, limit);
    }
    if (over > MOST_NAMED)
        note_more(sink, over - MOST_NAMED);
}

static void print_rows(struct ct_sink *sink, const struct ct_diff *s)
{
    ct_sink_begin(sink, &all_relation);
    put_all(sink, s, true);
    put_all(sink, s, false);
    note_devices(sink, s);
    ct_sink_end(sink);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < s->pairs.count; i++)
        put_pair(sink, &s->pairs.pairs[i]);
    note_tests(sink, s);
}

/* No table of all together: columns of --sort and --columns are those of lines or modules then. */
static void print_launchers(struct ct_sink *sink, const struct ct_diff *s)
{
    struct ct_string text = {0};
    bool lines = s->o->per == CT_PER_LINE;
    double before = ct_pairs_total(&s->pairs, true, false).value;
    double after = ct_pairs_total(&s->pairs, true, true).value;
    (lines ? ct_line_diff_begin : ct_module_diff_begin)(sink, &s->before, &s->after);
    note_devices(sink, s);
    ct_string_printf(&text, "Which changes are chance diff tells of operations, without --per %s",
                     lines ? "line" : "module");
    if (before > 0)
        ct_string_printf(&text, "; together they took %+.2f%%", 100 * (after / before - 1));
    say(sink, &text);
}

static void print(struct ct_sink *sink, const struct ct_diff *s)
{
    if (s->o->per)
        print_launchers(sink, s);
    else
        print_rows(sink, s);
    if (s->o->fail_over >= 0)
        note_limit(sink, s);
    ct_sink_end(sink);
}

int ct_report_diff(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_diff s;
    int status = ct_diff_read(&s, in->o) ? EXIT_SUCCESS : EXIT_FAILURE;
    if (ct_diff_has_sides(&s)) {
        print(sink, &s);
        status = status ? status : ct_diff_is_over(&s) ? CT_DIFF_OVER_LIMIT : EXIT_SUCCESS;
    }
    ct_diff_free(&s);
    return status;
}
