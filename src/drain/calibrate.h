/* SPDX-License-Identifier: MIT */
/*
 * A device's figures, measured on the device itself: self-timed kernels in a stream of our own,
 * when the first context on the device is met by an operation that is not captured.
 *
 * What may have to wait for the context (loading the kernel, compiling it) is done in the launching
 * thread, before that operation: nothing of the program's can be waiting on the GPU for that thread
 * yet. The rest is the drain thread's, which asks and never waits. It takes a few milliseconds, 50
 * at most, for which that operation waits: beside the program's work no figures can be had. Other
 * threads' operations do not wait; until there are figures the device's brackets are kept, so that
 * all are corrected by the same. Whatever fails leaves the figures of the table of known devices.
 * Where that has several for the device, what a record takes on this host says which hold.
 */
#ifndef CT_CALIBRATE_H
#define CT_CALIBRATE_H

#include "base/base.h"
#include "state/context.h"

/* All for whoever holds the lock of the drain thread's round. */

/* Goes on with what has been prepared; `pending`: brackets that wait. True: something is under way.
 */
bool ct_calibrate_step(uint64_t pending);

/* Whether brackets of the device have to wait for its figures. */
bool ct_calibrate_holds(uint32_t device);

/* The context is about to go: what runs in it is brought to its end, which waits 50 ms at most. */
void ct_calibrate_leave(struct ct_context *c);

/* No figures any more for who has none yet. */
void ct_calibrate_give_up(void);


#endif
