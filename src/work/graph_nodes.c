/* SPDX-License-Identifier: MIT */
#include "work/graph_nodes.h"

#include "state/ask.h"
#include "system/mem.h"

CUgraph ct_graph_child(CUgraphNode node)
{
    CUgraph child;
    if (!CT_HAS(cuGraphChildGraphNodeGetGraph) ||
        CT_ASK(cuGraphChildGraphNodeGetGraph, node, &child) != CUDA_SUCCESS)
        return NULL;
    return child;
}

void ct_graph_nodes_free(struct ct_graph_nodes *n)
{
    ct_unmap(n->node, n->bytes);
}

bool ct_graph_nodes_of(CUgraph graph, struct ct_graph_nodes *n)
{
    n->count = 0;
    if (CT_ASK(cuGraphGetNodes, graph, NULL, &n->count) != CUDA_SUCCESS || !n->count)
        return false;
    n->bytes = n->count * sizeof(*n->node);
    n->node = ct_map(n->bytes);
    if (n->node && CT_ASK(cuGraphGetNodes, graph, n->node, &n->count) == CUDA_SUCCESS)
        return true;
    if (n->node)
        ct_graph_nodes_free(n);
    return false;
}
