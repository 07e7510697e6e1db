/* SPDX-License-Identifier: MIT */
/*
 * From measured brackets to durations in rows: brackets of all streams together, because the work
 * of another stream at the time is part of the estimate. Drain thread.
 */
#ifndef CT_SETTLE_H
#define CT_SETTLE_H

#include "base/base.h"
#include "time/measured.h"

bool ct_settle_init(void);

/* A round begins: each stream is asked for complete brackets, and then comes ct_settle(). */
void ct_settle_begin(void);

/* Room for one more bracket; settles all that are there first if there is none. */
struct ct_measured *ct_settle_next(void);
/* The bracket that was written there is whole. */
void ct_settle_keep(void);

/* Adds a bracket whose duration is known, give or take `doubt_ns`, to its row (end_poll.h). */
void ct_settle_as(struct ct_measured *m, uint64_t time_ns, uint64_t doubt_ns);

/*
 * Estimates the kept brackets and adds them to their rows: all, or all but the latest, which wait
 * until those that were stamped beside them have been read. Returns how many.
 */
unsigned ct_settle(bool all);

#endif
