/* SPDX-License-Identifier: MIT */
/*
 * How deep a stream's queue may become with our records in it. A program may queue about a thousand
 * launches behind a gate that it opens afterwards, and must be able to do so with us.
 */
#ifndef CT_DEPTH_H
#define CT_DEPTH_H

#include "state/stream.h"

/*
 * Whether a stream that does not move has so much queued that our records could fill its queue.
 * Launching thread, outside of a bracket.
 */
bool ct_depth_is_reached(struct ct_stream *s);

/* A gate is behind the stream's newest bracket: it may stand still until the program says so. */
void ct_depth_gate(struct ct_stream *s);
/* Whether the stream may stand still at a gate: no bracket behind it is known to be through. */
bool ct_depth_is_gated(struct ct_stream *s);

#endif
