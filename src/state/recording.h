/* SPDX-License-Identifier: MIT */
/* Whether operations are recorded at the moment. Any thread. */
#ifndef CT_RECORDING_H
#define CT_RECORDING_H

#include "base/base.h"

/* Recording can be switched off and on by the program; operations meanwhile are only counted. */
void ct_recording_set(bool on);
/* Its two parts: what takes no time, and what tells all streams. */
void ct_recording_switch(bool on);
void ct_recording_tell(void);
bool ct_recording(void);
struct ct_thread;
/* The calling thread made operations while it was off. */
void ct_recording_missed(struct ct_thread *t, uint64_t operations);
uint64_t ct_recording_off_operations(void);
/*
 * How often it had been switched on by a moment in ticks, of a bracket that is on its way: between
 * operations of two periods there may have been any that were not recorded.
 */
uint32_t ct_recording_period(uint64_t ticks);

#endif
