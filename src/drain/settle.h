/* SPDX-License-Identifier: MIT */
/*
 * From measured brackets to durations in rows: those of all streams together, because what another
 * stream did at the time is part of the estimate. Of the drain thread.
 */
#ifndef CT_SETTLE_H
#define CT_SETTLE_H

#include "base/base.h"
#include "time/measured.h"

bool ct_settle_init(void);
void ct_settle_forget(void);

/* A round begins: from now on each stream is asked for what is complete, and then ct_settle(). */
void ct_settle_begin(void);

/* Room for one more; settles what is there first if there is none. */
struct ct_measured *ct_settle_next(void);
/* What was written there is whole. */
void ct_settle_keep(void);

/* Adds one whose duration is known, give or take `doubt_ns`, to its row (polled.h). */
void ct_settle_as(struct ct_measured *m, uint64_t time_ns, uint64_t doubt_ns);

/*
 * Estimates what was measured and adds it to its rows: all of it, or all but the latest, which wait
 * until what other streams have stamped beside them has been read. Returns how many.
 */
unsigned ct_settle(bool all);

#endif
