/* SPDX-License-Identifier: MIT */
/*
 * Report "stragglers": the time of a step by rank, which rank the others wait for, and why. Files
 * are of whole runs; two of one process stand for the time between them.
 */
#include <stdlib.h>

#include "report/file_error.h"
#include "report/names.h"
#include "report/reports.h"
#include "report/units.h"
#include "report/watch/step_times.h"

#define FEW_STEPS 10

enum { RANK, HOST, PID, STEPS, STEP, KERNELS, COPIES, NCCL, BEHIND, PERCENT, CAUSE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [RANK] = {"rank", "Rank", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [HOST] = {"host", "Host", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [PID] = {"pid", "PID", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [STEPS] = {"steps", "Steps", CT_CELL_NUMBER, CT_FOLD_NONE, 1 | CT_OPTIONAL(4)},
    [STEP] = {"step_ns", "Step", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [KERNELS] = {"kernels_ns", "Kernels", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [COPIES] = {"copies_ns", "Copies", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [NCCL] = {"nccl_ns", "NCCL", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [BEHIND] = {"behind_ns", "Behind", CT_CELL_CHANGE_NS, CT_FOLD_NONE, 0},
    [PERCENT] = {"behind_percent", "Of a step", CT_CELL_PERCENT, CT_FOLD_NONE, 1},
    [CAUSE] = {"because", "Because of its", CT_CELL_TEXT, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"stragglers", "Steps by rank", columns, COLUMNS};

/* The part of being behind that nothing on the GPU accounts for is the host's. */
static double host_ns(const struct ct_step_rank *r)
{
    return r->behind_ns - r->longer_ns[CT_STEP_KERNELS] - r->longer_ns[CT_STEP_COPIES];
}

enum cause { OF_KERNELS = CT_STEP_KERNELS, OF_COPIES = CT_STEP_COPIES, OF_HOST };

static const char *const causes[] = {
    [OF_KERNELS] = "kernels", [OF_COPIES] = "copies", [OF_HOST] = "host"};

static enum cause cause_of(const struct ct_step_rank *r, double *ns)
{
    enum cause most = OF_HOST;
    *ns = host_ns(r);
    for (int part = CT_STEP_KERNELS; part <= CT_STEP_COPIES; part++) {
        if (r->longer_ns[part] <= *ns)
            continue;
        *ns = r->longer_ns[part];
        most = (enum cause)part;
    }
    return most;
}

static struct ct_cell duration(double ns)
{
    return ns > 0 ? ct_cell_whole(ns) : ct_cell_none();
}

static void put_rank(struct ct_sink *sink, const struct ct_step_times *t,
                     const struct ct_step_rank *r)
{
    const struct ct_file_process *p = &r->process;
    struct ct_string host = {0};
    double ns;
    ct_string_clear(&host);
    ct_name_safe(&host, ct_merge_name(&t->m, p->host));
    const char *cause = r->is_straggler ? causes[cause_of(r, &ns)] : NULL;
    ct_sink_row(sink,
                (struct ct_cell[COLUMNS]){
                    [RANK] = p->rank ? ct_cell_count(p->rank - 1) : ct_cell_none(),
                    [HOST] = ct_cell_text(host.data),
                    [PID] = ct_cell_count(p->pid),
                    [STEPS] = ct_cell_number(r->steps),
                    [STEP] = duration(r->step_ns),
                    [KERNELS] = duration(r->part_ns[CT_STEP_KERNELS]),
                    [COPIES] = duration(r->part_ns[CT_STEP_COPIES]),
                    [NCCL] = duration(r->part_ns[CT_STEP_NCCL]),
                    [BEHIND] = ct_cell_number(r->behind_ns),
                    [PERCENT] = r->step_ns > 0 ? ct_cell_number(100 * r->behind_ns / r->step_ns)
                                               : ct_cell_none(),
                    [CAUSE] = cause ? ct_cell_text(cause) : ct_cell_none(),
                });
    ct_string_free(&host);
}

/* ---- in words ---- */

static void put_time(struct ct_string *out, const char *before, double ns, const char *behind)
{
    char text[CT_UNITS_BYTES];
    ct_units_time(text, ct_view_whole_ns(ns), 8);
    ct_string_printf(out, "%s%s%s", before, text, behind);
}

static void put_cause(struct ct_string *out, const struct ct_step_times *t,
                      const struct ct_step_rank *r)
{
    double ns, row_ns;
    uint32_t row = 0;
    enum cause cause = cause_of(r, &ns);
    if (cause == OF_HOST) {
        put_time(out, "; its kernels and copies take no longer than theirs: its host is late by ",
                 ns, "");
        return;
    }
    ct_string_printf(out, "; its %s take ", causes[cause]);
    put_time(out, "", ns, " longer than theirs");
    row_ns = ct_step_times_longest(t, r, (enum ct_step_part)cause, &row);
    if (!(row_ns > 0))
        return;
    struct ct_string name = {0};
    ct_name_row(&name, &t->m, &t->m.rows[row].sum, true);
    ct_name_base(&name);
    put_time(out, ", of which ", row_ns, " in ");
    ct_string_put(out, name.data);
    ct_string_free(&name);
}

static void note_straggler(struct ct_sink *sink, const struct ct_step_times *t,
                           const struct ct_step_rank *r)
{
    struct ct_string text = {0};
    if (r->process.rank)
        ct_string_printf(&text, "Rank %u", r->process.rank - 1);
    else
        ct_string_put(&text, "A process without a rank");
    ct_string_printf(&text, " (pid %u)", r->process.pid);
    put_time(&text, t->has_nccl ? ": the others wait for it " : ": behind the others by ",
             r->behind_ns, " a step");
    ct_string_printf(&text, ", %.1f%% of a step", 100 * r->behind_ns / r->step_ns);
    put_cause(&text, t, r);
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

static void note_none(struct ct_sink *sink, const struct ct_step_times *t)
{
    if (!t->count)
        ct_sink_note(sink, "No process launched anything");
    else if (t->count < 2)
        ct_sink_note(sink, "There are no other ranks to compare it with");
    else if (!(t->steps > 0))
        ct_sink_note(sink,
                     "No steps were found: there is nothing that is launched again and again");
    else
        ct_sink_note(
            sink, "No rank is behind the others by 1% of a step, and more than they differ anyway");
}

static void note_range(struct ct_sink *sink, const char *name)
{
    struct ct_string text = {0};
    ct_string_put(&text, "Steps are the program's ranges ");
    ct_name_safe(&text, name);
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

static void note(struct ct_sink *sink, const struct ct_step_times *t)
{
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->ranks[i].is_straggler)
            continue;
        note_straggler(sink, t, &t->ranks[i]);
        any = true;
    }
    if (!any)
        note_none(sink, t);
    if (t->range)
        note_range(sink, t->range);
    if (t->steps > 0 && t->steps < FEW_STEPS)
        ct_sink_note(sink, "These are fewer than 10 steps: a longer --delay says more");
}

/* ---- files ---- */

static int read_all(struct ct_step_times *t, const struct ct_options *o)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    int status = EXIT_SUCCESS;
    for (int i = 0; i < o->file_count; i++) {
        bool is_read = !ct_summary_read(&s, o->files[i], &error);
        const char *refused = is_read ? ct_step_times_add(t, &s) : error.text;
        if (!refused)
            continue;
        ct_file_error(o->files[i], refused);
        status = EXIT_FAILURE;
    }
    ct_summary_free(&s);
    return status;
}

int ct_report_stragglers(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_step_times t = {0};
    int status = read_all(&t, in->o);
    ct_step_times_compare(&t);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < t.count; i++)
        put_rank(sink, &t, &t.ranks[i]);
    note(sink, &t);
    ct_sink_end(sink);
    ct_step_times_free(&t);
    return status;
}
