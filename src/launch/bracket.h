/* SPDX-License-Identifier: MIT */
/*
 * The bracket around one operation: decided and opened before the real call, closed after it.
 * Everything here runs in the program's thread: it does not wait (but see calibration.h), allocate
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
    CT_BRACKET_OFF,  /* the call is no operation that counts */
    CT_BRACKET_KEPT, /* nor this one, but its stack is kept if it goes into a graph */
    CT_BRACKET_LOST, /* counted without a time, for a reason */
    CT_BRACKET_OPEN, /* start event recorded or spared */
};

struct ct_bracket {
    uint32_t state; /* enum ct_bracket_state */
    enum ct_loss loss;
    struct ct_thread *thread;
    struct ct_context *context; /* NULL: not known, the bracket is lost */
    struct ct_stream *stream;
    uint64_t opened;     /* the stream's count of opened brackets, this one included */
    uint64_t breaks;     /* the stream's count of breaks at the opening */
    uint32_t turns;      /* the context's count of turns, likewise */
    uint32_t captures;   /* ct_captures_now() before the stream was asked */
    uint64_t open_ticks; /* host ticks before the start record */
    uint32_t row;        /* CT_ROW_NONE: known after the call */
    uint32_t start_event;
    uint32_t stop_event;
    uint32_t flags;
    struct ct_choice choice;
    uint64_t begin_ticks; /* when it was opened; 0: its cost is not measured */
    bool found_idle;      /* the stream was asked whether it is idle, and was */
    bool is_polled;       /* the end is found by asking, not by a stamp */
    uint32_t pass_generation;
    int saved_errno;
};

/* Returns whether the caller is to take the host's ticks around the real call. */
bool ct_bracket_open(struct ct_bracket *b, const struct ct_work *w, struct ct_thread *t);

/* call_ticks, done_ticks: these ticks, if wanted; result: the return value of the real call. */
void ct_bracket_close(struct ct_bracket *b, const struct ct_work *w, CUresult result,
                      uint64_t call_ticks, uint64_t done_ticks);

#endif
