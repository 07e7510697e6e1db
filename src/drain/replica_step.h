/* SPDX-License-Identifier: MIT */
/*
 * Replicas (replica.h) between their launches: the drain thread, or whoever has the lock of the
 * round, makes them and reads the times of their kernels.
 */
#ifndef CT_REPLICA_STEP_H
#define CT_REPLICA_STEP_H

#include "base/base.h"
#include "state/context.h"

/* Makes a replica that is wanted, and reads those that are through. Whether there are new times. */
bool ct_replicas_step(void);
/* Whether a replica is running. */
bool ct_replicas_are_running(void);
/* Calls `see` for each replica that runs, as of the last step. */
struct ct_replica;
void ct_replicas_see(void (*see)(const struct ct_replica *r, void *arg), void *arg);
/* There will be no more steps: counts replicas that were never launched. */
void ct_replicas_finish(void);
/* The program is about to end a context: ends all replicas in it. */
void ct_replicas_leave(struct ct_context *c);
/* The context has ended: forgets its replicas without a driver call. */
void ct_replicas_lose_context(const struct ct_context *c);

#endif
