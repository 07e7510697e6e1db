/* SPDX-License-Identifier: MIT */
/*
 * Events of the program. One that was made without CU_EVENT_DISABLE_TIMING stamps the time when it
 * is recorded, which takes the GPU about a microsecond: between two kernels that is neither's time.
 * And one may carry a gate from its stream to those that wait for it.
 */
#ifndef CT_PROGRAM_EVENT_H
#define CT_PROGRAM_EVENT_H

#include "base/base.h"
#include "cuda/api.h"

bool ct_program_events_init(void);
void ct_program_events_forget(void);

/* The program has got it, with these flags; the handle may have been another one's. */
void ct_program_event_made(CUevent event, unsigned flags);
/*
 * It is about to be recorded. Whether it stamps the time: one that is not known is taken for one
 * that does.
 */
bool ct_program_event_recorded(CUevent event, bool behind_gate);
/* Where it was recorded last: what waits for it waits for that gate. */
bool ct_program_event_is_behind_gate(CUevent event);
/* The program has destroyed it; what waits for it was told to before. */
void ct_program_event_gone(CUevent event);

#endif
