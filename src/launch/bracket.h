/* SPDX-License-Identifier: MIT */
/*
 * The bracket around one operation: decided and opened before the real call, closed after it.
 * Everything here runs in the program's thread: it does not wait (but see calibrate.h), allocate
 * from the host, print or hold a lock over a driver call, and it keeps errno.
 */
#ifndef CT_BRACKET_H
#define CT_BRACKET_H

#include "base/base.h"
#include "cuda/api.h"
#include "state/context.h"
#include "state/recording.h"
#include "state/sample.h"
#include "state/stream.h"
#include "state/thread.h"
#include "time/op.h"

/* A kind of work that has no rows in any table: a launch of witness.h. */
#define CT_WORK_WITNESS UINT32_MAX

/* What a wrapper knows of the operation from its arguments. */
struct ct_work {
    uint32_t kind;   /* enum ct_row_kind, CT_WORK_WITNESS; 0: not an operation after all */
    uint32_t detail; /* copies: enum ct_direction */
    bool programmatic;
    bool mixed;          /* one direction of a batch that has several */
    uint32_t op_flags;   /* CT_OP_WAITED_FOR, and the memories of a copy */
    CUfunction function; /* kernels */
    CUgraphExec graph;   /* graphs */
    CUstream stream;     /* never NULL */
    uint64_t bytes;
    uint64_t operations;   /* copies of a batch; otherwise 1 */
    struct ct_shape shape; /* kernels */
};

enum ct_bracket_state {
    CT_BRACKET_OFF,  /* not an operation that counts */
    CT_BRACKET_LOST, /* counted, with a reason */
    CT_BRACKET_OPEN, /* start event recorded or shared */
};

struct ct_bracket {
    uint32_t state; /* enum ct_bracket_state */
    enum ct_loss loss;
    struct ct_thread *thread;
    struct ct_context *context; /* NULL: unknown, of a lost one */
    struct ct_stream *stream;
    uint64_t opened;     /* the stream's count of opened brackets, this one included */
    uint64_t breaks;     /* the stream's count of breaks when this one was opened */
    uint32_t turns;      /* the context's, likewise */
    uint32_t captures;   /* ct_captures_now() before the stream was asked */
    uint64_t open_ticks; /* before the start record */
    uint32_t row;        /* CT_ROW_NONE: known after the call */
    uint32_t start_event;
    uint32_t stop_event;
    uint32_t flags;
    struct ct_choice choice;
    uint64_t begin_ticks; /* when it was opened; 0: what it costs is not measured */
    bool found_idle;      /* the stream was asked, for whatever reason, and was */
    bool is_polled;       /* its end is not to be stamped */
    uint32_t pass_generation;
    int saved_errno;
};

/* Whether the host's time around the real call is wanted. */
bool ct_bracket_open(struct ct_bracket *b, const struct ct_work *w, struct ct_thread *t);

/* call_ticks, done_ticks: that time, if it was wanted; result: what the call returned. */
void ct_bracket_close(struct ct_bracket *b, const struct ct_work *w, CUresult result,
                      uint64_t call_ticks, uint64_t done_ticks);

#endif
