/* SPDX-License-Identifier: MIT */
/*
 * Looks four times a second whether something takes longer than its limit (CUTRACE_WATCHDOG), tells
 * of each hang once, and keeps it for the profile. Nothing is ended.
 *
 * A thread of its own, as the drain thread may be inside the driver for ever: then it looks at that
 * one's data, writes the profile and answers `cutrace ctl` in its place. It never calls the driver.
 */
#ifndef CT_WATCHDOG_H
#define CT_WATCHDOG_H

#include "base/base.h"
#include "watch/in_flight.h"

#define CT_WATCH_PAST 16 /* hangs that are over and kept: the newest */

/* After the drain thread has been started. Without CUTRACE_WATCHDOG it does nothing. */
void ct_watchdog_start(void);

/* Somebody wants to know: the profile has what is in flight for the next seconds. Any thread. */
void ct_watch_ask(void);

/*
 * Entries for the profile: those in flight, with their limits, and hangs that are over. Whoever
 * takes the profile. `finished`: there will be no more looks.
 */
uint32_t ct_watch_list(const struct ct_in_flight **all, bool finished);

bool ct_watchdog_is_on(void);
/* Operations, gates and calls over their limits, as of the last look. */
uint32_t ct_watch_stuck(void);

#endif
