/* SPDX-License-Identifier: MIT */
/*
 * How long the GPU takes for an event record on this host: with the same GPU it has been 1.3 us on
 * one and 2.9 on another, and brackets are longer by as much. A few records in a row in one of the
 * program's streams tell; a stream of our own would make every bracket longer.
 */
#ifndef CT_RECORD_COST_H
#define CT_RECORD_COST_H

#include "base/base.h"
#include "state/context.h"
#include "state/stream.h"

#define CT_RECORD_COST_EVENTS 32

struct ct_record_cost {
    uint32_t event[CT_RECORD_COST_EVENTS]; /* of the context's pool, or CT_EVENT_NONE */
    uint64_t ticks[CT_RECORD_COST_EVENTS]; /* before each was recorded */
};

/*
 * Launching thread: makes the records. False: the stream has work, behind which they would take
 * room in its queue, or may be captured, or a record failed; no record is to be read or ended.
 */
bool ct_record_cost_submit(struct ct_record_cost *r, struct ct_context *c,
                           const struct ct_stream *s, struct ct_event_cache *cache);

/* The functions below: drain thread, with the context current. */

/* The event of the last record. */
CUevent ct_record_cost_last(const struct ct_record_cost *r, const struct ct_context *c);
/* When that is complete: nanoseconds that a record takes; 0: the records do not tell. */
uint32_t ct_record_cost_read(const struct ct_record_cost *r, const struct ct_context *c);
/* Gives the events back. */
void ct_record_cost_end(struct ct_record_cost *r, struct ct_context *c);

#endif
