/* SPDX-License-Identifier: MIT */
#include "report/stacks/change.h"

#include <math.h>

#include "report/reports.h"

struct ct_change ct_change_of(struct ct_change_side before, struct ct_change_side after)
{
    return (struct ct_change){
        .before = before,
        .after = after,
        .ns = (after.all ? after.all->ns : 0) - (before.all ? before.all->ns : 0),
        .own_ns = (after.own ? after.own->ns : 0) - (before.own ? before.own->ns : 0),
    };
}

static void put_side(struct ct_cell *cells, const struct ct_change_side *side, int all, int own,
                     int launches)
{
    if (!side->all)
        return;
    cells[all] = ct_cell_whole(side->all->ns);
    cells[own] = ct_cell_whole(side->own->ns);
    cells[launches] = ct_cell_count(side->all->count);
}

void ct_change_cells(struct ct_cell cells[CT_CHANGE_COLUMNS], const struct ct_change *change)
{
    const struct ct_change_side *before = &change->before, *after = &change->after;
    cells[CT_CHANGE_NS] = ct_cell_number(change->ns);
    cells[CT_CHANGE_OWN] = ct_cell_number(change->own_ns);
    if (before->all && after->all && before->all->ns > 0)
        cells[CT_CHANGE_PERCENT] = ct_cell_number(100 * change->ns / before->all->ns);
    put_side(cells, before, CT_CHANGE_BEFORE, CT_CHANGE_BEFORE_OWN, CT_CHANGE_BEFORE_LAUNCHES);
    put_side(cells, after, CT_CHANGE_AFTER, CT_CHANGE_AFTER_OWN, CT_CHANGE_AFTER_LAUNCHES);
}

int ct_change_order(const void *a, const void *b)
{
    const struct ct_change *x = a, *y = b;
    double change = fabs(y->ns) - fabs(x->ns), own_change = fabs(y->own_ns) - fabs(x->own_ns);
    change = change != 0 ? change : own_change;
    return (change > 0) - (change < 0);
}

void ct_change_notes(struct ct_sink *sink, const char *side, char *notes)
{
    struct ct_string note = {0};
    for (char *line; (line = strsep(&notes, "\n")) && *line;) {
        ct_string_clear(&note);
        ct_string_printf(&note, "%s: %s", side, line);
        ct_sink_note(sink, note.data);
    }
    ct_string_free(&note);
}
