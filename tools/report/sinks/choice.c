/* SPDX-License-Identifier: MIT */
#include "report/sinks/choice.h"

#include <stdlib.h>
#include <string.h>

#include "report/host_memory.h"

struct choice {
    struct ct_sink sink;
    struct ct_sink *to;
    const char *list;
    int *status;
    bool further;
    bool refused;
    struct ct_relation relation; /* count 0: none of its columns was asked for */
    struct ct_column columns[CT_RELATION_COLUMNS];
    size_t from[CT_RELATION_COLUMNS];
};

/* Once each, in the order asked for. */
static void choose(struct choice *c, const struct ct_relation *r)
{
    for (const char *p = c->list; *p && !c->refused; p += *p == ',') {
        size_t len = strcspn(p, ","), at;
        bool found = ct_relation_find(r, p, len, &at), twice = false;
        for (size_t i = 0; found && i < c->relation.count; i++)
            twice |= c->from[i] == at;
        if (found && !twice) {
            c->from[c->relation.count] = at;
            c->columns[c->relation.count++] = r->columns[at];
        } else if (!found && !c->further) {
            ct_relation_refuse(r, p, len);
            c->refused = true;
            *c->status = 2;
        }
        p += len;
    }
}

static void begin(struct ct_sink *sink, const struct ct_relation *r)
{
    struct choice *c = (struct choice *)sink;
    c->relation = (struct ct_relation){r->key, r->title, c->columns, 0};
    choose(c, r);
    c->further = true;
    if (c->refused)
        c->relation.count = 0;
    if (c->relation.count)
        ct_sink_begin(c->to, &c->relation);
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct choice *c = (struct choice *)sink;
    struct ct_cell chosen[CT_RELATION_COLUMNS];
    for (size_t i = 0; i < c->relation.count; i++)
        chosen[i] = cells[c->from[i]];
    if (c->relation.count)
        ct_sink_row(c->to, chosen);
}

static void note(struct ct_sink *sink, const char *text)
{
    struct choice *c = (struct choice *)sink;
    if (c->relation.count)
        ct_sink_note(c->to, text);
}

static void end(struct ct_sink *sink)
{
    struct choice *c = (struct choice *)sink;
    if (c->relation.count)
        ct_sink_end(c->to);
}

static void close_choice(struct ct_sink *sink)
{
    struct choice *c = (struct choice *)sink;
    ct_sink_close(c->to);
    free(c);
}

struct ct_sink *ct_choice_open(struct ct_sink *to, const struct ct_options *o, int *status)
{
    if (!o->columns)
        return to;
    struct choice *c = ct_memory_copy(
        &(struct choice){.to = to, .list = o->columns, .status = status}, sizeof(*c));
    c->sink = (struct ct_sink){begin, row, note, end, close_choice};
    return &c->sink;
}
