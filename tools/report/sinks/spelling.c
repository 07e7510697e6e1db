/* SPDX-License-Identifier: MIT */
#include "report/sinks/spelling.h"

#include <math.h>
#include <stdio.h>

#include "report/profile/view.h"

static void spell_time(char *text, uint64_t ns, enum ct_unit unit)
{
    if (unit == CT_UNIT_AUTO)
        ct_units_time(text, ns, 8);
    else
        ct_units_cell(text, ns, unit);
}

void ct_spelling_number(char text[CT_UNITS_BYTES], const struct ct_column *column,
                        const struct ct_cell *cell, enum ct_unit unit)
{
    switch (column->type) {
    case CT_CELL_TIME_NS:
    case CT_CELL_STAMP_NS:
        spell_time(text, cell->count, unit);
        break;
    case CT_CELL_BYTES:
        ct_units_size(text, cell->count);
        break;
    case CT_CELL_CHANGE_NS:
        text[0] = cell->number < 0 ? '-' : '+';
        spell_time(text + 1, ct_view_whole_ns(fabs(cell->number)), unit);
        break;
    case CT_CELL_RATE:
        ct_units_bandwidth(text, (double)cell->count);
        break;
    case CT_CELL_PERCENT:
        snprintf(text, CT_UNITS_BYTES, "%.*f%%", ct_column_decimals(column), cell->number);
        break;
    case CT_CELL_NUMBER:
        snprintf(text, CT_UNITS_BYTES, "%.*f", ct_column_decimals(column), cell->number);
        break;
    default:
        snprintf(text, CT_UNITS_BYTES, "%llu", (unsigned long long)cell->count);
    }
}
