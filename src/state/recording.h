/* SPDX-License-Identifier: MIT */
/* Whether operations are recorded at the moment. Any thread. */
#ifndef CT_RECORDING_H
#define CT_RECORDING_H

#include <stdatomic.h>

#include "base/base.h"

/* Recording can be switched off and on by the program; operations meanwhile are only counted. */
void ct_recording_set(bool on);
/* The two parts of _set: the switch, which takes no time, and telling all streams. */
void ct_recording_switch(bool on);
void ct_recording_tell(void);
bool ct_recording(void);
/*
 * Nobody wants to know of calls: recording is off, or API calls are not listed. Then one that
 * changes nothing for recording goes straight to the driver.
 */
extern atomic_bool ct_calls_are_off;
/* Recording is off, and nothing has to be kept of launches: they are counted and go straight on. */
extern atomic_bool ct_launches_are_off;
struct ct_thread;
/* The calling thread made operations while recording was off. */
void ct_recording_missed(struct ct_thread *t, uint64_t operations);
uint64_t ct_recording_off_operations(void);
/*
 * How often recording had been switched on by a moment in ticks, not older than a bracket on its
 * way: between operations of two periods there may have been any that were not recorded.
 */
uint32_t ct_recording_period(uint64_t ticks);

#endif
