/* SPDX-License-Identifier: MIT */
/*
 * Report "stuck": what is in flight and what waits, of each process, as of the profile; and the
 * ranks that have not come to a collective that others wait in.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/file_error.h"
#include "report/names.h"
#include "report/reports.h"
#include "report/reports/nccl_report.h"
#include "report/units.h"
#include "report/watch/arrivals.h"

enum {
    STATE,
    RANK,
    PID,
    KIND,
    STREAM,
    FOR,
    P50,
    P99,
    TIMED,
    LIMIT,
    BEHIND,
    THREAD,
    COMMUNICATOR,
    SEQUENCE,
    BYTES,
    STANDS,
    PLACE,
    NAME,
    COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
    [STATE] = {"state", "State", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [RANK] = {"rank", "Rank", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [PID] = {"pid", "PID", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(4)},
    [KIND] = {"kind", "Kind", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [STREAM] = {"stream", "Stream", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [FOR] = {"for_ns", "For", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [P50] = {"p50_ns", "p50", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [P99] = {"p99_ns", "p99", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [TIMED] = {"timed", "Timed", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(6)},
    [LIMIT] = {"limit_ns", "Limit", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(5)},
    [BEHIND] = {"behind", "Behind", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(3) | CT_QUIET},
    [THREAD] = {"thread", "Thread", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(4)},
    [COMMUNICATOR] = {"communicator", "Communicator", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(5)},
    [SEQUENCE] = {"sequence", "Number", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_NONE, CT_OPTIONAL(5)},
    [STANDS] = {"stands_at", "Stands at", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [PLACE] = {"launched_at", "Launched at", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"stuck", "In flight", columns, COLUMNS};

static const char *const kinds[] = {
#define X(id, text) text,
    CT_STUCK_KINDS(X)
#undef X
};

static const char *const gates[] = {
#define X(id, text) text,
    CT_STUCK_GATES(X)
#undef X
};

static const char *state_of(const struct ct_file_stuck *f)
{
    if (f->flags & CT_STUCK_OVER)
        return "stuck";
    if (f->flags & CT_STUCK_PAST)
        return "was stuck";
    if (f->flags & CT_STUCK_UNFINISHED)
        return "at exit";
    switch (f->kind) {
    case CT_STUCK_OPERATION:
        return "in flight";
    case CT_STUCK_FAULT:
        return "failed";
    default:
        return "waits";
    }
}

/* ---- names ---- */

static void put_row(struct ct_string *out, const struct ct_merged *m, const struct ct_file_stuck *f,
                    bool demangle)
{
    if (f->row)
        ct_name_row(out, m, &m->rows[m->row_map[f->row - 1]].sum, demangle);
}

static void put_operation(struct ct_string *out, const struct ct_summary *s,
                          const struct ct_file_stuck *f, bool demangle)
{
    if (f->collective)
        ct_string_printf(out, "NCCL %s", ct_nccl_operation(f->collective - 1));
    if (f->node)
        ct_name_kernel(out, ct_summary_text(s, f->node),
                       demangle ? CT_NAMES_DEMANGLED : CT_NAMES_MANGLED);
    if (f->flags & CT_STUCK_SUBMITTING)
        ct_string_printf(out, "%sa call that submits to it", out->len ? ", " : "");
}

static void put_gate(struct ct_string *out, const struct ct_file_stuck *f)
{
    ct_string_put(out, gates[f->gate]);
    if (f->waits_for)
        ct_string_printf(out, " of stream %" PRIu64, f->waits_for);
}

static void put_call(struct ct_string *out, const struct ct_summary *s,
                     const struct ct_file_stuck *f)
{
    ct_name_api(out, ct_summary_text(s, f->call));
    if (f->gate)
        ct_string_put(out, ", for ");
    if (f->gate)
        put_gate(out, f);
}

/* The place where a stream, thread or graph stands. */
static void put_stand(struct ct_string *out, const struct ct_summary *s,
                      const struct ct_file_stuck *f, bool demangle)
{
    switch (f->kind) {
    case CT_STUCK_GATE:
        put_gate(out, f);
        break;
    case CT_STUCK_CALL:
        put_call(out, s, f);
        break;
    case CT_STUCK_FAULT:
        ct_string_printf(out, "error %d of the device", f->error);
        break;
    case CT_STUCK_DRIVER:
        ct_string_put(out, "cutrace's own ");
        ct_name_api(out, ct_summary_text(s, f->call));
        break;
    default:
        put_operation(out, s, f, demangle);
    }
}

static void put_place(struct ct_string *out, const struct ct_summary *s,
                      const struct ct_file_stuck *f)
{
    if (!f->frame)
        return;
    const struct ct_file_line *l = &s->lines[s->frames[f->frame - 1].line];
    ct_name_safe(out, ct_summary_text(s, l->file));
    if (l->line)
        ct_string_printf(out, ":%u", l->line);
    ct_string_put(out, " ");
    ct_name_safe(out, ct_summary_text(s, l->function));
}

/* ---- rows ---- */

static struct ct_cell unless_zero(uint64_t n)
{
    return n ? ct_cell_count(n) : ct_cell_none();
}

static struct ct_cell text_or_none(struct ct_string *s)
{
    return s->len ? ct_cell_text(s->data) : ct_cell_none();
}

static void put(struct ct_sink *sink, const struct ct_merged *m, const struct ct_summary *s,
                const struct ct_file_stuck *f, bool demangle)
{
    struct ct_string name = {0}, place = {0}, stand = {0}, communicator = {0};
    put_row(&name, m, f, demangle);
    put_stand(&stand, s, f, demangle);
    put_place(&place, s, f);
    if (f->ranks)
        ct_string_printf(&communicator, "%u of %u ranks", f->communicator, f->ranks);
    bool is_timed = f->timed && f->kind != CT_STUCK_CALL;
    ct_sink_row(
        sink,
        (struct ct_cell[COLUMNS]){
            [STATE] = ct_cell_text(state_of(f)),
            [RANK] = s->process->rank ? ct_cell_count(s->process->rank - 1) : ct_cell_none(),
            [PID] = ct_cell_count(s->process->pid),
            [KIND] = ct_cell_text(kinds[f->kind]),
            [STREAM] = unless_zero(f->stream),
            [FOR] = f->kind == CT_STUCK_COMMUNICATOR ? ct_cell_none() : ct_cell_count(f->for_ns),
            [P50] = is_timed ? ct_cell_count(f->p50_ns) : ct_cell_none(),
            [P99] = is_timed ? ct_cell_count(f->p99_ns) : ct_cell_none(),
            [TIMED] = unless_zero(f->timed),
            [LIMIT] = unless_zero(f->limit_ns),
            [BEHIND] = ct_cell_count(f->behind),
            [THREAD] = unless_zero(f->thread),
            [COMMUNICATOR] = text_or_none(&communicator),
            [SEQUENCE] = unless_zero(f->sequence),
            [BYTES] = unless_zero(f->bytes),
            [PLACE] = text_or_none(&place),
            [STANDS] = text_or_none(&stand),
            [NAME] = text_or_none(&name),
        });
    ct_string_free(&name);
    ct_string_free(&stand);
    ct_string_free(&place);
    ct_string_free(&communicator);
}

/* Stuck ones first; communicators that nobody waits in are for the comparison alone. */
static bool is_of_pass(const struct ct_file_stuck *f, int pass)
{
    bool is_first = f->flags & CT_STUCK_OVER;
    return f->kind != CT_STUCK_COMMUNICATOR && is_first == !pass;
}

static void put_file(struct ct_sink *sink, const struct ct_summary *s, bool demangle)
{
    struct ct_merged m = {0};
    ct_merge_add(&m, s);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->stuck_count; i++)
            if (is_of_pass(&s->stuck[i], pass))
                put(sink, &m, s, &s->stuck[i], demangle);
    ct_merge_free(&m);
}

int ct_report_stuck(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    struct ct_arrivals arrivals = {0};
    int status = EXIT_SUCCESS;
    ct_sink_begin(sink, &relation);
    for (int i = 0; i < in->o->file_count; i++) {
        if (ct_summary_read(&s, in->o->files[i], &error)) {
            ct_file_error(in->o->files[i], error.text);
            status = EXIT_FAILURE;
            continue;
        }
        put_file(sink, &s, !in->o->mangled);
        ct_arrivals_add(&arrivals, &s);
    }
    ct_arrivals_note(&arrivals, sink);
    ct_sink_end(sink);
    ct_arrivals_free(&arrivals);
    ct_summary_free(&s);
    return status;
}
