/* SPDX-License-Identifier: MIT */
/*
 * A write can raise SIGPIPE or SIGXFSZ in the thread that makes it. One of ours, in a thread of the
 * program's, must not: the program may not survive it, or take it for the end of its own file.
 */
#ifndef CT_HUSH_H
#define CT_HUSH_H

#include <signal.h>

#include "base/base.h"

struct ct_hush {
    sigset_t mask; /* of the thread, before */
    sigset_t ours; /* what may be raised in between */
    bool is_on;    /* the library may become spare in between */
};

void ct_hush_begin(struct ct_hush *h);
void ct_hush_end(const struct ct_hush *h); /* keeps errno */

#endif
