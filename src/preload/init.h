/* SPDX-License-Identifier: MIT */
/* The library's life in a process. */
#ifndef CT_INIT_H
#define CT_INIT_H

#include <stdatomic.h>

#include "base/base.h"

enum ct_state {
    CT_NEW,    /* no CUDA call has been seen */
    CT_ARMING, /* a thread is preparing */
    CT_ON,
    CT_OFF, /* could not prepare, or the process ends: everything passes through */
};

extern _Atomic uint32_t ct_state;

static inline bool ct_is_on(void)
{
    return atomic_load_explicit(&ct_state, memory_order_acquire) == CT_ON;
}

/*
 * Prepares at the first CUDA call, or waits until another thread has; false: not on, pass the call
 * through.
 */
bool ct_arm(void);

/* There is no memory: from here on everything passes through. */
void ct_give_up_recording(void);

/*
 * cuInit has succeeded: the drain thread starts, and the exit handler is registered, late enough
 * to run before the driver's own.
 */
void ct_cuda_started(void);
/* By any thread, when cuInit has failed with that result: whoever waits is told once. */
void ct_cuda_refused(unsigned result);

/*
 * The process is about to end without exit handlers: within 100 ms, whatever the GPU does, all that
 * was recorded is in the files, and unfinished work of the GPU is counted as such. A disk may take
 * a second. Nothing is printed. Any thread, also in a signal handler, and in any child.
 */
void ct_end_at_once(void);

/*
 * The process may be about to become another program: writes complete data, within 100 ms at most.
 */
void ct_flush_before_exec(void);

#endif
