/* SPDX-License-Identifier: MIT */
/*
 * From where nodes of graphs were launched or added: a stack's number (stacks.h) by node, from the
 * capture on. Any thread; a node belongs to the thread that uses its graph.
 */
#ifndef CT_NODE_STACK_H
#define CT_NODE_STACK_H

#include "base/base.h"
#include "cuda/api.h"

#define CT_NODE_STACKS 65536 /* nodes of graphs that are not destroyed; others are in no stack */

extern bool ct_node_stacks_are_on; /* set once, before the first launch */

void ct_node_stacks_init(bool on);

/* 0: it is in none. */
CT_NOINLINE uint32_t ct_node_stack_find(CUgraphNode node);

static inline uint32_t ct_node_stack(CUgraphNode node)
{
    return ct_unlikely(ct_node_stacks_are_on) ? ct_node_stack_find(node) : 0;
}

/* Also 0, which a new node needs where one of before had its handle. */
void ct_node_stack_put(CUgraphNode node, uint32_t stack);

/*
 * The nodes of `to` get the stacks of the graph that it was copied from, and `otherwise` where
 * these have none, as have those of a graph that is not known (NULL).
 */
void ct_node_stacks_copied(CUgraph to, CUgraph from, uint32_t otherwise);

/* Before a graph or a node is destroyed. */
void ct_node_stacks_forget(CUgraph graph);
void ct_node_stacks_forget_node(CUgraphNode node);

#endif
