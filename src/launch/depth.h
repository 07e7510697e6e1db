/* SPDX-License-Identifier: MIT */
/*
 * How deep a stream's queue may become with records of ours in it. A program may queue about a
 * thousand launches behind a gate that it opens afterwards, and must be able to with us.
 */
#ifndef CT_DEPTH_H
#define CT_DEPTH_H

#include "state/stream.h"

/*
 * Whether so much is queued in a stream that does not move that our records could fill it.
 * Launching thread, outside of a bracket.
 */
bool ct_depth_is_reached(struct ct_stream *s);

/* What the program puts into the stream next may stand still until the program says so. */
void ct_depth_gate(struct ct_stream *s);
/* Whether it may stand still there: of nothing behind it is known that it is done. */
bool ct_depth_is_gated(struct ct_stream *s);

#endif
