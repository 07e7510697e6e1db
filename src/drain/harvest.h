/* SPDX-License-Identifier: MIT */
/* A round's work on brackets; the caller holds the lock of the drain thread's round. */
#ifndef CT_HARVEST_H
#define CT_HARVEST_H

#include "base/base.h"
#include "state/context.h"
#include "state/thread.h"

/* Moves the brackets that wait in a thread's ring to their streams. True: there were some. */
bool ct_harvest_collect(struct ct_thread *t);

/* Reads all brackets that are complete; settles them as ct_settle() does, and returns how many. */
uint64_t ct_harvest(bool all);

/* Brackets in streams that are not complete yet. */
uint64_t ct_harvest_pending(void);
/* Whether any of these has an end that is found by asking: then rounds have to follow soon. */
bool ct_harvest_polls(void);
/* How many brackets had such an end, so far. */
uint64_t ct_harvest_polled(void);

/* Counts all pending brackets as unfinished. */
void ct_harvest_give_up(void);

/* Takes complete brackets of a context, for the last time. */
void ct_harvest_context(struct ct_context *c);
/* Counts pending brackets of a context that has gone as lost, and forgets it; no driver call. */
void ct_harvest_lose_context(struct ct_context *c);

#endif
