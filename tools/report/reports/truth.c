/* SPDX-License-Identifier: MIT */
#include "report/reports/truth.h"

#include <string.h>

#include "report/names.h"
#include "report/units.h"

#define MOST_NAMES 8 /* on a line; --details has them all */

struct totals {
    uint64_t timed;
    uint64_t lost;
    uint64_t errors;
    uint64_t by_loss[CT_FILE_LOSSES];
    uint64_t marked;
    uint64_t by_mark[CT_VIEW_MARKS];
};

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void add_up(struct totals *t, const struct ct_merged *m)
{
    memset(t, 0, sizeof(*t));
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        const struct ct_file_row *row = &m->rows[i].sum;
        ct_merge_add_to(&t->timed, row->timed);
        ct_merge_add_to(&t->lost, ct_view_lost(row) - row->lost[CT_LOSS_CAPTURED]);
        ct_merge_add_to(&t->errors, row->errors == CT_MERGE_UNKNOWN ? 0 : row->errors);
        for (int k = 0; k < CT_FILE_LOSSES; k++)
            ct_merge_add_to(&t->by_loss[k], row->lost[k]);
        for (int k = 0; k < CT_VIEW_MARKS; k++) {
            ct_merge_add_to(&t->by_mark[k], ct_view_marked(row, k));
            ct_merge_add_to(&t->marked, ct_view_marked(row, k));
        }
    }
}

/* Captured operations have not run: the launches of their graph do, and are timed. */
static void print_totals(FILE *out, const char *prefix, const struct totals *t)
{
    uint64_t all = ct_merge_sum(t->timed, t->lost), captured = t->by_loss[CT_LOSS_CAPTURED];
    const char *before = " (";
    fprintf(out, "%s%llu operation%s: %llu timed, %llu not", prefix, (unsigned long long)all,
            plural(all), (unsigned long long)t->timed, (unsigned long long)t->lost);
    for (int i = 0; i < CT_FILE_LOSSES; i++) {
        if (!t->by_loss[i] || i == CT_LOSS_CAPTURED)
            continue;
        fprintf(out, "%s%llu %s", before, (unsigned long long)t->by_loss[i], ct_view_loss_text(i));
        before = ", ";
    }
    fputs(t->lost ? ")" : "", out);
    if (captured)
        fprintf(out, "; %llu more captured into graphs", (unsigned long long)captured);
    fputc('\n', out);
}

static void print_marked(FILE *out, const char *prefix, const struct totals *t)
{
    const char *before = " (";
    if (!t->marked)
        return;
    fprintf(out, "%s%llu of the times %s upper bound%s", prefix, (unsigned long long)t->marked,
            t->marked == 1 ? "is an" : "are", plural(t->marked));
    for (int i = 0; i < CT_VIEW_MARKS; i++) {
        if (!t->by_mark[i])
            continue;
        fprintf(out, "%s%llu with %s", before, (unsigned long long)t->by_mark[i],
                ct_view_mark_text(i));
        before = ", ";
    }
    fputs(")\n", out);
}

/*
 * The widest half of a 95 % interval among lines estimated from a sample, in percent of the line's
 * time.
 */
static double worst_sampled(const struct ct_view *gpu)
{
    double worst = 0;
    for (size_t i = 0; i < gpu->count; i++) {
        const struct ct_line *line = &gpu->lines[i];
        double share = ct_view_line_half_ns(line) / ((double)line->total_ns + 1);
        worst = share > worst ? share : worst;
    }
    return 100 * worst;
}

/* Percentages have two digits, and are never written as a power of ten. */
static void print_percent(FILE *out, double percent)
{
    fprintf(out, percent < 99.5 ? "+-%.2g%%" : "+-%.0f%%", percent);
}

static bool is_estimate(const struct ct_merged *m, const struct ct_file_cell *c)
{
    if (c->section != CT_SECTION_ROWS)
        return false;
    const struct ct_file_row *row = &m->rows[c->index].sum;
    return row->estimated > row->timed;
}

/* Also with --raw: brackets say nothing of calls that were sampled out. */
static void print_range_calls(FILE *out, const char *prefix, const struct ct_merged *m)
{
    uint32_t i = 0, count = m->ranges.cell_keys.count;
    while (i < count && !is_estimate(m, &m->ranges.cells[i]))
        i++;
    if (i < count)
        fprintf(out, "%sIn ranges Calls are estimates as well\n", prefix);
}

static void print_sampled(FILE *out, const char *prefix, const struct ct_view *gpu)
{
    struct ct_sampled_rows s = ct_view_sampled_rows(gpu);
    if (!s.rows)
        return;
    fprintf(out, "%s%llu of %llu calls of %zu row%s timed, %s to ", prefix,
            (unsigned long long)s.timed, (unsigned long long)s.calls, s.rows, plural(s.rows),
            s.rows > 1 ? "each" : "known");
    print_percent(out, worst_sampled(gpu));
    fputs(", all times together to ", out);
    print_percent(out, 100 * ct_view_half_ns(gpu) / ((double)gpu->total_ns + 1));
    fputs(" (95% intervals); Min and Max are of the timed\n", out);
}

/* Functions of which the host's time was not taken in each call. */
static void print_clocked(FILE *out, const char *prefix, const struct ct_merged *m)
{
    size_t count = 0;
    uint64_t calls = 0, timed = 0;
    for (uint32_t i = 0; i < m->api_keys.count; i++) {
        const struct ct_file_api *sum = &m->apis[i].sum;
        if (sum->timed >= sum->calls)
            continue;
        count++;
        ct_merge_add_to(&calls, sum->calls);
        ct_merge_add_to(&timed, sum->timed);
    }
    if (count)
        fprintf(out,
                "%sTime and Avg of %zu API function%s are estimates: %llu of %llu calls timed\n",
                prefix, count, plural(count), (unsigned long long)timed, (unsigned long long)calls);
}

static void print_counts(FILE *out, const char *prefix, const struct ct_merged *m,
                         const struct ct_view *gpu, const struct totals *t)
{
    size_t estimated = 0;
    for (size_t i = 0; i < gpu->count; i++) {
        const struct ct_line *line = &gpu->lines[i];
        estimated += line->timed && line->estimated + 0.5 < (double)line->calls;
    }
    print_sampled(out, prefix, gpu);
    print_range_calls(out, prefix, m);
    print_clocked(out, prefix, m);
    if (estimated)
        fprintf(out, "%sThe time of %zu row%s is estimated: all calls at the mean of the timed\n",
                prefix, estimated, plural(estimated));
    if (t->errors)
        fprintf(out, "%s%llu more operation%s failed to start\n", prefix,
                (unsigned long long)t->errors, plural(t->errors));
    if (m->off_operations)
        fprintf(out, "%s%llu more operation%s came while recording was off\n", prefix,
                (unsigned long long)m->off_operations, plural(m->off_operations));
}

static void print_devices(FILE *out, const char *prefix, const struct ct_merged *m)
{
    struct ct_string name = {0};
    for (uint32_t i = 0; i < m->device_keys.count; i++) {
        if (!m->devices[i].raw)
            continue;
        ct_string_clear(&name);
        ct_name_safe(&name, ct_merge_name(m, m->devices[i].sum.name));
        fprintf(
            out,
            "%sWarning: Device \"%s (%u)\" has no calibration: its durations are raw brackets\n",
            prefix, name.data, m->devices[i].sum.ordinal);
    }
    ct_string_free(&name);
}

static void print_end(FILE *out, const char *prefix, const struct ct_merged *m,
                      const struct ct_file_process *p)
{
    struct ct_string command = {0};
    char duration[CT_UNITS_BYTES];
    ct_name_safe(&command, ct_merge_name(m, p->command));
    ct_units_time(duration, p->duration_ns, 8);
    fprintf(out, "%sWarning: Process %u did not end normally: this is what it did up to %s (%s)\n",
            prefix, p->pid, duration, command.data);
    ct_string_free(&command);
}

static void print_unfinished(FILE *out, const char *prefix, const struct ct_merged *m)
{
    size_t shown = 0;
    for (size_t i = 0; i < m->process_count && shown < MOST_NAMES; i++) {
        if (m->processes[i].flags & CT_PROCESS_FINISHED)
            continue;
        print_end(out, prefix, m, &m->processes[i]);
        shown++;
    }
    if (m->unfinished > shown)
        fprintf(out, "%sWarning: %zu further process%s did not end normally\n", prefix,
                m->unfinished - shown, m->unfinished - shown == 1 ? "" : "es");
    if (m->fell_back)
        fprintf(out,
                "%sWarning: The newest data of %zu file%s are damaged: shown are those before\n",
                prefix, m->fell_back, plural(m->fell_back));
}

static void print_warnings(FILE *out, const char *prefix, const struct ct_merged *m)
{
    struct ct_string text = {0};
    for (uint32_t i = 0; i < m->note_keys.count; i++) {
        if (m->notes[i].kind != CT_NOTE_WARNING)
            continue;
        ct_string_clear(&text);
        ct_name_safe(&text, ct_merge_name(m, m->notes[i].text));
        if (m->notes[i].count > 1)
            ct_string_printf(&text, " (%llu times)", (unsigned long long)m->notes[i].count);
        fprintf(out, "%sWarning: %s\n", prefix, text.data);
    }
    ct_string_free(&text);
}

static void print_not_wrapped(FILE *out, const char *prefix, const struct ct_merged *m)
{
    struct ct_string text = {0};
    size_t found = 0;
    for (uint32_t i = 0; i < m->note_keys.count; i++) {
        if (m->notes[i].kind != CT_NOTE_NOT_WRAPPED || found++ >= MOST_NAMES)
            continue;
        ct_string_put(&text, text.len ? ", " : "");
        ct_name_safe(&text, ct_merge_name(m, m->notes[i].text));
        ct_string_printf(&text, " (%llu)", (unsigned long long)m->notes[i].count);
    }
    if (found > MOST_NAMES)
        ct_string_printf(&text, " and %zu more", found - MOST_NAMES);
    if (found)
        fprintf(out, "%sWarning: Not wrapped: %s\n", prefix, text.data);
    ct_string_free(&text);
}

void ct_truth_print(FILE *out, const char *prefix, const struct ct_merged *m,
                    const struct ct_view *gpu, const struct ct_view_options *o)
{
    struct totals t;
    add_up(&t, m);
    print_totals(out, prefix, &t);
    if (!o->raw)
        print_marked(out, prefix, &t);
    else if (t.timed)
        fprintf(out, "%sTimes of GPU activities are raw brackets, longer than the work in them\n",
                prefix);
    print_counts(out, prefix, m, gpu, &t);
    print_devices(out, prefix, m);
    print_unfinished(out, prefix, m);
    print_warnings(out, prefix, m);
    print_not_wrapped(out, prefix, m);
}
