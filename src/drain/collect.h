/* SPDX-License-Identifier: MIT */
/* Takes the threads' records. All functions: whoever holds the lock of the drain thread's round. */
#ifndef CT_COLLECT_H
#define CT_COLLECT_H

#include "base/base.h"

/*
 * From threads that made calls of late. `passed`: also the counts of launches that went by, which a
 * look takes out of the thread's cache, and a few idle threads in turn. `now_ns`: CLOCK_MONOTONIC;
 * a thread that has been idle for long by then is only looked at in turn till its next call. True:
 * there was something.
 */
bool ct_collect(uint64_t now_ns, bool passed);
/* From all threads there are. True: there was something. */
bool ct_collect_all(void);
/* Sums up the counts of all threads, dozing ones included. */
void ct_collect_counts(void);

#endif
