/* SPDX-License-Identifier: MIT */
/* Report "advice", and the same below the summary. */
#include <stdio.h>

#include "report/reports.h"
#include "report/reports/advice.h"

enum { KEY, PERCENT, TIME, COUNT, TEXT, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [KEY] = {"about", "About", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [PERCENT] = {"percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [TIME] = {"time_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [COUNT] = {"count", "Count", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [TEXT] = {"advice", "Advice", CT_CELL_TEXT, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"advice", "Advice", columns, COLUMNS};

int ct_report_advice(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_advice advice = {0};
    ct_advice_find(&advice, in->m);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < advice.count; i++) {
        const struct ct_advice_line *line = &advice.lines[i];
        struct ct_cell cells[COLUMNS] = {
            [KEY] = ct_cell_text(line->key),
            [COUNT] = ct_cell_count(line->count),
            [TEXT] = ct_cell_text(line->text),
        };
        if (line->ns) {
            cells[PERCENT] = ct_cell_number(line->percent);
            cells[TIME] = ct_cell_count(line->ns);
        }
        ct_sink_row(sink, cells);
    }
    ct_sink_end(sink);
    ct_advice_free(&advice);
    return 0;
}

void ct_advice_print(FILE *out, const char *prefix, const struct ct_merged *m)
{
    struct ct_advice advice = {0};
    ct_advice_find(&advice, m);
    for (size_t i = 0; i < advice.count; i++)
        fprintf(out, "%sAdvice: %s\n", prefix, advice.lines[i].text);
    ct_advice_free(&advice);
}
