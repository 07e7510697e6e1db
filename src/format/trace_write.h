/* SPDX-License-Identifier: MIT */
/*
 * Encodes a trace (cutrace/trace.h) block by block, in bounded memory of its own and without a
 * file: the caller, the library's drain thread or a tool, writes the bytes that are ready.
 *
 * A caller that puts a record begins with ct_trace_begin(), which makes room for the record and all
 * it may have to define; then come definitions that are not in this segment yet, then the record.
 */
#ifndef CT_TRACE_WRITE_H
#define CT_TRACE_WRITE_H

#include "base/base.h"
#include "cutrace/trace.h"
#include "format/varint.h"

#define CT_TRACE_LEAST_BYTES ((uint64_t)4 << 20) /* the least bound of a file */
#define CT_TRACE_BATCH 4096                      /* records of a block */
#define CT_TRACE_DEFINITION_BYTES (288 * 1024)
#define CT_TRACE_TEXT_BYTES (64 * 1024) /* texts are cut at this length */
#define CT_TRACE_NAME_BYTES 1024        /* names given by programs are cut at this one */
#define CT_TRACE_SHAPES 16384           /* shapes remembered at a time */
#define CT_TRACE_OUT_BYTES (4 * 1024 * 1024)
#define CT_TRACE_OUT_PIECES 8

struct ct_trace_column {
    uint8_t *at; /* the next number */
    uint8_t bytes[CT_TRACE_BATCH * CT_VARINT_MOST];
};

/* One block of records under way. */
struct ct_trace_batch {
    uint64_t count;
    uint64_t operations; /* operations of the records: copies of a batch one by one */
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t before_ns;   /* the time from which the next record's is told */
    uint64_t correlation; /* likewise; for ranges the number */
};

/* Bytes that are ready to be written, and their places in the file. */
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
    uint32_t segment;              /* from 1: definitions of another segment do not hold */
    struct ct_trace_losses losses; /* the caller's, but for the members cut_* */

    struct ct_trace_process process;
    uint64_t segment_bytes; /* 0: no bound */
    uint64_t segment_end;
    uint64_t offset; /* the next block's, in the file */
    uint64_t number; /* the newest block's */
    struct ct_trace_held {
        uint64_t ops, calls, ranges, bytes;
    } held[2];                   /* by segment */
    struct ct_trace_losses told; /* the losses in their newest block */

    struct ct_trace_batch ops;
    struct ct_trace_batch calls;
    struct ct_trace_batch ranges;
    struct ct_trace_column op_column[CT_TRACE_OP_COLUMNS];
    struct ct_trace_column call_column[CT_TRACE_CALL_COLUMNS];
    struct ct_trace_column range_column[CT_TRACE_RANGE_COLUMNS];
    uint8_t *definition; /* the next one */
    uint8_t definitions[CT_TRACE_DEFINITION_BYTES];
    struct ct_trace_shape shapes[CT_TRACE_SHAPES]; /* id 0: a free slot */
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

/* False: there is no room until ct_trace_take() has taken the bytes that are ready. */
bool ct_trace_begin(struct ct_trace_writer *w);
void ct_trace_define_device(struct ct_trace_writer *w, const struct ct_trace_device *d);
void ct_trace_define_row(struct ct_trace_writer *w, const struct ct_trace_row *r);
void ct_trace_define_stream(struct ct_trace_writer *w, const struct ct_trace_stream *s);
void ct_trace_define_api(struct ct_trace_writer *w, const struct ct_trace_api *a);
void ct_trace_define_thread(struct ct_trace_writer *w, const struct ct_trace_thread *t);
void ct_trace_define_label(struct ct_trace_writer *w, const struct ct_trace_label *l);
void ct_trace_define_frame(struct ct_trace_writer *w, const struct ct_trace_frame *f);
/* The shape's number, defined if need be; s->id is not looked at. */
uint64_t ct_trace_define_shape(struct ct_trace_writer *w, const struct ct_trace_shape *s);
void ct_trace_put_op(struct ct_trace_writer *w, const struct ct_trace_op *op);
void ct_trace_put_call(struct ct_trace_writer *w, const struct ct_trace_call *c);
void ct_trace_put_range(struct ct_trace_writer *w, const struct ct_trace_range *r);

/* Makes all records ready that were put. False: no room, as for ct_trace_begin(). */
bool ct_trace_seal(struct ct_trace_writer *w);
/* Takes the bytes that are ready; they stay until the next call. NULL: there are none. */
const struct ct_trace_out *ct_trace_take(struct ct_trace_writer *w);

#endif
