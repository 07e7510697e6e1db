/* SPDX-License-Identifier: MIT */
/*
 * Replicas (replica.h) between their launches: the drain thread, or whoever has the lock of the
 * round, makes them and reads the times of their kernels.
 */
#ifndef CT_REPLICA_STEP_H
#define CT_REPLICA_STEP_H

#include "base/base.h"
#include "state/context.h"

/* Makes one that is wanted, and reads what is through. Whether there are new times. */
bool ct_replicas_step(void);
/* Whether one is running. */
bool ct_replicas_are_running(void);
/* There will be no more steps: those that no launch was of are counted. */
void ct_replicas_finish(void);
/* The program is about to end a context: all in it are ended. */
void ct_replicas_leave(struct ct_context *c);
/* It has: what is left is forgotten without a word to the driver. */
void ct_replicas_lose_context(const struct ct_context *c);

/* In the child of a fork. */
void ct_replica_steps_forget(void);

#endif
