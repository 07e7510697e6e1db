/* SPDX-License-Identifier: MIT */
/* What a round of the drain thread does with brackets; the caller holds the round's lock. */
#ifndef CT_HARVEST_H
#define CT_HARVEST_H

#include "base/base.h"
#include "state/context.h"
#include "state/thread.h"

/* Moves the brackets that wait in a thread's ring to their streams. True: there were some. */
bool ct_harvest_collect(struct ct_thread *t);

/* Reads all brackets that are complete; settles them as ct_settle() does, and returns how many. */
uint64_t ct_harvest(bool all);

/* Brackets that are not complete yet. */
uint64_t ct_harvest_pending(void);
/* Whether any of these is to be asked for again soon: that tells when it ends. */
bool ct_harvest_polls(void);
/* How many such there were. */
uint64_t ct_harvest_polled(void);

/* Counts all that is pending as unfinished. */
void ct_harvest_give_up(void);

/* Takes what is complete in a context, for the last time. */
void ct_harvest_context(struct ct_context *c);
/* Counts what is pending in a context that has gone as lost, and forgets it; no driver call. */
void ct_harvest_lose_context(struct ct_context *c);

void ct_harvest_forget(void);

#endif
