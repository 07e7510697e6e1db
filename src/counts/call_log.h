/* SPDX-License-Identifier: MIT */
/*
 * The calls of a thread one by one, on their way into the trace: written by the thread, read by the
 * drain thread. A call that finds no room is counted.
 */
#ifndef CT_CALL_LOG_H
#define CT_CALL_LOG_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/ring.h"

#define CT_LOGGED_CALLS 8192

struct ct_logged_call {
    uint64_t call_ticks;
    uint64_t done_ticks;
    uint64_t correlation;
    uint32_t api;
    int32_t result;
};

struct ct_call_log {
    uint64_t correlation_end; /* numbers below this one are the thread's alone */
    uint32_t id; /* thread's number in the trace, from 1: its state may become another thread's */
    uint32_t tid;
    char name[16];
    _Atomic uint64_t dropped;
    uint64_t dropped_taken; /* part of `dropped` that is told; drain thread's, as the next three */
    uint32_t defined_in;    /* segment of the trace that knows the thread's name */
    uint32_t namings;       /* ct_range_namings() when given_name was looked up */
    const char *given_name; /* name that NVTX gave the thread; NULL: none */
    struct ct_ring ring;
    struct ct_logged_call call[CT_LOGGED_CALLS];
};

/* Whether there is a trace: set before the first call. */
extern atomic_bool ct_call_log_is_on;

struct ct_thread;

/* A thread makes its first call. Without memory its calls are not in the trace, which is noted. */
CT_COLD void ct_call_log_start(struct ct_thread *t);
/* A call is done. Its number has been given to the operations that it submitted. */
CT_COLD void ct_call_log_add(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                             uint64_t done_ticks, int32_t result);
/* The trace is given up: calls cost no more than without one from now on. */
void ct_call_log_stop(void);
#endif
