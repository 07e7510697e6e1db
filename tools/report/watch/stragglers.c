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
#define SMALL 0.1 /* of being behind: not worth a word */

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
    [PERCENT] = {"behind_percent", "Step(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 1},
    [CAUSE] = {"because", "Because of its", CT_CELL_TEXT, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"stragglers", "Steps by rank", columns, COLUMNS};

enum cause { OF_KERNELS = CT_STEP_KERNELS, OF_COPIES = CT_STEP_COPIES, OF_HOST };

static const char *const causes[] = {
    [OF_KERNELS] = "kernels", [OF_COPIES] = "copies", [OF_HOST] = "host"};

static enum cause cause_of(const struct ct_step_rank *r, double *ns)
{
    enum cause most = OF_HOST;
    *ns = ct_step_host_ns(r);
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

static void put_late(struct ct_string *out, const struct ct_step_rank *r, double ns)
{
    bool is_alone = r->behind_ns - ns < SMALL * r->behind_ns;
    put_time(out,
             is_alone ? "; its kernels and copies take no longer than theirs: its host is late by "
                      : "; its host is late by ",
             ns, "");
}

static void put_cause(struct ct_string *out, const struct ct_step_times *t,
                      const struct ct_step_rank *r, bool demangle)
{
    double ns;
    uint32_t row = 0;
    enum cause cause = cause_of(r, &ns);
    if (cause == OF_HOST) {
        put_late(out, r, ns);
        return;
    }
    ct_string_printf(out, "; its %s take ", causes[cause]);
    put_time(out, "", ns, " longer than theirs");
    double row_ns = ct_step_times_longest(t, r, (enum ct_step_part)cause, &row);
    if (!(row_ns > 0))
        return;
    struct ct_string name = {0};
    ct_name_row(&name, &t->m, &t->m.rows[row].sum, demangle);
    ct_name_base(&name);
    ct_string_printf(out, ", most in %s", name.data);
    put_time(out, " (", row_ns, ")");
    ct_string_free(&name);
}

static void put_name(struct ct_string *out, const struct ct_step_rank *r)
{
    if (r->process.rank)
        ct_string_printf(out, "Rank %u", r->process.rank - 1);
    else
        ct_string_put(out, "A process without a rank");
    ct_string_printf(out, " (pid %u)", r->process.pid);
}

static void note_straggler(struct ct_sink *sink, const struct ct_step_times *t,
                           const struct ct_step_rank *r, bool demangle)
{
    struct ct_string text = {0};
    put_name(&text, r);
    put_time(&text, t->has_nccl ? ": the others wait for it " : ": behind the others by ",
             r->behind_ns, " a step");
    ct_string_printf(&text, ", %.1f%% of a step", 100 * r->behind_ns / r->step_ns);
    put_cause(&text, t, r, demangle);
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

/* A rank that launched nothing may be the one that hangs. */
static void note_left_out(struct ct_sink *sink, const struct ct_step_rank *r)
{
    struct ct_string text = {0};
    put_name(&text, r);
    ct_string_put(
        &text,
        r->is_idle
            ? " launched nothing in that time: cutrace ctl --all stuck says "
              "what it waits for"
            : " is left out: it has one profile alone, or nothing in common with the others");
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

/* Processes without a rank beside those with one are not of the job. */
static void note_all_left_out(struct ct_sink *sink, const struct ct_step_times *t)
{
    bool has_ranks = t->count && t->ranks[0].process.rank;
    for (size_t i = t->count; i < t->all; i++)
        if (t->ranks[i].process.rank || !has_ranks)
            note_left_out(sink, &t->ranks[i]);
}

static void note_none(struct ct_sink *sink, const struct ct_step_times *t)
{
    struct ct_string text = {0};
    double least = t->count >= CT_STEP_MANY ? CT_STEP_BEHIND : CT_STEP_BEHIND_FEW;
    if (!t->count)
        ct_string_put(&text, "No process launched anything in that time");
    else if (t->count < 2)
        ct_string_put(&text, "There are no other ranks to compare it with");
    else if (!(t->steps > 0))
        ct_string_put(&text,
                      "No steps were found: there is nothing that is launched again and again");
    else
        ct_string_printf(&text, "No rank is behind the others by %.0f%% of a step%s", 100 * least,
                         t->count >= CT_STEP_MANY ? ", and more than they differ anyway" : "");
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

static void note_range(struct ct_sink *sink, const char *name)
{
    struct ct_string text = {0};
    ct_string_put(&text, "Steps are the program's ranges ");
    ct_name_safe(&text, name);
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

static void note(struct ct_sink *sink, const struct ct_step_times *t, bool demangle)
{
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->ranks[i].is_straggler)
            continue;
        note_straggler(sink, t, &t->ranks[i], demangle);
        any = true;
    }
    if (!any)
        note_none(sink, t);
    note_all_left_out(sink, t);
    if (t->range)
        note_range(sink, t->range);
    if (t->has_untimed)
        ct_sink_note(sink,
                     "Operations that some rank lacks, or of which too few were timed, are not "
                     "compared (cutrace --time all times each)");
    if (t->steps > 0 && t->steps < FEW_STEPS)
        ct_sink_note(sink, "These are fewer than 10 steps: a longer time says more");
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
    note(sink, &t, !in->o->mangled);
    ct_sink_end(sink);
    ct_step_times_free(&t);
    return status;
}
