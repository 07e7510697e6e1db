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

/*
 * Calls `see` for each stream that has pending brackets, with the first of them and those behind
 * it. Also while the drain thread is inside the driver (ct_borrow()).
 */
struct ct_pending;
void ct_harvest_see(void (*see)(const struct ct_stream *s, const struct ct_pending *p, void *arg),
                    void *arg);
/* Whether it is asked for brackets that are the first ones for long if they have begun. */
extern atomic_bool ct_harvest_asks_starts;

/* The driver's first error, as after a fault on the device, and an operation in flight then. */
struct ct_fault {
    CUresult result;
    bool has_op;
    struct ct_op op;
    uint64_t ticks;
};
const struct ct_fault *ct_harvest_fault(void); /* NULL: there was none */
/* The driver has refused a round: it is asked for its error once, where starts are asked for. */
void ct_harvest_refused(void);

/* Brackets that were counted as unfinished. */
uint64_t ct_harvest_unfinished(void);

/* Brackets dealt with so far: while it grows, something goes on. */
uint64_t ct_harvest_dealt(void);

/* Counts all pending brackets as unfinished. */
void ct_harvest_give_up(void);

/* Takes complete brackets of a context, for the last time. */
void ct_harvest_context(struct ct_context *c);
/* Counts pending brackets of a context that has gone as lost, and forgets it; no driver call. */
void ct_harvest_lose_context(struct ct_context *c);

#endif
