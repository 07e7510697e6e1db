/* SPDX-License-Identifier: MIT */
#include "report/exports/export_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "report/file_error.h"
#include "report/files/atomic_replace.h"
#include "report/reports.h"
#include "report/trace/trace_options.h"
#include "system/parent.h"

/* ---- the file ---- */

static bool open_tables(struct ct_sqlite *s)
{
    static const char *const sql[][2] = {
#define X(id, insert, values) {insert, values},
        CT_SQLITE_TABLES(X)
#undef X
    };
    for (int i = 0; i < CT_SQLITE_TABLE_COUNT; i++)
        if (!ct_sqlite_rows_open(&s->tables[i], s->db, sql[i][0], sql[i][1]))
            return false;
    return true;
}

/* Closes it. SQLite opens a file by its name alone, and a link of that name as well. */
static bool is_still(const char *path, int made)
{
    struct stat st, now;
    bool same = !fstat(made, &st) && !lstat(path, &now) && st.st_dev == now.st_dev &&
                st.st_ino == now.st_ino;
    close(made);
    return same;
}

/* A database that only we have open, and that is thrown away when it is not finished. */
static bool open_database(struct ct_sqlite *s, const char *path)
{
    static const char settings[] = "PRAGMA page_size = 32768; PRAGMA journal_mode = OFF;"
                                   "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                                   "PRAGMA cache_size = -65536; BEGIN";
    static const char *const sql[] = {
#define X(id, sql) sql,
        CT_SQLITE_STATEMENTS(X)
#undef X
    };
    int made = ct_parent_open_file(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (made < 0 || sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE, NULL) ||
        !is_still(path, made) || sqlite3_exec(s->db, settings, NULL, NULL, NULL) ||
        sqlite3_exec(s->db, ct_sqlite_schema, NULL, NULL, NULL))
        return false;
    for (int i = 0; i < CT_SQLITE_STATEMENT_COUNT; i++)
        if (sqlite3_prepare_v2(s->db, sql[i], -1, &s->statements[i], NULL))
            return false;
    return open_tables(s);
}

static void close_database(struct ct_sqlite *s)
{
    for (int i = 0; i < CT_SQLITE_STATEMENT_COUNT; i++)
        sqlite3_finalize(s->statements[i]);
    for (int i = 0; i < CT_SQLITE_TABLE_COUNT; i++)
        ct_sqlite_rows_close(&s->tables[i]);
    sqlite3_close(s->db);
}

/* An export of ours, which a new one may replace; so may an empty file. */
static bool is_ours(const char *path)
{
    struct stat st;
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    if (stat(path, &st))
        return errno == ENOENT;
    if (!S_ISREG(st.st_mode))
        return false;
    bool ours = !st.st_size || (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) &&
                                !sqlite3_prepare_v2(db,
                                                    "SELECT 1 FROM META_DATA_EXPORT WHERE name = "
                                                    "'EXPORT_PRODUCT_NAME' AND value = 'cutrace'",
                                                    -1, &q, NULL) &&
                                sqlite3_step(q) == SQLITE_ROW);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return ours;
}

/* ---- strings and rows ---- */

void ct_sqlite_check(struct ct_sqlite *s, bool good)
{
    if (good || s->failed)
        return;
    s->failed = true;
    snprintf(s->reason, sizeof(s->reason), "%s", s->db ? sqlite3_errmsg(s->db) : "no memory");
}

uint32_t ct_sqlite_string(struct ct_sqlite *s, const char *text)
{
    uint32_t count = s->strings.count, number = ct_key_table_text(&s->strings, text);
    if (number == count) {
        sqlite3_stmt *string = s->statements[CT_SQLITE_STRING];
        sqlite3_bind_int64(string, 1, number + 1);
        sqlite3_bind_text(string, 2, text, -1, SQLITE_TRANSIENT);
        ct_sqlite_check(s, sqlite3_step(string) == SQLITE_DONE);
        sqlite3_reset(string);
    }
    return number + 1;
}

void ct_sqlite_put(struct ct_sqlite *s, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    ct_sqlite_check(s, !sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL));
    if (!statement)
        return;
    va_start(values, types);
    for (int i = 0; types[i]; i++) {
        if (types[i] == 'i')
            sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
        else
            sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
    }
    va_end(values);
    ct_sqlite_check(s, sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_finalize(statement);
}

/* Scripts take process and thread out of the lowest 48 bits, 24 each. */
int64_t ct_sqlite_global(const struct ct_timeline_file *f, uint32_t tid)
{
    return (int64_t)(f->index + 1) << 48 | (int64_t)(f->t->process.pid & 0xffffff) << 24 |
           (tid & 0xffffff);
}

static void fill(struct ct_sqlite *s)
{
    const struct ct_event *e;
    while (!s->failed && ct_timeline_next(s->tl, &e))
        ct_sqlite_event(s, e);
    for (int i = 0; !s->failed && i < CT_SQLITE_TABLE_COUNT; i++)
        ct_sqlite_check(s, ct_sqlite_rows_finish(&s->tables[i]));
    if (!s->failed)
        ct_sqlite_facts(s);
    if (!s->failed)
        ct_sqlite_check(s, !sqlite3_exec(s->db,
                                         "CREATE INDEX runtime_by_correlation"
                                         " ON CUPTI_ACTIVITY_KIND_RUNTIME (correlationId); COMMIT",
                                         NULL, NULL, NULL));
}

/* ---- all of it ---- */

/* The database appears under its name when it is whole. */
static bool export(struct ct_sqlite *s, const char *path)
{
    ct_sqlite_check(s, open_database(s, ct_partial_begin(path)));
    if (!s->failed)
        fill(s);
    close_database(s);
    if (s->failed)
        ct_partial_drop();
    else if (ct_partial_keep(path))
        return true;
    struct ct_string reason = {0};
    ct_string_printf(&reason, "cannot be written: %s", s->failed ? s->reason : strerror(errno));
    ct_file_error(path, reason.data);
    ct_string_free(&reason);
    return false;
}

static void free_names(struct ct_sqlite *s)
{
    for (uint32_t i = 0; i < s->tl->file_count; i++) {
        free(s->names[i].rows);
        free(s->names[i].apis);
    }
    free(s->names);
    ct_key_table_free(&s->strings);
    ct_key_table_free(&s->domains);
    ct_open_ranges_free(&s->open);
}

int ct_export_sqlite(const struct ct_input *in, FILE *out)
{
    const struct ct_options *o = in->o;
    struct ct_timeline tl;
    struct ct_sqlite s = {.tl = &tl, .naming = ct_report_naming(o)};
    (void)out;
    /*
     * SQLite is used by one thread, and nobody asks for its memory statistics: locks cost 15 % of
     * the time.
     */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (!o->force && !is_ours(o->log_file)) {
        ct_file_error(o->log_file, "is there and not an export of cutrace (see --force-overwrite)");
        return EXIT_FAILURE;
    }
    struct ct_timeline_options all = ct_trace_all(o);
    ct_timeline_open(&tl, o->files, o->file_count, &all);
    s.names = ct_memory_array(tl.file_count, sizeof(*s.names));
    bool good = tl.file_count && export(&s, o->log_file);
    bool whole = !tl.failed;
    free_names(&s);
    ct_timeline_close(&tl);
    return good && whole ? EXIT_SUCCESS : EXIT_FAILURE;
}
