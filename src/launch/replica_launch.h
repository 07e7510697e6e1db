/* SPDX-License-Identifier: MIT */
/* Launches of graphs that may have a replica (replica.h). Launching thread. */
#ifndef CT_REPLICA_LAUNCH_H
#define CT_REPLICA_LAUNCH_H

#include "launch/bracket.h"
#include "launch/replica.h"

/*
 * For each launch of a graph: whether the replica was launched. Otherwise the caller launches the
 * program's executable graph.
 */
bool ct_replica_launch(struct ct_bracket *b, const struct ct_work *w);
/* A launch without a bracket, of the program's executable graph, is about to be made. */
void ct_replica_unseen_launch(CUgraphExec exec, CUstream s);
/* A launch goes by without a look (pass.h). False: it must not, and has not been counted. */
bool ct_replica_pass_beside(CUgraphExec exec, const struct ct_stream *s);
static inline bool ct_replica_pass(CUgraphExec exec, const struct ct_stream *s)
{
    return ct_likely(!ct_replicas_are_on) || ct_replica_pass_beside(exec, s);
}

#endif
