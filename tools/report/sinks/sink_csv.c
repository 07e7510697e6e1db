/* SPDX-License-Identifier: MIT */
/*
 * Comma- and tab-separated values: a line of keys, then one line for each row, in the units that
 * the keys name. A further relation of the same report stands behind an empty line.
 */
#include <stdlib.h>

#include "report/reports.h"
#include "report/sinks/csv_text.h"
#include "report/sinks/data.h"

struct csv {
    struct ct_sink sink;
    FILE *out;
    struct ct_string text; /* not written yet */
    char separator;
    const struct ct_relation *relation;
    bool further;
};

static void begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    struct csv *c = (struct csv *)sink;
    c->relation = relation;
    if (c->further)
        ct_string_put(&c->text, "\n");
    c->further = true;
    for (size_t i = 0; i < relation->count; i++) {
        if (i)
            ct_string_add(&c->text, &c->separator, 1);
        ct_string_put(&c->text, relation->columns[i].key);
    }
    ct_string_put(&c->text, "\n");
}

/* Text has neither tabs nor line ends: ct_name_safe() has seen to that. */
static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct csv *c = (struct csv *)sink;
    for (size_t i = 0; i < c->relation->count; i++) {
        const struct ct_column *column = &c->relation->columns[i];
        if (i)
            ct_string_add(&c->text, &c->separator, 1);
        if (!cells[i].known)
            continue;
        if (!ct_cell_is_text(column->type))
            ct_data_number(&c->text, column, &cells[i]);
        else if (c->separator == ',')
            ct_csv_name(&c->text, cells[i].text);
        else
            ct_string_put(&c->text, cells[i].text);
    }
    ct_string_put(&c->text, "\n");
    ct_string_write_much(&c->text, c->out);
}

static void note(struct ct_sink *sink, const char *text)
{
    (void)sink;
    ct_data_note(text);
}

static void end(struct ct_sink *sink)
{
    struct csv *c = (struct csv *)sink;
    ct_string_write(&c->text, c->out);
}

static void close_csv(struct ct_sink *sink)
{
    struct csv *c = (struct csv *)sink;
    ct_string_free(&c->text);
    free(c);
}

static struct ct_sink *open_separated(FILE *out, char separator)
{
    struct csv *c =
        ct_memory_copy(&(struct csv){.out = out, .separator = separator}, sizeof(struct csv));
    c->sink = (struct ct_sink){begin, row, note, end, close_csv};
    return &c->sink;
}

struct ct_sink *ct_sink_csv(FILE *out, const struct ct_look *look)
{
    (void)look;
    return open_separated(out, ',');
}

struct ct_sink *ct_sink_tsv(FILE *out, const struct ct_look *look)
{
    (void)look;
    return open_separated(out, '\t');
}
