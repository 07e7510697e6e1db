/* SPDX-License-Identifier: MIT */
#include "report/stacks/module_diff.h"

#include <stdlib.h>

#include "report/reports.h"
#include "report/stacks/module_pairs.h"
#include "report/stacks/modules.h"

enum { VERDICT = CT_CHANGE_COLUMNS, DEPTH, MODULE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    CT_CHANGE_HEADINGS,
    [VERDICT] = {"verdict", "Verdict", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(4)},
    [DEPTH] = {"depth", "Depth", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(8)},
    [MODULE] = {"module", "Module", CT_CELL_NAME, CT_FOLD_NONE, CT_PATH | CT_WIDE},
};
static const struct ct_relation relation = {"diff_modules", "Changes by module", columns, COLUMNS};

static void put_pair(struct ct_sink *sink, const struct ct_module_pairs *p, size_t at)
{
    const struct ct_module_pair *pair = &p->at[at];
    const char *verdict = ct_module_pairs_verdict(p, at);
    struct ct_string path = {0};
    ct_module_pairs_path(&path, p, at);
    struct ct_cell cells[COLUMNS] = {
        [DEPTH] = ct_cell_count(pair->depth),
        [MODULE] = ct_cell_text(path.data),
    };
    ct_change_cells(cells, &pair->change);
    if (verdict)
        cells[VERDICT] = ct_cell_text(verdict);
    ct_sink_row(sink, cells);
    ct_string_free(&path);
}

/* Modules by their changes: pairs themselves stay where their children find them. */
struct order {
    struct ct_change change;
    size_t at;
};

static void put_pairs(struct ct_sink *sink, const struct ct_module_pairs *p)
{
    struct order *order = ct_memory_array(p->count, sizeof(*order));
    for (size_t i = 0; i < p->count; i++)
        order[i] = (struct order){p->at[i].change, i};
    qsort(order, p->count, sizeof(*order), ct_change_order);
    for (size_t i = 0; i < p->count; i++)
        put_pair(sink, p, order[i].at);
    free(order);
}

static void note_missing(struct ct_sink *sink, const struct ct_module_pairs *p)
{
    size_t only_before = 0, only_after = 0;
    char note[128];
    for (size_t i = 0; i < p->count; i++) {
        only_before += !p->at[i].change.after.all;
        only_after += !p->at[i].change.before.all;
    }
    snprintf(note, sizeof(note), "%zu of %zu modules launched in OLD alone, %zu in NEW alone",
             only_before, p->count, only_after);
    if (p->is_known && (only_before || only_after))
        ct_sink_note(sink, note);
}

static void put_notes(struct ct_sink *sink, const char *side, const struct ct_calls *c)
{
    struct ct_string notes = {0};
    ct_modules_notes(&notes, c);
    ct_change_notes(sink, side, notes.data);
    ct_string_free(&notes);
}

void ct_module_diff_begin(struct ct_sink *sink, const struct ct_merged *before,
                          const struct ct_merged *after)
{
    struct ct_calls a, b;
    struct ct_module_pairs pairs;
    ct_calls_of_modules(&a, before, CT_VIEW_ALL_DEVICES);
    ct_calls_of_modules(&b, after, CT_VIEW_ALL_DEVICES);
    ct_module_pairs_make(&pairs, before, &a, after, &b);
    ct_sink_begin(sink, &relation);
    put_pairs(sink, &pairs);
    note_missing(sink, &pairs);
    put_notes(sink, "OLD", &a);
    put_notes(sink, "NEW", &b);
    ct_module_pairs_free(&pairs);
    ct_calls_free(&a);
    ct_calls_free(&b);
}
