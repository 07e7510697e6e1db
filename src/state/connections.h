/* SPDX-License-Identifier: MIT */
/*
 * The connections that carry a context's work to the GPU, 8 unless CUDA_DEVICE_MAX_CONNECTIONS says
 * otherwise, and the streams that share them. An entry that has to wait holds up all entries behind
 * it in its connection, of other streams as well. A kernel waits for the one before it in its
 * stream anyway, and so does a start record just ahead of it; a stop record waits for nothing that
 * the program waits for. So where streams may have to share, no end is stamped: end_poll.h.
 *
 * The driver does not tell which stream is in which connection; it spreads them as work comes. Two
 * streams can meet where there are more streams than connections, and hardly do while no more than
 * half as many are at work.
 */
#ifndef CT_CONNECTIONS_H
#define CT_CONNECTIONS_H

#include <stdatomic.h>

#include "base/base.h"
#include "state/context.h"
#include "state/stream.h"

extern uint32_t ct_connections_count;
/* Whether streams of any context have ever had to share. */
extern atomic_bool ct_connections_were_short;

/* setting: the value of CUDA_DEVICE_MAX_CONNECTIONS, or NULL. */
void ct_connections_init(const char *setting);

/* Launching thread: whether an operation that is about to go into the stream may have to share a
 * connection with others' work. The context has more streams than connections. */
bool ct_connections_are_short(struct ct_context *c, struct ct_stream *s);

/*
 * One operation of a context in so many is timed, although each is asked for: with very many
 * streams at work two records a launch are felt on the host.
 */
uint32_t ct_connections_every(const struct ct_context *c);

/* Drain thread, once a round: finds the streams that are no longer at work. */
void ct_connections_step(void);

#endif
