/* SPDX-License-Identifier: MIT */
/*
 * Threads that made a call of late. Only these are looked at each round: thousands of idle threads
 * cost nothing.
 *
 * A thread whose flag is down puts itself on a stack at its next call. The drain thread moves the
 * stack to a list of its own, and lets a thread that has had nothing new for a while doze: off the
 * list first, then the flag down. A thread that is in a call just then is found at its next one, or
 * when dozing threads are looked at in turn: nothing is lost, it is late.
 */
#ifndef CT_ACTIVE_THREADS_H
#define CT_ACTIVE_THREADS_H

#include "base/base.h"

struct ct_thread;

/* Puts t on the stack: the calling thread, or one that the caller knows not to end meanwhile. */
CT_COLD void ct_thread_wake(struct ct_thread *t);

/* All below: for the holder of the round's lock. */

/* The link to the first one; the next ones follow in `next_awake`, which _doze may change. */
struct ct_thread **ct_active_threads(void);
/* Takes the thread at that link off the list. */
void ct_active_threads_doze(struct ct_thread **at);
/* All threads, one a call; NULL behind the last one. */
struct ct_thread *ct_active_threads_in_turn(void);

#endif
