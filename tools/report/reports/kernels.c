/* SPDX-License-Identifier: MIT */
/* Report "kernels". */
#include "report/reports/line_figures.h"

enum { REGISTERS, STATIC_SHARED, DYNAMIC_SHARED, GPU, NAME, NAMES, OWN };

static const struct ct_column columns[CT_FIGURES + OWN] = {
    CT_FIGURES_COLUMNS,
    [CT_FIGURES + REGISTERS] = {"registers", "Regs", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [CT_FIGURES + STATIC_SHARED] = {"static_shared_bytes", "SSMem", CT_CELL_BYTES, CT_FOLD_NONE,
                                    CT_OPTIONAL(2) | CT_QUIET},
    [CT_FIGURES + DYNAMIC_SHARED] = {"dynamic_shared_bytes", "DSMem", CT_CELL_BYTES, CT_FOLD_NONE,
                                     CT_OPTIONAL(2) | CT_QUIET},
    [CT_FIGURES + GPU] = {"gpu", "GPU", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2) | CT_OF_DEVICE},
    [CT_FIGURES + NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [CT_FIGURES + NAMES] = {"names", "Names", CT_CELL_COUNT, CT_FOLD_SUM, 0},
};

static const struct ct_relation relation = {"kernels", "Kernels", columns, CT_FIGURES + NAMES};
static const struct ct_relation groups = {"kernels", "Kernels", columns, CT_FIGURES + OWN};

/* Launches may differ in it: the largest. */
static struct ct_cell dynamic_shared(const struct ct_merged_row *row)
{
    uint64_t most = 0;
    for (size_t i = 0; i < row->shape_count; i++)
        if (row->shapes[i].dynamic_shared_bytes > most)
            most = row->shapes[i].dynamic_shared_bytes;
    return row->shape_count ? ct_cell_count(most) : ct_cell_none();
}

static void put(struct ct_cell *own, const struct ct_line *line, const char *gpus, bool raw)
{
    (void)raw;
    own[REGISTERS] = ct_figures_known(line->row->sum.registers);
    own[STATIC_SHARED] = ct_figures_known(line->row->sum.static_shared_bytes);
    own[DYNAMIC_SHARED] = dynamic_shared(line->row);
    own[GPU] = ct_cell_text(gpus);
    own[NAME] = ct_cell_text(line->name);
    own[NAMES] = ct_cell_count(line->names);
}

int ct_report_kernels(const struct ct_input *in, struct ct_sink *sink)
{
    ct_figures_rows(
        in, sink,
        &(struct ct_figures_report){in->o->grouped ? &groups : &relation, CT_FIGURES_KERNELS, put});
    return 0;
}
