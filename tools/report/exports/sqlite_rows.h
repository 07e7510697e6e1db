/* SPDX-License-Identifier: MIT */
/*
 * Rows of integers on their way into a table, many in a statement: most of the cost of a row alone
 * is to begin and end its statement, and to bind again values that the row before had as well.
 */
#ifndef CT_REPORT_SQLITE_ROWS_H
#define CT_REPORT_SQLITE_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define CT_SQLITE_ROWS 32        /* in a statement: more make it no faster */
#define CT_SQLITE_ROW_COLUMNS 19 /* at most: older libraries take 999 values in a statement */

struct ct_sqlite_row {
    int count; /* of the values that are there */
    uint32_t nulls;
    int64_t values[CT_SQLITE_ROW_COLUMNS];
};

struct ct_sqlite_rows {
    sqlite3_stmt *one;
    sqlite3_stmt *many;
    int columns;
    int count; /* of rows that wait */
    bool is_bound;
    struct ct_sqlite_row rows[CT_SQLITE_ROWS];
    struct ct_sqlite_row bound[CT_SQLITE_ROWS]; /* to `many` */
};

/* "INSERT INTO table (columns)", "(?, ?)"; false: the database says why. */
bool ct_sqlite_rows_open(struct ct_sqlite_rows *r, sqlite3 *db, const char *insert,
                         const char *values);

/* The next row, without values. */
static inline struct ct_sqlite_row *ct_sqlite_rows_next(struct ct_sqlite_rows *r)
{
    struct ct_sqlite_row *row = &r->rows[r->count++];
    row->count = 0;
    row->nulls = 0;
    return row;
}

static inline void ct_sqlite_row_add(struct ct_sqlite_row *row, uint64_t value)
{
    row->values[row->count++] = (int64_t)value;
}

static inline void ct_sqlite_row_add_null(struct ct_sqlite_row *row)
{
    row->nulls |= 1u << row->count;
    row->values[row->count++] = 0;
}

/* When as many wait as a statement has, and in the end whatever waits. */
bool ct_sqlite_rows_put(struct ct_sqlite_rows *r);
bool ct_sqlite_rows_finish(struct ct_sqlite_rows *r);

void ct_sqlite_rows_close(struct ct_sqlite_rows *r);

#endif
