/* SPDX-License-Identifier: MIT */
/* NVTX_EVENTS: a row where a range begins, which gets its end when that comes. A trace does
 * not tell registered strings from others: each text is there in both of nsys's ways. */
#include "report/exports/export_sqlite.h"
#include "report/names.h"

/* ENUM_NSYS_EVENT_TYPE */
enum type { CATEGORY = 33, MARK = 34, PUSH_POP = 59, START_END = 60, DOMAIN = 75 };

/* NULL: 0, which is none. */
static void bind(sqlite3_stmt *row, int at, int64_t value)
{
    if (value)
        sqlite3_bind_int64(row, at, value);
    else
        sqlite3_bind_null(row, at);
}

static void put(struct ct_sqlite *s, const struct ct_event *e, enum type type, int64_t domain,
                int64_t category, int64_t color, const char *text)
{
    sqlite3_stmt *row = s->statements[CT_SQLITE_RANGE];
    struct ct_string safe = {0};
    ct_name_safe(&safe, text);
    sqlite3_bind_int64(row, 1, (int64_t)e->start_ns);
    sqlite3_bind_int64(row, 2, type);
    sqlite3_bind_int64(row, 3,
                       ct_sqlite_global(e->file, e->file->t->threads.at[e->range.thread].tid));
    sqlite3_bind_int64(row, 4, domain);
    bind(row, 5, category);
    bind(row, 6, color);
    sqlite3_bind_text(row, 7, safe.data, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(row, 8, ct_sqlite_string(s, safe.data));
    ct_sqlite_check(s, sqlite3_step(row) == SQLITE_DONE);
    sqlite3_reset(row);
    ct_string_free(&safe);
}

/* The number of a process's domain, or of a category's name in it; *is_new: it is the first. */
static int64_t number_of(struct ct_sqlite *s, const struct ct_event *e, const char *domain,
                         uint32_t category, bool *is_new)
{
    struct ct_string key = {0};
    uint32_t count = s->domains.count;
    ct_string_printf(&key, "%u %u %s", e->file->index, category, domain);
    uint32_t number = ct_key_table_text(&s->domains, key.data);
    ct_string_free(&key);
    *is_new = number == count;
    return number + 1;
}

/* The default domain is 0; the others, and categories that have names, have rows that say so. */
static int64_t domain_of(struct ct_sqlite *s, const struct ct_event *e,
                         const struct ct_trace_label *l)
{
    bool is_new;
    int64_t domain = *l->domain ? number_of(s, e, l->domain, 0, &is_new) : 0;
    if (domain && is_new)
        put(s, e, DOMAIN, domain, 0, 0, l->domain);
    if (!l->category || !*l->category_name)
        return domain;
    number_of(s, e, l->domain, l->category, &is_new);
    if (is_new)
        put(s, e, CATEGORY, domain, l->category, 0, l->category_name);
    return domain;
}

static void put_begin(struct ct_sqlite *s, const struct ct_event *e)
{
    const struct ct_trace_label *l = &e->file->t->labels.at[e->range.label];
    int64_t domain = domain_of(s, e, l);
    enum type type = e->range.phase == CT_TRACE_RANGE_MARKS ? MARK
                     : e->range.number                      ? START_END
                                                            : PUSH_POP;
    put(s, e, type, domain, l->category, l->color, l->name);
}

static void put_end(struct ct_sqlite *s, const struct ct_event *e, int64_t row)
{
    sqlite3_stmt *end = s->statements[CT_SQLITE_RANGE_END];
    sqlite3_bind_int64(end, 1, (int64_t)e->start_ns);
    sqlite3_bind_int64(end, 2, row);
    ct_sqlite_check(s, sqlite3_step(end) == SQLITE_DONE);
    sqlite3_reset(end);
}

void ct_sqlite_range(struct ct_sqlite *s, const struct ct_event *e)
{
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    if (e->range.phase == CT_TRACE_RANGE_ENDS) {
        size_t count = ct_open_ranges_end(&s->open, e, over);
        for (size_t i = 0; i < count; i++)
            put_end(s, e, over[i].own);
        return;
    }
    put_begin(s, e);
    if (e->range.phase == CT_TRACE_RANGE_BEGINS)
        ct_open_ranges_begin(&s->open, e)->own = sqlite3_last_insert_rowid(s->db);
}
