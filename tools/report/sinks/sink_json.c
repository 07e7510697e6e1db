/* SPDX-License-Identifier: MIT */
/*
 * JSON: one object with facts on the files, and the relations, as doc/cutrace-report.schema.json
 * has it; or an object a line for each row. Rows are written as they come: only texts need a
 * library.
 */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>

#include "config.h"
#include "report/names.h"
#include "report/reports.h"
#include "report/sinks/data.h"

#define PAGE_FILES 4 /* are named on a page that is to be short */

struct json {
    struct ct_sink sink;
    FILE *out;
    struct ct_string text; /* not written yet */
    const struct ct_relation *relation;
    struct ct_string keys[CT_RELATION_COLUMNS]; /* quoted, with the separators around them */
    json_t *notes;
    bool lines;
    bool further_table;
    bool further_row;
};

static void check(const void *made)
{
    if (!made)
        ct_memory_fail();
}

/* Frees the value. */
static void put_value(struct ct_string *out, json_t *value)
{
    check(value);
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    check(text);
    ct_string_put(out, text);
    free(text);
    json_decref(value);
}

static json_t *name_of_file(const char *file)
{
    struct ct_string name = {0};
    ct_name_safe(&name, file);
    json_t *value = json_string(name.data);
    ct_string_free(&name);
    return value;
}

static void put_member(struct ct_string *out, const char *key, json_t *value)
{
    ct_string_printf(out, ",\n  \"%s\": ", key);
    put_value(out, value);
}

/* Sums that have reached the largest number stay positive. */
static json_t *integer(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *operations(const struct ct_merged *m)
{
    uint64_t timed = 0, lost = 0, captured = 0, failed = 0;
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        ct_merge_add_to(&timed, m->rows[i].sum.timed);
        ct_merge_add_to(&lost, ct_view_lost(&m->rows[i].sum));
        ct_merge_add_to(&captured, m->rows[i].sum.lost[CT_LOSS_CAPTURED]);
        ct_merge_add_to(&failed, m->rows[i].sum.errors);
    }
    return json_pack("{so so so so so}", "timed", integer(timed), "not_timed", integer(lost),
                     "captured", integer(captured), "failed", integer(failed), "while_off",
                     integer(m->off_operations));
}

static void put_metadata(struct ct_string *out, const struct ct_input *in)
{
    const struct ct_options *o = in->o;
    bool page = in->report == &ct_reports[CT_REPORT_EXPLAIN];
    int most = page ? PAGE_FILES : INT_MAX;
    json_t *files = json_array();
    check(files);
    for (int i = 0; i < o->file_count && i < most; i++)
        if (json_array_append_new(files, name_of_file(o->files[i])))
            ct_memory_fail();
    ct_string_put(out, "{\n  \"cutrace\": \"" PACKAGE_VERSION "\"");
    put_member(out, "report", json_string(in->report->name));
    put_member(out, "files", files);
    put_member(out, "brackets", json_boolean(o->raw));
    if (in->m) {
        put_member(out, "processes", integer(in->m->process_count));
        put_member(out, "unfinished", integer(in->m->unfinished));
        put_member(out, "fell_back", integer(in->m->fell_back));
        put_member(out, "operations", operations(in->m));
    }
    ct_string_put(out, ",\n  \"tables\": [");
}

static void free_keys(struct json *j)
{
    for (size_t i = 0; i < CT_RELATION_COLUMNS; i++)
        ct_string_free(&j->keys[i]);
}

static const char *type_of(enum ct_cell_type type)
{
    static const char *const names[] = {
        [CT_CELL_TEXT] = "text",         [CT_CELL_NAME] = "name",
        [CT_CELL_COUNT] = "count",       [CT_CELL_TIME_NS] = "duration, ns",
        [CT_CELL_STAMP_NS] = "time, ns", [CT_CELL_BYTES] = "bytes",
        [CT_CELL_RATE] = "bytes/s",      [CT_CELL_PERCENT] = "percent",
        [CT_CELL_NUMBER] = "number",     [CT_CELL_CHANGE_NS] = "difference of durations, ns",
    };
    return names[type];
}

static void begin(struct ct_sink *sink, const struct ct_relation *relation)
{
    struct json *j = (struct json *)sink;
    free_keys(j);
    j->relation = relation;
    j->further_row = false;
    for (size_t i = 0; i < relation->count; i++) {
        ct_string_put(&j->keys[i], i ? ", " : "");
        ct_data_quote(&j->keys[i], relation->columns[i].key);
        ct_string_put(&j->keys[i], ": ");
    }
    if (j->lines)
        return;
    ct_string_printf(&j->text, "%s\n    {\"name\": ", j->further_table ? "," : "");
    j->further_table = true;
    ct_data_quote(&j->text, relation->key);
    ct_string_put(&j->text, ", \"title\": ");
    ct_data_quote(&j->text, relation->title);
    ct_string_put(&j->text, ", \"columns\": [");
    for (size_t i = 0; i < relation->count; i++) {
        const struct ct_column *c = &relation->columns[i];
        ct_string_put(&j->text, i ? ",\n      " : "\n      ");
        put_value(&j->text, json_pack("{ss ss ss}", "key", c->key, "heading", c->heading, "type",
                                      type_of(c->type)));
    }
    ct_string_put(&j->text, "],\n     \"rows\": [");
    j->notes = json_array();
    check(j->notes);
}

static void put_cell(struct json *j, size_t i, const struct ct_cell *cell)
{
    const struct ct_column *column = &j->relation->columns[i];
    ct_string_add(&j->text, j->keys[i].data, j->keys[i].len);
    if (!cell->known)
        ct_string_put(&j->text, "null");
    else if (ct_cell_is_text(column->type))
        ct_data_quote(&j->text, cell->text);
    else if (!ct_cell_is_number(column->type) && cell->count > INT64_MAX)
        ct_string_printf(&j->text, "%lld", (long long)INT64_MAX); /* all that readers take */
    else
        ct_data_number(&j->text, column, cell);
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct json *j = (struct json *)sink;
    if (!j->lines)
        ct_string_put(&j->text, j->further_row ? ",\n      " : "\n      ");
    j->further_row = true;
    ct_string_put(&j->text, "{");
    for (size_t i = 0; i < j->relation->count; i++)
        put_cell(j, i, &cells[i]);
    ct_string_put(&j->text, j->lines ? "}\n" : "}");
    ct_string_write_much(&j->text, j->out);
}

static void note(struct ct_sink *sink, const char *text)
{
    struct json *j = (struct json *)sink;
    if (j->lines)
        ct_data_note(text);
    else if (json_array_append_new(j->notes, json_string(text)))
        ct_memory_fail();
}

static void end(struct ct_sink *sink)
{
    struct json *j = (struct json *)sink;
    if (!j->lines) {
        ct_string_put(&j->text, "],\n     \"notes\": ");
        put_value(&j->text, j->notes);
        ct_string_put(&j->text, "}");
    }
    ct_string_write(&j->text, j->out);
}

static void close_json(struct ct_sink *sink)
{
    struct json *j = (struct json *)sink;
    if (!j->lines)
        ct_string_put(&j->text, "\n  ]\n}\n");
    ct_string_write(&j->text, j->out);
    ct_string_free(&j->text);
    free_keys(j);
    free(j);
}

static struct json *open_json(FILE *out, bool lines)
{
    struct json *j = ct_memory_copy(&(struct json){.out = out, .lines = lines}, sizeof(*j));
    j->sink = (struct ct_sink){begin, row, note, end, close_json};
    return j;
}

struct ct_sink *ct_sink_json(FILE *out, const struct ct_look *look)
{
    struct json *j = open_json(out, false);
    put_metadata(&j->text, look->in);
    return &j->sink;
}

struct ct_sink *ct_sink_ndjson(FILE *out, const struct ct_look *look)
{
    (void)look;
    return &open_json(out, true)->sink;
}
