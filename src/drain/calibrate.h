/* SPDX-License-Identifier: MIT */
/*
 * A device's figures, measured on the device itself: self-timed kernels in a stream of our own,
 * when the first context on the device is met by an operation that is not captured.
 *
 * The launching thread loads the kernels before that operation, as this may wait for the context:
 * no work of the program's can be waiting on the GPU for that thread yet. The drain thread does the
 * rest: it asks and never waits. That takes a few milliseconds, 50 at most, for which the operation
 * waits: beside the program's work no figures can be had. Other threads' operations do not wait;
 * until there are figures the device's brackets are kept, so that all are corrected by the same.
 * Whatever fails leaves the figures of the table of known devices. Where that has several for the
 * device, the time of a record on this host tells which of them hold.
 */
#ifndef CT_CALIBRATE_H
#define CT_CALIBRATE_H

#include "base/base.h"
#include "state/context.h"

/* All functions: whoever holds the lock of the drain thread's round. */

/* Goes on with prepared jobs; `pending`: brackets that wait. True: a job is under way. */
bool ct_calibrate_step(uint64_t pending);

/* Whether brackets of the device have to wait for its figures. */
bool ct_calibrate_holds(uint32_t device);

/* The context is about to go: ends a job in it, within 50 ms once its kernels are loaded. */
void ct_calibrate_leave(struct ct_context *c);

/* Ends the jobs under way: no figures come any more. */
void ct_calibrate_give_up(void);

#endif
