/* SPDX-License-Identifier: MIT */
/*
 * A process may have been started with a filter of system calls (seccomp) that ends it at a call it
 * has no need of. Then the library is spare with calls: it does without locks, sockets, processes
 * and signal masks, and has a thread only if the program has. system/proc.h finds that out.
 */
#ifndef CT_SPARE_H
#define CT_SPARE_H

#include <stdatomic.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/base.h"

extern atomic_bool ct_spare_is_on; /* in tools it never is */

static inline bool ct_spare(void)
{
    return atomic_load_explicit(&ct_spare_is_on, memory_order_relaxed);
}

/* The effective user: now, or, where a call may end the process, at the program's start. */
static inline uid_t ct_spare_user(void)
{
    return ct_spare() ? (uid_t)getauxval(AT_EUID) : geteuid();
}

#endif
