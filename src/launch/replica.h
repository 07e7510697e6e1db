/* SPDX-License-Identifier: MIT */
/*
 * Replicas: executable graphs of ours that are launched now and then instead of the program's, and
 * do the same work with event nodes around the kernels, whose times are thus known (node_time.h).
 *
 * When the program instantiates a graph, that is cloned, in the host's memory alone. After a few
 * launches the drain thread makes the replica of the clone (replica_make.h). A launch that would be
 * timed anyway may then be one of the replica. The program's graph and executable graph are never
 * touched; when it changes the latter, the replica is changed as well, or goes for good.
 *
 * Launches of one executable graph run one after the other, in whatever streams they are: the
 * driver sees to that. With a replica we do: it is launched only where the launch before was in the
 * same stream, and what is launched elsewhere while it runs waits for it.
 */
#ifndef CT_REPLICA_H
#define CT_REPLICA_H

#include "base/base.h"
#include "cuda/api.h"
#include "launch/replica_make.h"
#include "state/stream.h"

#define CT_REPLICAS 2048

/* With CUTRACE_GRAPH_NODES; otherwise nothing below does anything. False: no memory. */
bool ct_replicas_init(void);
void ct_replicas_forget(void);
extern bool ct_replicas_are_on;

/* ---- the program's threads, of which one at a time uses an executable graph ---- */

/* The program has instantiated a graph. */
void ct_replica_offer(CUgraphExec exec, CUgraph graph);

/*
 * The program has changed a node of an executable graph: the same is done to the replica, or there
 * is none any more. Of parameters those of kernels, copies, sets and host functions can be
 * followed.
 */
void ct_replica_node_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p);
void ct_replica_node_switched(CUgraphExec exec, CUgraphNode node, bool on);

/* It has updated it from a graph: the replica is made anew, unless updates are frequent. */
void ct_replica_updated(CUgraphExec exec, CUgraph graph);

/* It has changed it in another way, or destroys it. All wait while the replica is being made. */
void ct_replica_changed(CUgraphExec exec);
void ct_replica_gone(CUgraphExec exec);

/* A module is about to be unloaded, whose kernels may be in graphs that nobody has looked at. */
void ct_replicas_unloaded(void);

/* Whether a launch, which the stream is known to allow, is to be one of the replica. */
bool ct_replica_is_due(CUgraphExec exec, const struct ct_stream *s);

uint64_t ct_replicas_lost(enum ct_replica_loss why);

#endif
