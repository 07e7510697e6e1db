/* SPDX-License-Identifier: MIT */
/* Records of threads for the drain thread. For whoever holds the lock of the round. */
#ifndef CT_COLLECT_H
#define CT_COLLECT_H

#include "base/base.h"

/*
 * From threads that made calls of late, and a few of the others in turn. `passed`: what went by as
 * well, of which a look takes the counters out of the thread's cache. `now_ns` (CLOCK_MONOTONIC):
 * who has been idle for long then is looked at in turn till its next call. True: there was
 * something.
 */
bool ct_collect(uint64_t now_ns, bool passed);
/* From all threads there are. */
bool ct_collect_all(void);
/* Sums up what all threads counted, those included that are not looked at. */
void ct_collect_counts(void);

#endif
