/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace (cutrace/trace.h) record by record, in the order of the file, in memory for one
 * block and the tables. A record's elements are in the tables when it comes: they grow as the
 * file is read, and their texts stay where they are. Nothing in the file is trusted. Not for the
 * traced process: it uses malloc.
 *
 *     struct ct_trace_reader *t;
 *     struct ct_read_error error;
 *     struct ct_trace_record r;
 *     int rc = ct_trace_open(&t, path, &error);
 *     while (!rc && (rc = ct_trace_next(t, &r, &error)) > 0)
 *         if (r.op)
 *             printf("%s\n", t->rows.at[r.op->row].name);
 *     ct_trace_close(t);
 *
 * Operations of a stream come in the order in which they ran, calls of a thread in that in which
 * they were made, and so do ends of ranges; one stream's among another's only roughly so.
 */
#ifndef CT_TRACE_READ_H
#define CT_TRACE_READ_H

#include "base/base.h"
#include "cutrace/trace.h"
#include "format/read.h"

/* Tables: definition in the file, member below, element. `at` moves when a table grows. */
#define CT_TRACE_TABLES(X)                                                                         \
    X(DEVICE, devices, struct ct_trace_device)                                                     \
    X(ROW, rows, struct ct_trace_row)                                                              \
    X(STREAM, streams, struct ct_trace_stream)                                                     \
    X(SHAPE, shapes, struct ct_trace_shape)                                                        \
    X(API, apis, struct ct_trace_api)                                                              \
    X(THREAD, threads, struct ct_trace_thread)                                                     \
    X(LABEL, labels, struct ct_trace_label)                                                        \
    X(FRAME, frames, struct ct_trace_frame)

enum ct_trace_table {
#define X(id, member, type) CT_TRACE_TABLE_##id,
    CT_TRACE_TABLES(X)
#undef X
        CT_TRACE_TABLE_COUNT
};

/* The driver's answers about a device; false: there are none. */
static inline bool ct_trace_says(const struct ct_trace_device *d, enum ct_trace_attribute which,
                                 uint32_t *value)
{
    *value = d->attribute[which] - 1;
    return d->attribute[which] != 0;
}

/* Bytes a second, two words of the bus at each beat of its clock; 0: unknown. */
static inline uint64_t ct_trace_memory_rate(const struct ct_trace_device *d)
{
    uint32_t khz, bits;
    if (!ct_trace_says(d, CT_TRACE_MEMORY_CLOCK_RATE, &khz) ||
        !ct_trace_says(d, CT_TRACE_GLOBAL_MEMORY_BUS_WIDTH, &bits))
        return 0;
    return (uint64_t)khz * 1000 * 2 * (bits / 8);
}

/* The reader's state up to the record that came last. */
struct ct_trace_reader {
    struct ct_trace_process process;
    /* Devices of rows and streams are indices, too. shapes.at[0] and frames.at[0] are for records
     * without one. */
#define X(id, member, type)                                                                        \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t count;                                                                            \
    } member;
    CT_TRACE_TABLES(X)
#undef X
    struct ct_trace_losses losses; /* `finished` 0 at the end: killed, cut, or still running */
    bool has_records;              /* so far a block of them was there, wanted or not */
    bool truncated;                /* at the end: there is a part of one more block */
    uint64_t file_bytes;
    uint64_t read_bytes; /* so far */

    /* Blocks that are wholly outside are skipped; 0 and UINT64_MAX at first: none is. */
    uint64_t since_ns;
    uint64_t until_ns;
    bool all_ranges; /* but blocks of ranges are not: a range may be in two */
};

/* One member is set; valid until the next call. */
struct ct_trace_record {
    const struct ct_trace_op *op;
    const struct ct_trace_call *call;
    const struct ct_trace_range *range;
};

/*
 * 0, or -errno with error->text, the end of a sentence that starts with the file's name; *t is NULL
 * then. The process is known from here on.
 */
int ct_trace_open(struct ct_trace_reader **t, const char *path, struct ct_read_error *error);
/* Reads an open file, whatever its offset, which stays open; returns as ct_trace_open(). */
int ct_trace_open_at(struct ct_trace_reader **t, int fd, struct ct_read_error *error);
/* Whether the file begins as a trace does. */
bool ct_trace_is_one(int fd);
bool ct_trace_is_file(const char *path);

/*
 * 1: a record; 0: there are no more; -errno with error->text. A file that ends early is no error:
 * all whole blocks are there, and ct_trace_ending() says it.
 */
int ct_trace_next(struct ct_trace_reader *t, struct ct_trace_record *r,
                  struct ct_read_error *error);

/* After the last record: NULL, or why the file ends before the process did, as error->text. */
const char *ct_trace_ending(const struct ct_trace_reader *t);

void ct_trace_close(struct ct_trace_reader *t);

#endif
