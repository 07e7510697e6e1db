/* SPDX-License-Identifier: MIT */
#include "report/sinks/relation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/names.h"

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

/* "total" stands for total_ns where nothing is called so itself. */
static bool is_key(const char *key, const char *word, size_t len, const char *unit)
{
    return !strncmp(key, word, len) && !strcmp(key + len, unit);
}

bool ct_relation_find(const struct ct_relation *r, const char *word, size_t len, size_t *column)
{
    static const char *const units[] = {"", "_ns", "_bytes", "_percent"};
    for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
        for (*column = 0; *column < r->count; ++*column)
            if (is_key(r->columns[*column].key, word, len, units[u]))
                return true;
    }
    return false;
}

void ct_relation_refuse(const struct ct_relation *r, const char *word, size_t len)
{
    struct ct_string text = {0}, shown = {0};
    ct_string_add(&text, word, len);
    ct_name_safe(&shown, text.data);
    fprintf(stderr, "cutrace-report: '%s' is no column of %s: there are", shown.data, r->key);
    for (size_t i = 0; i < r->count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", r->columns[i].key);
    fputs(" (try --help)\n", stderr);
    ct_string_free(&text);
    ct_string_free(&shown);
}
