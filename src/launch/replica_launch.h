/* SPDX-License-Identifier: MIT */
/* Launches of graphs that may have a replica (replica.h). Launching thread. */
#ifndef CT_REPLICA_LAUNCH_H
#define CT_REPLICA_LAUNCH_H

#include "launch/bracket.h"
#include "launch/replica.h"

/*
 * Each launch of a graph: whether it has been made, as the replica's. Otherwise the program's is to
 * be made.
 */
bool ct_replica_launch(struct ct_bracket *b, const struct ct_work *w);
/* The same of a launch that nothing is known of, and that is the program's. */
void ct_replica_unseen_launch(CUgraphExec exec, CUstream s);
/* And of the program's that goes by without a look. False: it may not, and has not been counted. */
bool ct_replica_pass_beside(CUgraphExec exec, const struct ct_stream *s);
static inline bool ct_replica_pass(CUgraphExec exec, const struct ct_stream *s)
{
    return ct_likely(!ct_replicas_are_on) || ct_replica_pass_beside(exec, s);
}

#endif
