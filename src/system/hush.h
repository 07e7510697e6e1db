/* SPDX-License-Identifier: MIT */
/*
 * A write can raise SIGPIPE or SIGXFSZ in the thread that makes it. A write of ours in a program's
 * thread must not: the program may not survive the signal, or take it for the end of its own file.
 */
#ifndef CT_HUSH_H
#define CT_HUSH_H

#include <signal.h>

#include "base/base.h"

struct ct_hush {
    sigset_t mask; /* the thread's, before */
    sigset_t ours; /* signals that only our write can have raised */
    bool is_on;    /* the library may become spare in between */
};

void ct_hush_begin(struct ct_hush *h);
void ct_hush_end(const struct ct_hush *h); /* keeps errno */

#endif
