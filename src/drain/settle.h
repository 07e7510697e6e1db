/* SPDX-License-Identifier: MIT */
/*
 * From measured brackets to durations in rows: those of all streams together, because what another
 * stream did at the time is part of the estimate. Of the drain thread.
 */
#ifndef CT_SETTLE_H
#define CT_SETTLE_H

#include "base/base.h"
#include "time/estimate.h"
#include "time/op.h"
#include "time/place.h"

/* A bracket whose events have been read. */
struct ct_measured {
    struct ct_op op;
    struct ct_bracket_times times;
    uint64_t start_ns; /* on the context's time line */
    uint64_t stop_ns;
    uint64_t asked_ns;   /* where the start would be had it not waited; 0: not known */
    uint64_t read_ticks; /* when the events were read */
    uint32_t device;
    int32_t priority;   /* of its stream: less is more */
    uint64_t stream_id; /* the entry may be another stream's soon */
    bool fills_device;  /* a kernel that leaves no room for others' blocks until its last ones */
    bool is_placed;     /* start and stop are those of its place, and the bracket was longer: */
    struct ct_place place;
    uint64_t bracket_ns;
    uint64_t long_ticks; /* from when its queue has CT_LONG_QUEUE entries behind it; 0: never */
};

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
