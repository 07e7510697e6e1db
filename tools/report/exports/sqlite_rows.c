/* SPDX-License-Identifier: MIT */
#include "report/exports/sqlite_rows.h"

#include "report/host_memory.h"

static bool prepare(sqlite3_stmt **statement, sqlite3 *db, const char *insert, const char *values,
                    int rows)
{
    struct ct_string sql = {0};
    ct_string_put(&sql, insert);
    for (int i = 0; i < rows; i++) {
        ct_string_put(&sql, i ? ", " : " VALUES ");
        ct_string_put(&sql, values);
    }
    bool good = !sqlite3_prepare_v2(db, sql.data, -1, statement, NULL);
    ct_string_free(&sql);
    return good;
}

bool ct_sqlite_rows_open(struct ct_sqlite_rows *r, sqlite3 *db, const char *insert,
                         const char *values)
{
    if (!prepare(&r->one, db, insert, values, 1) ||
        !prepare(&r->many, db, insert, values, CT_SQLITE_ROWS))
        return false;
    r->columns = sqlite3_bind_parameter_count(r->one);
    return true;
}

static void bind(sqlite3_stmt *statement, int parameter, const struct ct_sqlite_row *row,
                 int column)
{
    if (row->nulls >> column & 1)
        sqlite3_bind_null(statement, parameter);
    else
        sqlite3_bind_int64(statement, parameter, row->values[column]);
}

static bool is_same(const struct ct_sqlite_row *a, const struct ct_sqlite_row *b, int column)
{
    return a->values[column] == b->values[column] && !((a->nulls ^ b->nulls) >> column & 1);
}

static bool step(sqlite3_stmt *statement)
{
    bool good = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return good;
}

/* Values stay bound from one time to the next. */
bool ct_sqlite_rows_put(struct ct_sqlite_rows *r)
{
    if (r->count < CT_SQLITE_ROWS)
        return true;
    for (int i = 0; i < CT_SQLITE_ROWS; i++)
        for (int c = 0; c < r->columns; c++)
            if (!r->is_bound || !is_same(&r->rows[i], &r->bound[i], c))
                bind(r->many, i * r->columns + c + 1, &r->rows[i], c);
    memcpy(r->bound, r->rows, sizeof(r->bound));
    r->is_bound = true;
    r->count = 0;
    return step(r->many);
}

bool ct_sqlite_rows_finish(struct ct_sqlite_rows *r)
{
    bool good = true;
    for (int i = 0; good && i < r->count; i++) {
        for (int c = 0; c < r->columns; c++)
            bind(r->one, c + 1, &r->rows[i], c);
        good = step(r->one);
    }
    r->count = 0;
    return good;
}

void ct_sqlite_rows_close(struct ct_sqlite_rows *r)
{
    sqlite3_finalize(r->one);
    sqlite3_finalize(r->many);
}
