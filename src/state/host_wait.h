/* SPDX-License-Identifier: MIT */
/*
 * Waits of the program's threads: a thread's work in a stream or context is over when its call that
 * waits for that comes back. For operations whose end is not stamped (end_poll.h).
 */
#ifndef CT_HOST_WAIT_H
#define CT_HOST_WAIT_H

#include "base/base.h"
#include "cuda/api.h"
#include "state/thread.h"

struct ct_op;

/* A call that waited for a stream has come back. Does nothing while all ends are stamped. */
void ct_host_wait_stream(struct ct_thread *t, CUstream stream);
/* A call that waited for a context has come back; NULL: for the current one. Likewise. */
void ct_host_wait_context(struct ct_thread *t, CUcontext context);

/* Drain thread: ticks by when a thread's operation was over; UINT64_MAX: nobody knows. */
uint64_t ct_host_wait_ticks(const struct ct_thread *t, const struct ct_op *op);

#endif
