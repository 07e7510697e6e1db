/* SPDX-License-Identifier: MIT */
/*
 * Managed memory: what moved where, how much, how long, and the page faults, by what the kernel
 * driver tells (uvm.h). Figures are of the drain thread, or whoever has the lock of its round.
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
 * where nobody asked, or once it has succeeded. Any thread.
 */
void ct_unified_start(void);

/* In the child of a fork. */
void ct_unified_forget(void);

/* Whether the driver tells. Any thread. */
bool ct_unified_is_watched(void);

/* Takes what has come, and counts it if recording is on. Whether there was anything. */
bool ct_unified_collect(void);

/* The same with what the driver has not told yet. */
void ct_unified_settle(void);

/* At the end: what it was, or why it was not. */
void ct_unified_finish(void);

/* The figures of a device and a kind; false: there are none. */
bool ct_unified_figures(uint32_t device, uint32_t kind, struct ct_file_unified *figures);
uint64_t ct_unified_lost(enum ct_unified_loss loss);

#endif
