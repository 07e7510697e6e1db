/* SPDX-License-Identifier: MIT */
#include "report/sinks/nvprof.h"

#include <stdlib.h>
#include <string.h>

#include "report/files/output.h"

struct sink {
    struct ct_sink sink;
    struct ct_nvprof n;
    bool csv;
};

static void begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    struct ct_nvprof *n = &((struct sink *)sink)->n;
    ct_row_store_begin(&n->rows, relation);
    ct_string_clear(&n->notes);
    n->range_count = n->gpu_count = n->uncertain = n->bounds = n->estimates = 0;
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct ct_nvprof *n = &((struct sink *)sink)->n;
    ct_row_store_add(&n->rows, cells);
    n->range_count += !strcmp(cells[CT_SUMMARY_TYPE].text, CT_SUMMARY_RANGE);
    n->gpu_count += !strcmp(cells[CT_SUMMARY_TYPE].text, CT_SUMMARY_GPU);
    n->uncertain += cells[CT_SUMMARY_AVG].doubtful && !cells[CT_SUMMARY_AVG].bound;
    n->bounds += cells[CT_SUMMARY_AVG].bound;
    n->estimates += cells[CT_SUMMARY_TIME].estimate;
}

static void note(struct ct_sink *sink, const char *text)
{
    struct ct_nvprof *n = &((struct sink *)sink)->n;
    ct_string_printf(&n->notes, "%s%s\n", n->prefix, text);
}

static void end(struct ct_sink *sink)
{
    struct sink *s = (struct sink *)sink;
    if (s->csv)
        ct_nvprof_csv(&s->n);
    else
        ct_nvprof_text(&s->n);
}

static void close_sink(struct ct_sink *sink)
{
    struct sink *s = (struct sink *)sink;
    ct_row_store_free(&s->n.rows);
    ct_string_free(&s->n.notes);
    free(s);
}

struct ct_sink *ct_sink_nvprof(FILE *out, const struct ct_look *look)
{
    const struct ct_options *o = look->in->o;
    struct ct_nvprof n = {.out = out,
                          .below = ct_output_below(o, out),
                          .prefix = look->prefix,
                          .unit = (enum ct_unit)o->unit,
                          .width = look->in->width,
                          .color = look->in->color,
                          .grouped = o->grouped,
                          .gpu = o->gpu_summary || !o->api_summary,
                          .apis = look->in->device == CT_VIEW_ALL_DEVICES &&
                                  (o->api_summary || !o->gpu_summary),
                          .filtered = o->filter};
    struct sink *s = ct_memory_copy(&(struct sink){.n = n, .csv = o->csv}, sizeof(*s));
    s->sink = (struct ct_sink){begin, row, note, end, close_sink};
    return &s->sink;
}

void ct_nvprof_none(const struct ct_nvprof *n, const char *what)
{
    const char *why = n->filtered ? "match --filter" : "were profiled";
    fprintf(n->out, "No %s %s.\n", what, n->range_count ? "were profiled in this range" : why);
}

static uint64_t largest(const struct ct_nvprof *n, size_t column)
{
    uint64_t most = 0;
    for (size_t i = 0; i < n->rows.count; i++) {
        struct ct_cell cells[CT_SUMMARY_COLUMNS] = {{0}};
        ct_row_store_get(&n->rows, i, cells);
        if (cells[column].known && cells[column].count > most)
            most = cells[column].count;
    }
    return most;
}

void ct_nvprof_units(enum ct_unit units[CT_SUMMARY_COLUMNS], const struct ct_nvprof *n)
{
    for (size_t c = 0; c < n->rows.relation->count; c++) {
        units[c] = n->unit;
        if (n->unit == CT_UNIT_AUTO || n->unit == CT_UNIT_COLUMN)
            units[c] = n->rows.relation->columns[c].type == CT_CELL_TIME_NS
                           ? ct_unit_of(largest(n, c))
                           : CT_UNIT_NS;
    }
}
