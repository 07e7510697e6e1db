/* SPDX-License-Identifier: MIT */
/*
 * The drain thread: takes brackets from the threads' rings, waits for their stop events by asking,
 * turns them into durations, adds these to the rows, gives the events back, and has the profile
 * written while there is something new. It sleeps longer the less there is to do.
 */
#ifndef CT_DRAIN_H
#define CT_DRAIN_H

#include "base/base.h"
#include "state/context.h"

/*
 * Starts the thread; `take` and then `write` are called on it, at most every CT_DRAIN_WRITE_NS,
 * when figures have changed, and once more in ct_drain_stop(). No figure changes during `take`,
 * which must not wait for anything; `write` may take its time. False: no thread could be made.
 */
/*
 * `tend` is called on the thread after each round, at least every 10 ms: for work that concerns
 * others than the driver, for whom it must not wait either.
 */
bool ct_drain_start(void (*take)(bool finished), void (*write)(void), void (*tend)(void));
#define CT_DRAIN_WRITE_NS 50000000u

/*
 * Any thread of the program's: has complete brackets taken and the profile written, and waits for
 * that. 0, ETIMEDOUT, or ENODATA: there is no drain thread.
 */
int ct_drain_flush(uint64_t timeout_ns);

/* A flush in two steps, of which neither waits: the drain thread itself may ask. */
uint32_t ct_drain_ask_flush(void);
bool ct_drain_is_flushed(uint32_t ticket);

/*
 * Any thread of the program's, and `tend`: no figure changes while `look` runs, which must not wait
 * for anything. False: `look` was not called, as the drain thread does not come out of the driver.
 */
bool ct_drain_look(void (*look)(void *arg), void *arg);

/*
 * A thread of the library's own, beside the drain thread: `look` runs while no figure changes. It
 * must not wait, and returns whether the profile is to be written soon. Where the drain thread is
 * inside a driver call since the time of `asks` calls, `look` is called in its place, the profile
 * is written and others are tended here. False: `look` was not called, as the figures change.
 */
bool ct_drain_watch(bool (*look)(bool is_blocked), uint64_t asks);
/* Waits so long, or until the drain thread has stopped; false: it has. */
bool ct_drain_watch_wait(uint64_t ns);
/* Whether that thread runs beside the drain thread. */
void ct_drain_is_watched(bool is);

/*
 * Any thread of the program's, and `tend`: recording is about to go on or off. Moves and faults of
 * managed memory up to now belong to the time before.
 */
void ct_drain_settle(void);

/* Settles likewise, then switches recording. */
void ct_drain_record(bool on);

/* How long a thread that ends the process waits. */
struct ct_patience {
    uint64_t gpu_ns;    /* for the GPU's work; the rest is then unfinished */
    uint64_t driver_ns; /* then, for a driver call of the drain thread's to return */
    uint64_t disk_ns;   /* for the last write, counted from the same moment */
    bool in_order;      /* by exit(): this thread may call the driver, and log */
};

/*
 * The process ends: nothing more is recorded. Waits until everything has been dealt with, counts
 * the rest as unfinished and has the profile written as finished. Any thread, also in a signal
 * handler, and several at once. False: the drain thread did not answer.
 */
bool ct_drain_stop(const struct ct_patience *p);

/*
 * The program is about to end a context: takes complete brackets, counts the rest as lost. Waits
 * for the drain thread to leave the context, never for the GPU.
 */
void ct_drain_context_gone(struct ct_context *c);

/*
 * Around a call that ends the context only if the caller was its last user: the drain thread stays
 * out of it in between, launching threads do not. Resumed from ct_drain_look(), if that can be.
 */
void ct_drain_context_pause(struct ct_context *c);
void ct_drain_context_resume(struct ct_context *c, bool alive);

/* One round without a thread, for tests and measurements; returns the brackets dealt with. */
uint64_t ct_drain_once(void);

#endif
