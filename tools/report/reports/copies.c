/* SPDX-License-Identifier: MIT */
/* Report "copies": copies, memory sets and prefetches. */
#include "report/reports/figures.h"

enum { BYTES, AVG_BYTES, THROUGHPUT, GPU, NAME, OWN };

static const struct ct_column columns[CT_FIGURES + OWN] = {
    CT_FIGURES_COLUMNS,
    [CT_FIGURES + BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    [CT_FIGURES + AVG_BYTES] = {"avg_bytes", "Avg size", CT_CELL_BYTES, CT_FOLD_NONE, 0},
    [CT_FIGURES + THROUGHPUT] = {"bytes_per_second", "Throughput", CT_CELL_RATE, CT_FOLD_NONE, 0},
    [CT_FIGURES + GPU] = {"gpu", "GPU", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [CT_FIGURES + NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"copies", "Copies, sets and prefetches", columns,
                                            CT_FIGURES + OWN};

/* Of those with a time: their bytes, in their time. */
static struct ct_cell throughput(const struct ct_file_row *sum, uint64_t total_ns)
{
    if (!sum->timed_bytes || !total_ns)
        return ct_cell_none();
    return ct_cell_whole((double)sum->timed_bytes * 1e9 / (double)total_ns);
}

static void put(struct ct_cell *own, const struct ct_line *line, const char *gpus, bool raw)
{
    const struct ct_file_row *sum = &line->row->sum;
    own[BYTES] = ct_cell_count(line->bytes);
    if (line->calls)
        own[AVG_BYTES] = ct_cell_count(line->bytes / line->calls);
    own[THROUGHPUT] = throughput(sum, ct_view_durations(line->row, raw).total_ns);
    own[GPU] = ct_cell_text(gpus);
    own[NAME] = ct_cell_text(line->name);
}

int ct_report_copies(const struct ct_input *in, struct ct_sink *sink)
{
    ct_figures_rows(in, sink, &(struct ct_figures_report){&relation, CT_FIGURES_MEMORY, put});
    return 0;
}
