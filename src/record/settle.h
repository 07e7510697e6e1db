/* SPDX-License-Identifier: MIT */
/*
 * From measured brackets to durations in rows: a round's brackets of all streams together, because
 * what another stream did at the time is part of the estimate. Of the drain thread.
 */
#ifndef CT_SETTLE_H
#define CT_SETTLE_H

#include "base/base.h"
#include "record/estimate.h"
#include "record/op.h"

/* A bracket whose events have been read. */
struct ct_measured {
    struct ct_op op;
    struct ct_bracket_times times;
    uint64_t start_ns; /* on the context's time line */
    uint64_t stop_ns;
    uint32_t device;
};

bool ct_settle_init(void);
void ct_settle_forget(void);

/* Room for one more, taken; settles what is there first if there is none. */
struct ct_measured *ct_settle_next(void);
/* Gives back the room taken last. */
void ct_settle_cancel(void);

/* Another bracket, which has begun then and has not ended yet: it was beside what was measured. */
void ct_settle_running(uint32_t stream, uint32_t context, uint64_t start_ns);

/* Estimates all that were measured and adds them to their rows. */
void ct_settle(void);

#endif
