/* SPDX-License-Identifier: MIT */
/*
 * Encodes a trace (cutrace/trace.h) block by block, in bounded memory of its own and without a
 * file: whoever has one writes what is ready. For the library's drain thread and for tools.
 *
 * Who puts a record begins with ct_trace_begin(), which makes room for it and all it may have to
 * define; then come definitions that are not in this segment yet, then the record.
 */
#ifndef CT_TRACE_WRITE_H
#define CT_TRACE_WRITE_H

#include "base/base.h"
#include "cutrace/trace.h"
#include "format/varint.h"

#define CT_TRACE_LEAST_BYTES ((uint64_t)4 << 20) /* of a bound */
#define CT_TRACE_BATCH 4096                      /* records of a block */
#define CT_TRACE_DEFINITION_BYTES (288 * 1024)
#define CT_TRACE_TEXT_BYTES (64 * 1024) /* texts are cut there */
#define CT_TRACE_NAME_BYTES 1024        /* and what programs call things there */
#define CT_TRACE_SHAPES 16384           /* remembered at a time */
#define CT_TRACE_OUT_BYTES (4 * 1024 * 1024)
#define CT_TRACE_OUT_PIECES 8

struct ct_trace_column {
    uint8_t *at; /* the next number */
    uint8_t bytes[CT_TRACE_BATCH * CT_VARINT_MOST];
};

/* One block of records under way. */
struct ct_trace_batch {
    uint64_t count;
    uint64_t operations; /* of its records: copies of a batch one by one */
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t before_ns; /* what the next record's time is told from */
    uint64_t correlation; /* likewise; of ranges the number */
};

/* What is ready to be written, and where. */
struct ct_trace_out {
    unsigned count;
    struct {
        uint64_t offset;
        const void *data;
        size_t bytes;
    } piece[CT_TRACE_OUT_PIECES];
    size_t bytes;
    uint8_t data[CT_TRACE_OUT_BYTES];
};

/* All zero before ct_trace_start(); pages that are not needed are never touched. */
struct ct_trace_writer {
    uint32_t segment; /* from 1: what was defined in another one has to be defined again */
    struct ct_trace_losses losses; /* the caller's, but for what is cut */

    struct ct_trace_process process;
    uint64_t segment_bytes; /* 0: no bound */
    uint64_t segment_end;
    uint64_t offset; /* of the next block in the file */
    uint64_t number; /* of the newest block */
    struct ct_trace_held {
        uint64_t ops, calls, ranges, bytes;
    } held[2];                   /* by segment */
    struct ct_trace_losses told; /* as in the newest block of them */

    struct ct_trace_batch ops;
    struct ct_trace_batch calls;
    struct ct_trace_batch ranges;
    struct ct_trace_column op_column[CT_TRACE_OP_COLUMNS];
    struct ct_trace_column call_column[CT_TRACE_CALL_COLUMNS];
    struct ct_trace_column range_column[CT_TRACE_RANGE_COLUMNS];
    uint8_t *definition; /* the next one */
    uint8_t definitions[CT_TRACE_DEFINITION_BYTES];
    struct ct_trace_shape shapes[CT_TRACE_SHAPES]; /* id 0: none there */
    uint64_t shapes_defined;
    unsigned shapes_kept;

    uint64_t lz4[2052];
    uint8_t block[CT_TRACE_BLOCK_MOST];
    struct ct_trace_out *filling;
    struct ct_trace_out out[2];
};

/* most_bytes: bound of the file, at least CT_TRACE_LEAST_BYTES; 0: none. The texts have to stay. */
void ct_trace_start(struct ct_trace_writer *w, const struct ct_trace_process *p,
                    uint64_t most_bytes);
struct ct_trace_header ct_trace_header(const struct ct_trace_writer *w);

/* False: there is no room until what is ready has been taken away. */
bool ct_trace_begin(struct ct_trace_writer *w);
void ct_trace_define_device(struct ct_trace_writer *w, const struct ct_trace_device *d);
void ct_trace_define_row(struct ct_trace_writer *w, const struct ct_trace_row *r);
void ct_trace_define_stream(struct ct_trace_writer *w, const struct ct_trace_stream *s);
void ct_trace_define_api(struct ct_trace_writer *w, const struct ct_trace_api *a);
void ct_trace_define_thread(struct ct_trace_writer *w, const struct ct_trace_thread *t);
void ct_trace_define_label(struct ct_trace_writer *w, const struct ct_trace_label *l);
/* Its number, defined if need be; the structure's own is not looked at. */
uint64_t ct_trace_define_shape(struct ct_trace_writer *w, const struct ct_trace_shape *s);
void ct_trace_put_op(struct ct_trace_writer *w, const struct ct_trace_op *op);
void ct_trace_put_call(struct ct_trace_writer *w, const struct ct_trace_call *c);
void ct_trace_put_range(struct ct_trace_writer *w, const struct ct_trace_range *r);

/* Makes all ready that was put. False: as ct_trace_begin(). */
bool ct_trace_seal(struct ct_trace_writer *w);
/* Takes what is ready; it stays as it is until the next call. NULL: nothing is. */
const struct ct_trace_out *ct_trace_take(struct ct_trace_writer *w);

#endif
