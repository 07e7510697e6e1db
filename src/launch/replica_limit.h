/* SPDX-License-Identifier: MIT */
/*
 * Limits of all replicas together: a share of the run time, and some of the device's memory. Any
 * thread.
 */
#ifndef CT_REPLICA_LIMIT_H
#define CT_REPLICA_LIMIT_H

#include "base/base.h"

/* With CUTRACE_GRAPH_NODES=auto: event nodes take no more of the run time, and replicas no more. */
#define CT_REPLICA_AUTO_PPM 5000
#define CT_REPLICA_AUTO_BYTES ((uint64_t)64 << 20)

/* Event nodes have cost so much: no replica is launched until its share has come in. */
void ct_replicas_rest(uint64_t cost_ns);
bool ct_replicas_are_resting(void);

/*
 * Room for a replica of so many nodes, event nodes among them: bytes, to be given back. 0: it would
 * be too much for all of them.
 */
uint64_t ct_replica_reserve(size_t nodes);
void ct_replica_release(uint64_t bytes);

/* No more replicas: the driver has refused one, with auto, or the program needs the memory. */
void ct_replicas_stop(void);
bool ct_replicas_are_stopped(void);

bool ct_replicas_have_memory(void);

#endif
