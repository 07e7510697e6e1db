/* SPDX-License-Identifier: MIT */
#include "report/explain/explain_page.h"

#include "report/terminal.h"

#define NAME_WIDTH 64
#define TEXT_WIDTH 300

/* As sink_json.c writes them: signs around keys and values, a number, a column, a relation. */
#define CELL_SIGNS 6
#define NUMBER_SIGNS 20
#define COLUMN_SIGNS 60
#define RELATION_SIGNS 90
#define ROW_SIGNS 10

static size_t escaped(const char *text)
{
    size_t size = 0;
    for (; *text; text++)
        size += *text == '"' || *text == '\\' ? 2 : 1;
    return size;
}

/* False: there is no room left for so many characters. */
static bool take(struct ct_page *p, size_t size)
{
    if (size > p->room)
        return false;
    p->room -= size;
    return true;
}

static void choose(struct ct_page *p, const struct ct_relation *r)
{
    for (const char *at = p->section->columns; *at; at += *at == ',') {
        size_t len = strcspn(at, ","), column;
        if (ct_relation_find(r, at, len, &column)) {
            p->from[p->relation.count] = column;
            p->columns[p->relation.count++] = r->columns[column];
        }
        at += len;
    }
}

static size_t size_of_head(const struct ct_page *p)
{
    size_t size = RELATION_SIGNS + strlen(p->relation.key) + strlen(p->relation.title) +
                  escaped(p->command) + ROW_SIGNS;
    for (size_t i = 0; i < p->relation.count; i++)
        size += COLUMN_SIGNS + strlen(p->columns[i].key) + strlen(p->columns[i].heading);
    return size;
}

static void begin(struct ct_sink *sink, const struct ct_relation *r)
{
    struct ct_page *p = (struct ct_page *)sink;
    p->section = p->sections;
    while (p->section->from && strcmp(p->section->from, r->key))
        p->section++;
    if (!p->section->from)
        p->section = NULL;
    if (!p->section)
        return;
    p->of = r;
    p->relation = p->section->relation;
    p->relation.columns = p->columns;
    p->relation.count = 0;
    choose(p, r);
    p->shown = p->left_out = 0;
    p->room = p->section->room;
    p->for_notes = p->section->for_notes;
    take(p, size_of_head(p) + p->for_notes);
    ct_sink_begin(p->to, &p->relation);
}

/* Texts are made short; returns the characters of the row. */
static size_t shorten(struct ct_page *p, struct ct_cell *cells)
{
    size_t size = ROW_SIGNS;
    for (size_t i = 0; i < p->relation.count; i++) {
        const struct ct_column *column = &p->columns[i];
        size += strlen(column->key) + CELL_SIGNS;
        if (!cells[i].known || !ct_cell_is_text(column->type)) {
            size += NUMBER_SIGNS;
            continue;
        }
        ct_string_clear(&p->texts[i]);
        ct_terminal_shorten(&p->texts[i], cells[i].text,
                            column->type == CT_CELL_NAME ? NAME_WIDTH : TEXT_WIDTH);
        cells[i].text = p->texts[i].data;
        size += escaped(cells[i].text);
    }
    return size;
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct ct_page *p = (struct ct_page *)sink;
    struct ct_cell chosen[CT_PAGE_COLUMNS];
    if (!p->section || (p->section->is_shown && !p->section->is_shown(p, cells)))
        return;
    for (size_t i = 0; i < p->relation.count; i++)
        chosen[i] = cells[p->from[i]];
    size_t size = shorten(p, chosen);
    if (p->left_out || p->shown == p->section->rows || !take(p, size)) {
        p->left_out++;
        return;
    }
    p->shown++;
    ct_sink_row(p->to, chosen);
}

void ct_page_note(struct ct_page *p, const char *text)
{
    struct ct_string shortened = {0};
    ct_terminal_shorten(&shortened, text, TEXT_WIDTH);
    size_t size = escaped(shortened.data) + ROW_SIGNS;
    bool is_kept_for = size <= p->for_notes;
    p->for_notes -= is_kept_for ? size : 0;
    if (is_kept_for || take(p, size))
        ct_sink_note(p->to, shortened.data);
    ct_string_free(&shortened);
}

static void note(struct ct_sink *sink, const char *text)
{
    struct ct_page *p = (struct ct_page *)sink;
    if (p->section && !p->section->notes)
        ct_page_note(p, text);
}

static void end(struct ct_sink *sink)
{
    struct ct_page *p = (struct ct_page *)sink;
    char others[64];
    if (!p->section)
        return;
    if (p->section->notes)
        p->section->notes(p);
    if (p->left_out) {
        snprintf(others, sizeof(others), "%zu more row%s", p->left_out,
                 p->left_out == 1 ? "" : "s");
        ct_page_note(p, others);
    }
    ct_sink_note(p->to, p->command);
    ct_sink_end(p->to);
}

void ct_page_open(struct ct_page *p, struct ct_sink *to)
{
    *p = (struct ct_page){.sink = {begin, row, note, end, NULL}, .to = to};
}

void ct_page_close(struct ct_page *p)
{
    for (size_t i = 0; i < CT_PAGE_COLUMNS; i++)
        ct_string_free(&p->texts[i]);
}

struct ct_cell ct_page_cell(const struct ct_page *p, const struct ct_cell *cells, const char *key)
{
    size_t column;
    return ct_relation_find(p->of, key, strlen(key), &column) ? cells[column] : ct_cell_none();
}
