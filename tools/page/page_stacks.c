/* SPDX-License-Identifier: MIT */
#include "page/page_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "page/json.h"
#include "report/names.h"
#include "report/stacks/line_pairs.h"

/* Texts that are in the page once. */
struct texts {
    struct ct_key_table known;
    json_t *list;
};

static uint32_t number_of(struct texts *t, const char *text)
{
    uint32_t at = ct_key_table_text(&t->known, text);
    if (at == json_array_size(t->list)) {
        struct ct_string safe = {0};
        ct_name_safe(&safe, text);
        ct_json_append_text(t->list, safe.data);
        ct_string_free(&safe);
    }
    return at;
}

/* File, whether that is a library's, function and number of each line, one after the other. */
static void add_lines(json_t *to, const struct ct_merged *m)
{
    struct texts t = {.list = ct_json_array()};
    json_t *lines = ct_json_array();
    for (uint32_t i = 0; i < m->stacks.line_keys.count; i++) {
        const struct ct_file_line *l = &m->stacks.lines[i];
        const char *file = ct_merge_name(m, l->file);
        ct_json_append_count(lines, number_of(&t, file));
        ct_json_append_count(lines, ct_calls_is_library(file, l->line));
        ct_json_append_count(lines, number_of(&t, ct_merge_name(m, l->function)));
        ct_json_append_count(lines, l->line);
    }
    ct_json_set(to, "texts", t.list);
    ct_json_set(to, "lines", lines);
    ct_key_table_free(&t.known);
}

enum { PARENT, LINE, OPERATION, NS, COUNT, COLUMNS };
static const char *const columns[COLUMNS] = {"parent", "line", "operation", "ns", "count"};

/* Frames that launched nothing are left out; the others keep their order. */
static void add_calls(json_t *to, const struct ct_calls *c, const uint32_t *operation)
{
    uint32_t *number = ct_memory_array(c->count, sizeof(*number)), count = 0;
    json_t *column[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        column[i] = ct_json_array();
    for (size_t i = 1; i < c->count; i++) {
        const struct ct_call *call = &c->call[i];
        if (!call->all.count)
            continue;
        number[i] = ++count;
        ct_json_append_count(column[PARENT], number[call->parent]);
        ct_json_append_count(column[LINE], call->line);
        ct_json_append_count(column[OPERATION],
                             call->row == CT_CALL_FRAME ? 0 : operation[call->row] + 1);
        ct_json_append_count(column[NS], ct_view_whole_ns(call->all.ns));
        ct_json_append_count(column[COUNT], call->all.count);
    }
    for (int i = 0; i < COLUMNS; i++)
        ct_json_set(to, columns[i], column[i]);
    free(number);
}

static void add_notes(json_t *to, const struct ct_calls *c)
{
    struct ct_string text = {0};
    char *rest = NULL;
    json_t *notes = ct_json_array();
    ct_string_put(&text, "");
    ct_calls_notes(&text, c);
    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        ct_json_append_text(notes, line);
    ct_json_set(to, "notes", notes);
    ct_string_free(&text);
}

/* `operation`: by the profile's rows. */
static json_t *tree_of(const struct ct_merged *m, const struct ct_calls *c,
                       const uint32_t *operation)
{
    json_t *to = ct_json_object();
    ct_json_count(to, "with_rest", ct_view_whole_ns(c->with_rest_ns));
    ct_json_flag(to, "sampled", c->is_sampled);
    add_notes(to, c);
    add_lines(to, m);
    add_calls(to, c, operation);
    return to;
}

static bool has_stacks(const struct ct_calls *c)
{
    return c->count > 1 && c->call[CT_CALL_ROOT].all.count;
}

/* ---- one profile ---- */

/* A name that a row and its line have in common; graphs are told apart by their content. */
static void spell_row(struct ct_string *name, const struct ct_merged *m,
                      const struct ct_merged_row *row, const struct ct_view_options *o)
{
    ct_string_clear(name);
    if (row->sum.kind == CT_ROW_GRAPH) {
        ct_string_printf(name, "%u %u", row->content, row->sum.detail);
        return;
    }
    ct_name_row(name, m, &row->sum, o->demangle);
    if (o->base && row->sum.kind == CT_ROW_KERNEL)
        ct_name_base(name);
}

static void spell_line(struct ct_string *name, const struct ct_line *line)
{
    ct_string_clear(name);
    if (line->kind == CT_ROW_GRAPH)
        ct_string_printf(name, "%u %u", line->content, line->detail);
    else
        ct_string_put(name, line->name);
}

/* By the profile's rows, their lines; the caller frees it. */
static uint32_t *lines_of(const struct ct_merged *m, const struct ct_view *gpu,
                          const struct ct_view_options *o)
{
    struct ct_key_table known = {0};
    struct ct_string name = {0};
    uint32_t *line = ct_memory_array(gpu->count, sizeof(*line));
    uint32_t *of_row = ct_memory_array(m->row_keys.count, sizeof(*of_row));
    for (uint32_t i = 0; i < gpu->count; i++) {
        spell_line(&name, &gpu->lines[i]);
        uint32_t lines = known.count, at = ct_key_table_text(&known, name.data);
        if (at == lines)
            line[at] = i;
    }
    for (uint32_t i = 0, lines = known.count; i < m->row_keys.count; i++) {
        spell_row(&name, m, &m->rows[i], o);
        uint32_t at = ct_key_table_text(&known, name.data);
        of_row[i] = at < lines ? line[at] : 0; /* a row without a line has no calls, and no stack */
    }
    ct_string_free(&name);
    ct_key_table_free(&known);
    free(line);
    return of_row;
}

json_t *ct_page_stacks(const struct ct_merged *m, const struct ct_view *gpu,
                       const struct ct_view_options *o)
{
    struct ct_calls c;
    json_t *to = NULL;
    ct_calls_of(&c, m, CT_VIEW_ALL_DEVICES);
    if (has_stacks(&c)) {
        uint32_t *operation = lines_of(m, gpu, o);
        to = tree_of(m, &c, operation);
        free(operation);
    }
    ct_calls_free(&c);
    return to;
}

/* ---- two profiles ---- */

static json_t *side_of(const struct ct_line_side *side, struct ct_key_table *keys, json_t *names,
                       bool demangle)
{
    const struct ct_merged *m = side->m;
    uint32_t *operation = ct_memory_array(m->row_keys.count, sizeof(*operation));
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        struct ct_string key = {0}, name = {0};
        ct_pairs_key(&key, m, &m->rows[i]);
        operation[i] = ct_key_table_add(keys, key.data, key.len);
        if (operation[i] == json_array_size(names)) {
            ct_name_row(&name, m, &m->rows[i].sum, demangle);
            json_t *named = ct_json_object();
            ct_json_text(named, "name", name.data);
            ct_json_append(names, named);
        }
        ct_string_free(&key);
        ct_string_free(&name);
    }
    json_t *to = tree_of(m, side->calls, operation);
    free(operation);
    return to;
}

/* By the older one's lines the number of the newer one's, from 1 on; 0: it has none. */
static json_t *pairs_of(const struct ct_line_side *before, const struct ct_line_side *after)
{
    uint32_t *pairs = ct_line_pairs(before, after);
    json_t *to = ct_json_array();
    for (uint32_t i = 0; i < before->m->stacks.line_keys.count; i++)
        ct_json_append_count(to, pairs[i] == CT_MERGE_NONE ? 0 : pairs[i] + (uint64_t)1);
    free(pairs);
    return to;
}

json_t *ct_page_stacks_compare(const struct ct_diff *d)
{
    struct ct_calls a, b;
    json_t *to = NULL;
    ct_calls_of(&a, &d->before, CT_VIEW_ALL_DEVICES);
    ct_calls_of(&b, &d->after, CT_VIEW_ALL_DEVICES);
    if (has_stacks(&a) && has_stacks(&b)) {
        struct ct_line_side before = {&d->before, &a}, after = {&d->after, &b};
        struct ct_key_table keys = {0};
        json_t *names = ct_json_array();
        to = ct_json_object();
        ct_json_set(to, "old", side_of(&before, &keys, names, !d->o->mangled));
        ct_json_set(to, "new", side_of(&after, &keys, names, !d->o->mangled));
        ct_json_set(to, "pairs", pairs_of(&before, &after));
        ct_json_add_short(names, "name", "short");
        ct_json_set(to, "operations", names);
        ct_key_table_free(&keys);
    }
    ct_calls_free(&a);
    ct_calls_free(&b);
    return to;
}
