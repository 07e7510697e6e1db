/* SPDX-License-Identifier: MIT */
/*
 * A write can raise SIGPIPE or SIGXFSZ in the thread that makes it. A write of ours in a program's
 * thread must not: the program may not survive the signal, or take it for the end of its own file.
 */
#ifndef CT_SIGNAL_GUARD_H
#define CT_SIGNAL_GUARD_H

#include <signal.h>

#include "base/base.h"

struct ct_signal_guard {
    sigset_t mask; /* the thread's, before */
    sigset_t ours; /* signals that only our write can have raised */
    bool is_on;    /* the library may become spare in between */
};

void ct_signal_guard_begin(struct ct_signal_guard *h);
void ct_signal_guard_end(const struct ct_signal_guard *h); /* keeps errno */

#endif
