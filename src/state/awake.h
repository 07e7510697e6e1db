/* SPDX-License-Identifier: MIT */
/*
 * Threads that made a call of late. Only these are looked at each round: what thousands of idle
 * threads cost is nothing.
 *
 * A thread whose flag is down puts itself on a stack at its next call. The drain thread moves who
 * is there to a list of its own, and lets who has had nothing new for a while doze: off the list
 * first, then the flag down. A thread that is in a call just then is found at its next one, or when
 * those that doze are looked at in turn: nothing is lost, it is late.
 */
#ifndef CT_AWAKE_H
#define CT_AWAKE_H

#include "base/base.h"

struct ct_thread;

/* The calling thread, or one that the caller knows not to end meanwhile. */
CT_COLD void ct_thread_wake(struct ct_thread *t);

/* All below: whoever holds the lock of the round. */

/* Where the first one is; the next ones follow in `next_awake`, which _doze may change. */
struct ct_thread **ct_awake(void);
/* Takes the one that is there off the list. */
void ct_awake_doze(struct ct_thread **at);
/* One after the other, of all threads; NULL behind the last one. */
struct ct_thread *ct_awake_in_turn(void);

/* In the child of a fork. */
void ct_awake_forget(void);

#endif
