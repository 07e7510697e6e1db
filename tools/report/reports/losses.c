/* SPDX-License-Identifier: MIT */
/* Report "losses": every operation is timed, or not for one reason; times that are upper bounds. */
#include "report/names.h"
#include "report/reports.h"

enum { OPERATIONS, SHARE, OUTCOME, TOTAL_COLUMNS };

static const struct ct_column total_columns[] = {
    [OPERATIONS] = {"operations", "Operations", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [SHARE] = {"percent", "Share", CT_CELL_PERCENT, CT_FOLD_SUM, 2},
    [OUTCOME] = {"outcome", "Outcome", CT_CELL_TEXT, CT_FOLD_NONE, 0},
};

static const struct ct_column row_columns[] = {
    {"operations", "Operations", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    {"outcome", "Outcome", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
    {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_column function_columns[] = {
    {"times", "Times", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    {"function", "Function", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation totals = {"losses", "Operations", total_columns, TOTAL_COLUMNS};
static const struct ct_relation rows = {"losses_by_name", "Operations by name", row_columns, 4};
static const struct ct_relation bounds = {"upper_bounds", "Times that are upper bounds",
                                          row_columns, 4};

static const struct ct_relation functions = {"not_wrapped", "Asked for, and not wrapped",
                                             function_columns, 2};

static void put_total(struct ct_sink *sink, uint64_t count, uint64_t all, const char *outcome)
{
    if (!count)
        return;
    struct ct_cell cells[TOTAL_COLUMNS] = {
        [OPERATIONS] = ct_cell_count(count),
        [SHARE] = ct_cell_number(100.0 * (double)count / (double)all),
        [OUTCOME] = ct_cell_text(outcome),
    };
    ct_sink_row(sink, cells);
}

/* The sum, and the operations that are not in it: captured, failed, or while recording was off. */
static void note_all(struct ct_sink *sink, uint64_t all, uint64_t captured, uint64_t failed,
                     uint64_t off)
{
    struct ct_string text = {0};
    ct_string_printf(&text, "%llu operations in all", (unsigned long long)all);
    if (captured)
        ct_string_printf(&text, ", %llu more captured into graphs, whose launches are timed",
                         (unsigned long long)captured);
    if (failed)
        ct_string_printf(&text, ", %llu more failed to start", (unsigned long long)failed);
    if (off)
        ct_string_printf(&text, ", %llu more came while recording was off",
                         (unsigned long long)off);
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

static bool is_loss(int reason)
{
    return reason != CT_LOSS_CAPTURED;
}

/* Losses come first: they are asked for here. */
static void put_totals(const struct ct_input *in, struct ct_sink *sink)
{
    uint64_t timed = 0, all = 0, failed = 0, lost[CT_FILE_LOSSES] = {0};
    for (uint32_t i = 0; i < in->m->row_keys.count; i++) {
        const struct ct_file_row *sum = &in->m->rows[i].sum;
        if (!ct_view_is_of(sum->device, in->device))
            continue;
        ct_merge_add_to(&timed, sum->timed);
        ct_merge_add_to(&failed, sum->errors == CT_MERGE_UNKNOWN ? 0 : sum->errors);
        ct_merge_add_to(&all, sum->timed);
        for (int k = 0; k < CT_FILE_LOSSES; k++) {
            ct_merge_add_to(&lost[k], sum->lost[k]);
            ct_merge_add_to(&all, is_loss(k) ? sum->lost[k] : 0);
        }
    }
    ct_sink_begin(sink, &totals);
    for (int k = 0; k < CT_FILE_LOSSES; k++)
        if (is_loss(k))
            put_total(sink, lost[k], all, ct_view_loss_text(k));
    put_total(sink, timed, all, "timed");
    /* operations while recording was off are known of the process, not of its devices */
    note_all(sink, all, lost[CT_LOSS_CAPTURED], failed,
             in->device == CT_VIEW_ALL_DEVICES ? in->m->off_operations : 0);
    ct_sink_end(sink);
}

struct put {
    const struct ct_input *in;
    struct ct_sink *sink;
    const struct ct_file_row *row;
    const char *name;
};

static void put_row(const struct put *p, uint64_t count, const char *outcome)
{
    if (!count)
        return;
    struct ct_cell cells[] = {ct_cell_count(count), ct_cell_text(outcome),
                              ct_cell_count(p->in->m->devices[p->row->device].sum.ordinal),
                              ct_cell_text(p->name)};
    ct_sink_row(p->sink, cells);
}

static void put_losses(const struct put *p)
{
    for (int k = 0; k < CT_FILE_LOSSES; k++)
        put_row(p, is_loss(k) ? p->row->lost[k] : 0, ct_view_loss_text(k));
}

static void put_timed(const struct put *p)
{
    put_row(p, p->row->timed, "timed");
}

static void put_captured(const struct put *p)
{
    put_row(p, p->row->lost[CT_LOSS_CAPTURED], ct_view_loss_text(CT_LOSS_CAPTURED));
}

static void put_marks(const struct put *p)
{
    for (int k = 0; k < CT_VIEW_MARKS; k++)
        put_row(p, ct_view_marked(p->row, k), ct_view_mark_text(k));
}

static void put_rows(const struct ct_input *in, struct ct_sink *sink,
                     void (*put)(const struct put *))
{
    struct ct_string name = {0};
    for (uint32_t i = 0; i < in->m->row_keys.count; i++) {
        const struct ct_merged_row *row = &in->m->rows[i];
        if (!ct_view_is_of(row->sum.device, in->device))
            continue;
        ct_string_clear(&name);
        ct_name_row(&name, in->m, &row->sum, !in->o->mangled);
        put(&(struct put){in, sink, &row->sum, name.data});
    }
    ct_string_free(&name);
}

/*
 * Functions that are not wrapped may have started work that no row has: a program that asked for
 * one was given the driver's own.
 */
static void put_functions(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_string name = {0};
    bool any = false;
    for (uint32_t i = 0; i < in->m->note_keys.count; i++) {
        const struct ct_file_note *n = &in->m->notes[i];
        if (n->kind != CT_NOTE_NOT_WRAPPED)
            continue;
        if (!any)
            ct_sink_begin(sink, &functions);
        any = true;
        ct_string_clear(&name);
        ct_name_safe(&name, ct_merge_name(in->m, n->text));
        ct_sink_row(sink, (struct ct_cell[]){ct_cell_count(n->count), ct_cell_text(name.data)});
    }
    if (any)
        ct_sink_end(sink);
    ct_string_free(&name);
}

int ct_report_losses(const struct ct_input *in, struct ct_sink *sink)
{
    put_totals(in, sink);
    ct_sink_begin(sink, &rows);
    put_rows(in, sink, put_losses);
    put_rows(in, sink, put_timed);
    put_rows(in, sink, put_captured);
    ct_sink_end(sink);
    ct_sink_begin(sink, &bounds);
    put_rows(in, sink, put_marks);
    ct_sink_end(sink);
    put_functions(in, sink);
    return 0;
}
