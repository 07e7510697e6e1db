/* SPDX-License-Identifier: MIT */
/*
 * Brackets of streams that several threads share, between the reading of their events and their
 * settling: where each operation ran is known only when all brackets around it have been read. Of
 * the drain thread; the caller holds the round's lock.
 */
#ifndef CT_SHARED_STREAM_H
#define CT_SHARED_STREAM_H

#include "base/base.h"
#include "state/stream.h"
#include "time/measured.h"

/*
 * A bracket that others came into, whose events have been read: it comes to ct_settle_keep() when
 * its place is known, at the latest by ct_shared_streams_end(). False: there is no memory, and the
 * caller settles it as it is.
 */
bool ct_shared_stream_hold(struct ct_stream *s, const struct ct_measured *m);

/* A bracket of the stream is dealt with without a time. */
void ct_shared_stream_lost(struct ct_stream *s, const struct ct_op *op);

/* No bracket before this one was open any more: held brackets can be placed. */
void ct_shared_stream_end(struct ct_stream *s, const struct ct_op *op);

/* At the end of a round: settles brackets that no other can come between any more. */
void ct_shared_streams_step(void);
/* Settles all held brackets. */
void ct_shared_streams_end(void);

#endif
