/* SPDX-License-Identifier: MIT */
#include "report/sinks/relation.h"

#include <math.h>
#include <string.h>

void ct_sink_begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    sink->begin(sink, relation);
}

void ct_sink_row(struct ct_sink *sink, const struct ct_cell *cells)
{
    sink->row(sink, cells);
}

void ct_sink_note(struct ct_sink *sink, const char *text)
{
    sink->note(sink, text);
}

void ct_sink_notes(struct ct_sink *sink, char *lines)
{
    for (char *line; lines && (line = strsep(&lines, "\n")) && *line;)
        ct_sink_note(sink, line);
}

void ct_sink_end(struct ct_sink *sink)
{
    sink->end(sink);
}

void ct_sink_close(struct ct_sink *sink)
{
    sink->close(sink);
}

struct ct_cell ct_cell_number(double number)
{
    return isfinite(number) ? (struct ct_cell){.known = true, .number = number} : ct_cell_none();
}
