/* SPDX-License-Identifier: MIT */
/*
 * Captures of streams, as they begin and spread. Most questions about a stream end the capture that
 * it is in; so whether it is in one is asked first, and none begins in between.
 */
#ifndef CT_CAPTURE_H
#define CT_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda/api.h"
#include "state/thread.h"

/* Occasions on which a stream can come into a capture: calls that were made, and that are over. */
struct ct_captures {
    _Atomic uint32_t begun, ended;
    _Atomic uint32_t open; /* captures that have begun, or may have, and are not known to be over */
};

extern struct ct_captures ct_captures;

/*
 * Whether a stream may be in a capture. A thread that launches into a capture knows that it has
 * begun, so it sees this as well.
 */
static inline bool ct_captures_are_open(void)
{
    return atomic_load_explicit(&ct_captures.open, memory_order_relaxed);
}

/* Taken before a stream is asked whether it captures: a later beginning is noticed. */
static inline uint32_t ct_captures_now(void)
{
    return atomic_load(&ct_captures.ended);
}

static inline bool ct_captures_since(uint32_t then)
{
    return ct_unlikely(atomic_load(&ct_captures.begun) != then);
}

/* Around a call of the program that begins a capture; `result` is the call's. */
void ct_capture_begins(void);
void ct_capture_begun(CUresult result);
/* After a call that ends a capture. */
void ct_capture_ended(CUresult result);
/* The program has an unwrapped function that begins captures: one may always be open. */
void ct_captures_unseen(void);
/* Around a call that may take a stream into a capture under way: a wait for an event. */
void ct_capture_spreads(struct ct_thread *t);
void ct_capture_spread(struct ct_thread *t);

/*
 * Behind a launch into a capture: the nodes that the next one will wait for, which it has become.
 * They are the driver's, until the stream's next call. 0: it does not say.
 */
size_t ct_capture_nodes(CUstream handle, const CUgraphNode **nodes);

/* True also when the driver does not say. */
bool ct_stream_is_capturing(CUstream handle);

/*
 * For a thread that is going to ask a stream something: true if the stream does not capture, and
 * then no capture begins until _leave. A thread that begins one waits for that: be quick.
 */
bool ct_capture_ask_enter(CUstream handle);
void ct_capture_ask_leave(void);

#endif
