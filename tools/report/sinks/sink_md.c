/* SPDX-License-Identifier: MIT */
/*
 * Markdown: a heading and a table for each relation, with the units that people read, and its notes
 * as a list. Columns stand though no row has a value, as rows are written as they come.
 */
#include <stdlib.h>

#include "report/host_memory.h"
#include "report/reports.h"
#include "report/sinks/spelling.h"

struct md {
    struct ct_sink sink;
    FILE *out;
    struct ct_string text; /* not written yet */
    struct ct_string notes;
    const struct ct_relation *relation;
    size_t rows;
    bool further;
};

/* Signs that would end a cell, begin an element, or stand for code or emphasis. */
static void put_text(struct ct_string *to, const char *text)
{
    for (; *text; text++)
        ct_string_printf(to, strchr("|\\`*<", *text) ? "\\%c" : "%c", *text);
}

static void begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    struct md *m = (struct md *)sink;
    m->relation = relation;
    m->rows = 0;
    ct_string_printf(&m->text, "%s## %s\n\n", m->further ? "\n" : "", relation->title);
    m->further = true;
}

/* A table without rows is none. */
static void put_headings(struct md *m)
{
    for (size_t i = 0; i < m->relation->count; i++) {
        ct_string_put(&m->text, "| ");
        put_text(&m->text, m->relation->columns[i].heading);
        ct_string_put(&m->text, " ");
    }
    ct_string_put(&m->text, "|\n");
    for (size_t i = 0; i < m->relation->count; i++)
        ct_string_put(&m->text,
                      ct_cell_is_text(m->relation->columns[i].type) ? "| --- " : "| ---: ");
    ct_string_put(&m->text, "|\n");
}

static void put_cell(struct md *m, const struct ct_column *column, const struct ct_cell *cell)
{
    char number[CT_UNITS_BYTES];
    ct_string_put(&m->text, "| ");
    if (!cell->known) {
        ct_string_put(&m->text, "- ");
        return;
    }
    if (ct_cell_is_text(column->type)) {
        put_text(&m->text, cell->text);
    } else {
        ct_spelling_number(number, column, cell, CT_UNIT_AUTO);
        put_text(&m->text, ct_cell_sign(cell));
        ct_string_put(&m->text, number);
    }
    ct_string_put(&m->text, " ");
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct md *m = (struct md *)sink;
    if (!m->rows++)
        put_headings(m);
    for (size_t i = 0; i < m->relation->count; i++)
        put_cell(m, &m->relation->columns[i], &cells[i]);
    ct_string_put(&m->text, "|\n");
    ct_string_write_much(&m->text, m->out);
}

static void note(struct ct_sink *sink, const char *text)
{
    struct md *m = (struct md *)sink;
    size_t head = strlen(CT_NOTE_COMMAND);
    ct_string_put(&m->notes, "* ");
    if (strncmp(text, CT_NOTE_COMMAND, head))
        put_text(&m->notes, text);
    else
        ct_string_printf(&m->notes, CT_NOTE_COMMAND "`%s`", text + head);
    ct_string_put(&m->notes, "\n");
}

static void end(struct ct_sink *sink)
{
    struct md *m = (struct md *)sink;
    if (!m->rows)
        ct_string_put(&m->text, "None\n");
    if (m->notes.len)
        ct_string_printf(&m->text, "\n%s", m->notes.data);
    ct_string_clear(&m->notes);
    ct_string_write(&m->text, m->out);
}

static void close_md(struct ct_sink *sink)
{
    struct md *m = (struct md *)sink;
    ct_string_free(&m->text);
    ct_string_free(&m->notes);
    free(m);
}

struct ct_sink *ct_sink_md(FILE *out, const struct ct_look *look)
{
    struct md *m = ct_memory_copy(&(struct md){.out = out}, sizeof(*m));
    (void)look;
    m->sink = (struct ct_sink){begin, row, note, end, close_md};
    return &m->sink;
}
