/* SPDX-License-Identifier: MIT */
/*
 * Waits of the program's threads: what a thread had submitted to a stream or context is over when
 * its call that waits for that comes back. For operations whose end is not stamped (polled.h).
 */
#ifndef CT_WAITED_H
#define CT_WAITED_H

#include <stdatomic.h>

#include "base/base.h"
#include "cuda/api.h"

struct ct_op;
struct ct_thread;

/* The newest waits of a thread, in host ticks; 0: there was none. Written by it alone. */
struct ct_waited {
    _Atomic uint64_t stream_ticks;
    _Atomic uint32_t stream; /* index; the ticks are 0 while it changes */
    _Atomic uint32_t context;
    _Atomic uint64_t context_ticks;
};

/* A call has come back that waited for a stream, as the driver understands it, */
void ct_waited_for_stream(struct ct_thread *t, CUstream stream);
/* or for a context; NULL: the current one. Neither does anything while all ends are stamped. */
void ct_waited_for_context(struct ct_thread *t, CUcontext context);

/* Drain thread: by when an operation that the thread submitted was over; UINT64_MAX: nobody knows. */
uint64_t ct_waited_ticks(const struct ct_thread *t, const struct ct_op *op);

#endif
