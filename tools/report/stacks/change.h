/* SPDX-License-Identifier: MIT */
/* Columns and notes of the report "diff" by what launched: a line of Python, or a module. */
#ifndef CT_REPORT_CHANGE_H
#define CT_REPORT_CHANGE_H

#include "report/sinks/relation.h"
#include "report/stacks/calls.h"

/* NULL where the profile does not have it. */
struct ct_change_side {
    const struct ct_launched *own, *all;
};

struct ct_change {
    struct ct_change_side before, after;
    double ns, own_ns;
};

/* The first columns of the relation. */
enum ct_change_column {
    CT_CHANGE_NS,
    CT_CHANGE_PERCENT,
    CT_CHANGE_OWN,
    CT_CHANGE_BEFORE,
    CT_CHANGE_AFTER,
    CT_CHANGE_BEFORE_OWN,
    CT_CHANGE_AFTER_OWN,
    CT_CHANGE_BEFORE_LAUNCHES,
    CT_CHANGE_AFTER_LAUNCHES,
    CT_CHANGE_COLUMNS
};

/* clang-format off */
#define CT_CHANGE_HEADINGS                                                                         \
    [CT_CHANGE_NS] = {"change_ns", "Change", CT_CELL_CHANGE_NS, CT_FOLD_NONE, 0},                  \
    [CT_CHANGE_PERCENT] = {"change_percent", "Change(%)", CT_CELL_PERCENT, CT_FOLD_NONE,           \
                           2 | CT_OPTIONAL(3)},                                                    \
    [CT_CHANGE_OWN] = {"own_change_ns", "Own change", CT_CELL_CHANGE_NS, CT_FOLD_SUM, 0},          \
    [CT_CHANGE_BEFORE] = {"old_total_ns", "Old time", CT_CELL_TIME_NS, CT_FOLD_MOST,               \
                          CT_OPTIONAL(2)},                                                         \
    [CT_CHANGE_AFTER] = {"new_total_ns", "New time", CT_CELL_TIME_NS, CT_FOLD_MOST,                \
                         CT_OPTIONAL(1)},                                                          \
    [CT_CHANGE_BEFORE_OWN] = {"old_own_ns", "Old own", CT_CELL_TIME_NS, CT_FOLD_SUM,               \
                              CT_OPTIONAL(7)},                                                     \
    [CT_CHANGE_AFTER_OWN] = {"new_own_ns", "New own", CT_CELL_TIME_NS, CT_FOLD_SUM,                \
                             CT_OPTIONAL(7)},                                                      \
    [CT_CHANGE_BEFORE_LAUNCHES] = {"old_launches", "Old launches", CT_CELL_COUNT, CT_FOLD_MOST,    \
                                   CT_OPTIONAL(6)},                                                \
    [CT_CHANGE_AFTER_LAUNCHES] = {"new_launches", "New launches", CT_CELL_COUNT, CT_FOLD_MOST,     \
                                  CT_OPTIONAL(5)}
/* clang-format on */

struct ct_change ct_change_of(struct ct_change_side before, struct ct_change_side after);
void ct_change_cells(struct ct_cell cells[CT_CHANGE_COLUMNS], const struct ct_change *change);

/* For qsort(), of elements that begin with a struct ct_change: the largest first. */
int ct_change_order(const void *a, const void *b);

/* Puts each line of `notes` as one on that side; takes it apart. */
void ct_change_notes(struct ct_sink *sink, const char *side, char *notes);

#endif
