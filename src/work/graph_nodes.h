/* SPDX-License-Identifier: MIT */
/* The nodes of a graph, which is only read. */
#ifndef CT_GRAPH_NODES_H
#define CT_GRAPH_NODES_H

#include "base/base.h"
#include "cuda/api.h"

#define CT_GRAPH_DEPTH 8 /* child graphs within each other that are looked into */

/* False: there are none, or they cannot be had. */
struct ct_graph_nodes {
    CUgraphNode *node;
    size_t count, bytes;
};
bool ct_graph_nodes_of(CUgraph graph, struct ct_graph_nodes *n);
void ct_graph_nodes_free(struct ct_graph_nodes *n);

/* The graph in a child graph's node; NULL: no such node. */
CUgraph ct_graph_child(CUgraphNode node);

#endif
