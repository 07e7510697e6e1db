/* SPDX-License-Identifier: MIT */
/* What the kernel says of this process in /proc/self/stat. */
#ifndef CT_PROC_H
#define CT_PROC_H

#include "base/base.h"

/* By their place in the line, see proc(5). */
enum ct_proc_field {
    CT_PROC_STATE = 3, /* of the main thread; a letter */
    CT_PROC_THREADS = 20,
    CT_PROC_START_TICKS = 22, /* since boot, in units of sysconf(_SC_CLK_TCK) */
};

/* 0: could not be read. */
uint64_t ct_proc_self(enum ct_proc_field field);

/* When the process began, as time(2) counts, to within 10 ms; exec does not change it. 0: unknown.
 */
uint64_t ct_proc_start_unix_ns(void);

#endif
