/* SPDX-License-Identifier: MIT */
/*
 * The bracket around one operation: decided and opened before the real call, closed after it.
 * Everything here runs in the program's thread: it does not wait (but see calibrate.h), allocate
 * from the host, print or hold a lock over a driver call, and it keeps errno.
 */
#ifndef CT_BRACKET_H
#define CT_BRACKET_H

#include "base/base.h"
#include "counts/sample.h"
#include "cuda/api.h"
#include "state/context.h"
#include "state/recording.h"
#include "state/stream.h"
#include "state/thread.h"
#include "time/op.h"
#include "work/work.h"

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
