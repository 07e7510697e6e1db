/* SPDX-License-Identifier: MIT */
/*
 * Memory that graphs allocate. Its addresses are settled when a graph is made, but the driver does
 * not tell them before the graph's first launch. The latest ranges are kept, the oldest go first.
 */
#ifndef CT_GRAPH_MEMORY_H
#define CT_GRAPH_MEMORY_H

#include "base/base.h"
#include "cuda/api.h"

#define CT_GRAPH_MEMORIES 512

bool ct_graph_memories_init(void);

/* Keeps the range of a node of CU_GRAPH_NODE_TYPE_MEM_ALLOC. In relaxed capture mode. */
void ct_graph_memory_add(CUgraphNode node);
/* *device: the device of graph memory at p. False: no graph that was read allocates it. */
bool ct_graph_memory_find(CUdeviceptr p, int *device);

#endif
