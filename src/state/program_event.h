/* SPDX-License-Identifier: MIT */
/*
 * Events of the program. An event made without CU_EVENT_DISABLE_TIMING stamps the time when it is
 * recorded, which takes the GPU about a microsecond: between two kernels that is neither's time.
 * And an event may carry a gate from its stream to those that wait for it.
 */
#ifndef CT_PROGRAM_EVENT_H
#define CT_PROGRAM_EVENT_H

#include "base/base.h"
#include "cuda/api.h"

bool ct_program_events_init(void);

/* The program has made an event, with these flags; the handle may have been another event's. */
void ct_program_event_made(CUevent event, unsigned flags);
/*
 * The event is about to be recorded, in the stream of this index plus one; 0: not known. Returns
 * whether it stamps the time, as events that are not known are taken to do.
 */
bool ct_program_event_recorded(CUevent event, bool behind_gate, uint32_t stream);
/* Index plus one of the stream of its last record; 0: not known. */
uint32_t ct_program_event_stream(CUevent event);
/* Whether the event's last record is behind a gate: waits for it then wait for that gate. */
bool ct_program_event_is_behind_gate(CUevent event);
/* The program has destroyed the event; waits for it were submitted before. */
void ct_program_event_gone(CUevent event);

#endif
