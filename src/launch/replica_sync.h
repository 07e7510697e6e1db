/* SPDX-License-Identifier: MIT */
/*
 * Replicas of programs that give nodes new parameters before each launch, as JAX does. Following
 * all of these would double what they cost: once there have been some such launches, parameters are
 * followed in rounds, before launches that may be the replica's. Between two rounds the replica
 * misses some; it is launched again only after a round that has given the same nodes parameters as
 * each launch in between did. The thread that uses the executable graph.
 */
#ifndef CT_REPLICA_SYNC_H
#define CT_REPLICA_SYNC_H

#include "launch/replica_entry.h"

/* A node is about to get parameters: whether the replica's has to get them as well. */
bool ct_replica_sync_set(uint32_t i, CUgraphNode node);

/* A launch has been made; r->launches does not count it yet. False: it will never be synced. */
bool ct_replica_sync_launched(struct ct_replica *r);

#endif
