/* SPDX-License-Identifier: MIT */
#include "report/sinks/group.h"

#include <stdlib.h>
#include <string.h>

#include "report/sinks/row_store.h"

#define MOST_RELATIONS 8
#define MOST_COLUMNS 6

/* One relation with the group's columns. */
struct widened {
    struct ct_relation relation;
    struct ct_column columns[CT_RELATION_COLUMNS];
    struct ct_row_store rows;
    struct ct_string notes; /* each terminated */
};

struct group {
    struct ct_sink sink;
    struct ct_sink *to;
    const struct ct_column *columns;
    size_t count;
    struct ct_cell cells[MOST_COLUMNS];
    struct ct_string texts[MOST_COLUMNS];
    struct widened *relations[MOST_RELATIONS];
    size_t relation_count;
    size_t at; /* relation of this time, from 1 on */
};

void ct_group_enter(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct group *g = (struct group *)sink;
    g->at = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->cells[i] = cells[i];
        if (!cells[i].known || !ct_cell_is_text(g->columns[i].type))
            continue;
        ct_string_clear(&g->texts[i]);
        ct_string_put(&g->texts[i], cells[i].text);
        g->cells[i].text = g->texts[i].data;
    }
}

static void widen(struct group *g, const struct ct_relation *relation)
{
    struct widened *w = ct_memory_array(1, sizeof(*w));
    g->relations[g->relation_count++] = w;
    if (g->count)
        memcpy(w->columns, g->columns, g->count * sizeof(*w->columns));
    memcpy(w->columns + g->count, relation->columns, relation->count * sizeof(*w->columns));
    w->relation = *relation;
    w->relation.columns = w->columns;
    w->relation.count += g->count;
    ct_row_store_begin(&w->rows, &w->relation);
    if (g->relation_count == 1)
        ct_sink_begin(g->to, &w->relation);
}

static void begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    struct group *g = (struct group *)sink;
    if (g->at++ == g->relation_count)
        widen(g, relation);
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct group *g = (struct group *)sink;
    struct widened *w = g->relations[g->at - 1];
    struct ct_cell all[CT_RELATION_COLUMNS];
    memcpy(all, g->cells, g->count * sizeof(*all));
    memcpy(all + g->count, cells, (w->relation.count - g->count) * sizeof(*all));
    if (g->at == 1)
        ct_sink_row(g->to, all);
    else
        ct_row_store_add(&w->rows, all);
}

/* Says which group it is of. */
static void note(struct ct_sink *sink, const char *text)
{
    struct group *g = (struct group *)sink;
    struct ct_string line = {0};
    for (size_t i = 0; i < g->count; i++) {
        if (!g->cells[i].known)
            continue;
        ct_string_put(&line, line.len ? ", " : "");
        if (ct_cell_is_text(g->columns[i].type))
            ct_string_put(&line, g->cells[i].text);
        else
            ct_string_printf(&line, "%s %llu", g->columns[i].heading,
                             (unsigned long long)g->cells[i].count);
    }
    ct_string_printf(&line, "%s%s", line.len ? ": " : "", text);
    if (g->at == 1)
        ct_sink_note(g->to, line.data);
    else
        ct_string_add(&g->relations[g->at - 1]->notes, line.data, line.len + 1);
    ct_string_free(&line);
}

static void end(struct ct_sink *sink)
{
    (void)sink;
}

static void put_kept(struct ct_sink *to, const struct widened *w)
{
    ct_sink_begin(to, &w->relation);
    for (size_t i = 0; i < w->rows.count; i++) {
        struct ct_cell cells[CT_RELATION_COLUMNS];
        ct_row_store_get(&w->rows, i, cells);
        ct_sink_row(to, cells);
    }
    for (size_t at = 0; at < w->notes.len; at += strlen(w->notes.data + at) + 1)
        ct_sink_note(to, w->notes.data + at);
    ct_sink_end(to);
}

static void close_group(struct ct_sink *sink)
{
    struct group *g = (struct group *)sink;
    if (g->relation_count)
        ct_sink_end(g->to);
    for (size_t i = 0; i < g->relation_count; i++) {
        if (i)
            put_kept(g->to, g->relations[i]);
        ct_row_store_free(&g->relations[i]->rows);
        ct_string_free(&g->relations[i]->notes);
        free(g->relations[i]);
    }
    for (size_t i = 0; i < g->count; i++)
        ct_string_free(&g->texts[i]);
    free(g);
}

struct ct_sink *ct_group_open(struct ct_sink *to, const struct ct_column *columns, size_t count)
{
    struct group *g = ct_memory_array(1, sizeof(*g));
    g->to = to;
    g->columns = columns;
    g->count = count;
    g->sink = (struct ct_sink){begin, row, note, end, close_group};
    return &g->sink;
}
