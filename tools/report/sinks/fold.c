/* SPDX-License-Identifier: MIT */
#include "report/sinks/fold.h"

#include "report/profile/merge.h"

void ct_fold_begin(struct ct_fold_row *f, const struct ct_relation *relation)
{
    *f = (struct ct_fold_row){.relation = relation};
}

static bool is_less(const struct ct_column *column, const struct ct_cell *a,
                    const struct ct_cell *b)
{
    return ct_cell_is_number(column->type) ? a->number < b->number : a->count < b->count;
}

static void add(struct ct_cell *to, const struct ct_column *column, const struct ct_cell *cell)
{
    if (!to->known) {
        *to = *cell;
        to->doubtful = false;
    } else if (column->fold == CT_FOLD_SUM && ct_cell_is_number(column->type)) {
        to->number += cell->number;
    } else if (column->fold == CT_FOLD_SUM) {
        ct_merge_add_to(&to->count, cell->count);
    } else if (is_less(column, cell, to) == (column->fold == CT_FOLD_LEAST)) {
        *to = *cell;
    }
}

void ct_fold_add(struct ct_fold_row *f, const struct ct_cell *cells)
{
    f->count++;
    for (size_t i = 0; i < f->relation->count; i++) {
        const struct ct_column *column = &f->relation->columns[i];
        if (column->fold != CT_FOLD_NONE && column->fold != CT_FOLD_GROUP && cells[i].known)
            add(&f->cells[i], column, &cells[i]);
    }
}

bool ct_fold_makes_sense(const struct ct_relation *relation)
{
    for (size_t i = 0; i < relation->count; i++)
        if (relation->columns[i].fold == CT_FOLD_SUM)
            return true;
    return false;
}

int ct_fold_name_column(const struct ct_relation *relation)
{
    int text = -1;
    for (size_t i = 0; i < relation->count; i++) {
        if (relation->columns[i].type == CT_CELL_NAME)
            return (int)i;
        if (relation->columns[i].type == CT_CELL_TEXT)
            text = (int)i;
    }
    return text;
}
