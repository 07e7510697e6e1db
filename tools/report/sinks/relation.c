/* SPDX-License-Identifier: MIT */
#include "report/sinks/relation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/guess.h"
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

static const char *const units[] = {"", "_ns", "_bytes", "_percent"};

/* "total" stands for total_ns where nothing is called so itself. */
static bool is_key(const char *key, const char *word, size_t len, const char *unit)
{
    return !strncmp(key, word, len) && !strcmp(key + len, unit);
}

bool ct_relation_find(const struct ct_relation *r, const char *word, size_t len, size_t *column)
{
    for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
        for (*column = 0; *column < r->count; ++*column)
            if (is_key(r->columns[*column].key, word, len, units[u]))
                return true;
    }
    return false;
}

/* Enough for every key; without its unit, as words may be. */
struct plain_key {
    char text[40];
};

static const char *take_unit_off(struct plain_key *to, const char *key)
{
    size_t len = strlen(key);
    for (size_t u = 1; u < sizeof(units) / sizeof(units[0]); u++) {
        size_t n = strlen(units[u]);
        if (len > n && !strcmp(key + len - n, units[u])) {
            len -= n;
            break;
        }
    }
    snprintf(to->text, sizeof(to->text), "%.*s", (int)len, key);
    return to->text;
}

void ct_relation_refuse(const struct ct_relation *r, const char *word, size_t len)
{
    struct ct_string text = {0}, shown = {0};
    struct plain_key plain[CT_RELATION_COLUMNS];
    const char *names[CT_RELATION_COLUMNS];
    ct_string_add(&text, word, len);
    ct_name_safe(&shown, text.data);
    for (size_t i = 0; i < r->count; i++)
        names[i] = take_unit_off(&plain[i], r->columns[i].key);
    const char *meant = ct_guess(text.data, names, r->count);
    fprintf(stderr, "cutrace-report: '%s' is no column of %s", shown.data, r->key);
    if (meant)
        fprintf(stderr, " (did you mean %s?)", meant);
    for (size_t i = 0; i < r->count && !meant; i++)
        fprintf(stderr, "%s %s", i ? "," : ": there are", r->columns[i].key);
    fputc('\n', stderr);
    ct_string_free(&text);
    ct_string_free(&shown);
}
