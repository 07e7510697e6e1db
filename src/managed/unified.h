/* SPDX-License-Identifier: MIT */
/*
 * Managed memory: migrations between host and devices, their bytes and durations, and page faults,
 * as the kernel driver reports them (uvm.h). Figures belong to whoever has the lock of the round.
 */
#ifndef CT_UNIFIED_H
#define CT_UNIFIED_H

#include "base/base.h"
#include "cutrace/format.h"

#define CT_UNIFIED_LOSSES(X)                                                                       \
    X(FULL, "events of managed memory were lost: their queue was full")                            \
    X(ELSEWHERE, "events of managed memory were of a GPU that the program has no context on")

enum ct_unified_loss {
#define X(id, text) CT_UNIFIED_LOSS_##id,
    CT_UNIFIED_LOSSES(X)
#undef X
        CT_UNIFIED_LOSS_COUNT
};

/*
 * A context has been seen for the first time: managed memory may be used from now on. Does nothing
 * where the user did not ask for it, or where the driver has agreed or refused. Any thread.
 */
void ct_unified_start(void);

/* In the child of a fork. */
void ct_unified_forget(void);

/* Whether the driver reports events. Any thread. */
bool ct_unified_is_watched(void);

/* Takes events from the queue, and counts them if recording is on. False: there were none. */
bool ct_unified_collect(void);

/* Takes all events, including those that the driver has not put into the queue yet. */
void ct_unified_settle(void);

/* At the end: takes the last events, or notes why there were none to take. */
void ct_unified_finish(void);

/* The figures of a device and a kind; false: there are none. */
bool ct_unified_figures(uint32_t device, uint32_t kind, struct ct_file_unified *figures);
uint64_t ct_unified_lost(enum ct_unified_loss loss);

#endif
