/* SPDX-License-Identifier: MIT */
/* A database with the tables and columns of nsys's SQLite exports. */
#ifndef CT_REPORT_EXPORT_SQLITE_H
#define CT_REPORT_EXPORT_SQLITE_H

#include <sqlite3.h>

#include "report/exports/sqlite_rows.h"
#include "report/profile/key_table.h"
#include "report/trace/event_names.h"
#include "report/trace/open_ranges.h"

extern const char ct_sqlite_schema[];

/* Tables of events, as sqlite_rows.h has them. */
#define CT_SQLITE_TABLES(X)                                                                        \
    X(KERNEL,                                                                                      \
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,"         \
      " correlationId, globalPid, demangledName, shortName, mangledName,"                          \
      " registersPerThread, staticSharedMemory, gridX, gridY, gridZ, blockX, blockY,"              \
      " blockZ, dynamicSharedMemory)",                                                             \
      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                                 \
    X(COPY,                                                                                        \
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId,"         \
      " correlationId, globalPid, bytes, copyKind, copyCount, srcKind, dstKind,"                   \
      " migrationCause)",                                                                          \
      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                                                   \
    X(SET,                                                                                         \
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId,"         \
      " correlationId, globalPid, bytes, memKind)",                                                \
      "(?, ?, ?, ?, ?, ?, ?, ?, 2)")                                                               \
    X(GRAPH,                                                                                       \
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId,"              \
      " streamId, correlationId, globalPid, graphId, graphExecId)",                                \
      "(?, ?, ?, ?, ?, ?, ?, ?, ?)")                                                               \
    X(CALL, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME", "(?, ?, ?, ?, ?, ?, ?, NULL)")

enum ct_sqlite_table {
#define X(id, insert, values) CT_SQLITE_##id,
    CT_SQLITE_TABLES(X)
#undef X
        CT_SQLITE_TABLE_COUNT
};

/* Further statements that are prepared once. */
#define CT_SQLITE_STATEMENTS(X)                                                                    \
    X(STRING, "INSERT INTO StringIds VALUES (?, ?)")                                               \
    X(RANGE, "INSERT INTO NVTX_EVENTS (start, eventType, globalTid, domainId, category, color,"    \
             " text, textId) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")                                     \
    X(RANGE_END, "UPDATE NVTX_EVENTS SET end = ? WHERE rowid = ?")

enum ct_sqlite_statement {
#define X(id, sql) CT_SQLITE_##id,
    CT_SQLITE_STATEMENTS(X)
#undef X
        CT_SQLITE_STATEMENT_COUNT
};

/* Numbers in StringIds; 0: not there yet. */
struct ct_sqlite_name {
    uint32_t demangled;
    uint32_t plain; /* the function's own name: no namespace, arguments or template arguments */
    uint32_t mangled;
};

struct ct_sqlite_names {
    struct ct_sqlite_name *rows;
    size_t rows_size;
    uint32_t *apis;
    size_t apis_size;
};

struct ct_sqlite {
    sqlite3 *db;
    sqlite3_stmt *statements[CT_SQLITE_STATEMENT_COUNT];
    struct ct_sqlite_rows tables[CT_SQLITE_TABLE_COUNT];
    bool failed;
    char reason[128]; /* why it failed: the database knows only its last error */
    struct ct_timeline *tl;
    enum ct_naming naming;
    struct ct_key_table strings;
    struct ct_sqlite_names *names; /* by file */
    struct ct_open_ranges open;
    struct ct_key_table domains; /* of processes, and categories of these */
};

/* Takes the result of a call of the database; the first that is not good has failed the export. */
void ct_sqlite_check(struct ct_sqlite *s, bool good);

/* The number of a string, which is put there if it is new. */
uint32_t ct_sqlite_string(struct ct_sqlite *s, const char *text);

/* One row, by a statement of its own; arguments follow as the letters say: i int64_t, s text. */
void ct_sqlite_put(struct ct_sqlite *s, const char *sql, const char *types, ...);

/* The facts of a device, in the row of the GPU of that number. */
void ct_sqlite_gpu(struct ct_sqlite *s, int64_t gpu, const struct ct_trace_device *d);

/* "Serialized GlobalId": host, or whose trace it is, as equal pids may be; process; thread. */
int64_t ct_sqlite_global(const struct ct_timeline_file *f, uint32_t tid);

void ct_sqlite_range(struct ct_sqlite *s, const struct ct_event *e);
void ct_sqlite_event(struct ct_sqlite *s, const struct ct_event *e);
/* Facts that are known when all events have been seen: processes, threads, devices, losses. */
void ct_sqlite_facts(struct ct_sqlite *s);

#endif
