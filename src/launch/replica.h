/* SPDX-License-Identifier: MIT */
/*
 * Replicas: executable graphs of ours that are launched now and then instead of the program's, and
 * do the same work with event nodes around the kernels, which tell their times (node_time.h).
 *
 * When the program instantiates a graph, the library clones it, in the host's memory alone. After a
 * few launches the drain thread makes the replica of the clone (replica_make.h). A launch that
 * would be timed anyway may then be the replica's. The program's graph and executable graph are
 * never touched; when the latter changes, the replica is changed as well, or goes for good.
 *
 * Launches of one executable graph run one after the other, in whatever streams they are: the
 * driver sees to that. With a replica we do: it is launched only where the launch before was in the
 * same stream, and a launch elsewhere waits while it runs.
 */
#ifndef CT_REPLICA_H
#define CT_REPLICA_H

#include "base/base.h"
#include "cuda/api.h"
#include "launch/replica_make.h"
#include "state/stream.h"

#define CT_REPLICAS 2048

/* Without CUTRACE_GRAPH_NODES no function below does anything. False: no memory. */
bool ct_replicas_init(void);
extern bool ct_replicas_are_on;

/* ---- the program's threads, of which one at a time uses an executable graph ---- */

/* The program has instantiated a graph. */
void ct_replica_offer(CUgraphExec exec, CUgraph graph);

/*
 * The program has changed a node of an executable graph: the replica's is changed likewise, or the
 * replica is dropped. Parameters of kernels, copies, sets and host functions can be followed.
 */
void ct_replica_node_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p);
/* Likewise, a child graph. */
void ct_replica_child_set(CUgraphExec exec, CUgraphNode node, CUgraph child);
void ct_replica_node_switched(CUgraphExec exec, CUgraphNode node, bool on);

/* The program has updated an executable graph: the replica is made anew, if that is rare. */
void ct_replica_updated(CUgraphExec exec, CUgraph graph);

/* The program changes one otherwise, or destroys it. All these wait while a replica is made. */
void ct_replica_changed(CUgraphExec exec);
void ct_replica_gone(CUgraphExec exec);

/* A module is about to be unloaded: its kernels may be in clones that are not yet replicas. */
void ct_replicas_unloaded(void);

/* Whether a launch is to be the replica's; the stream is known to allow a launch. */
bool ct_replica_is_due(CUgraphExec exec, const struct ct_stream *s);

/*
 * A call of the program's has failed for lack of memory. True: replicas had some, and have given it
 * back, so that the call may be made once more. There will be no replicas any more.
 */
bool ct_replicas_give_up(CUresult result);

uint64_t ct_replicas_lost(enum ct_replica_loss why);

#endif
