/* SPDX-License-Identifier: MIT */
/*
 * CUDA graphs: a launch is one operation, with a row for each topology (nodes and their work), so
 * that a program which instantiates one graph again and again has one row for it.
 */
#ifndef CT_GRAPH_H
#define CT_GRAPH_H

#include "base/base.h"
#include "cuda/api.h"
#include "work/graph_nodes.h"
#include "work/graph_work.h"

#define CT_GRAPHS 4096
#define CT_GRAPHS_BY_SIZE 3072 /* more graphs than that are not told apart by bytes */
#define CT_GRAPH_KERNELS 256   /* kinds of kernels in a graph; all others are one more */
#define CT_GRAPH_PARTS (CT_GRAPH_KERNELS + 1 + CT_DIRECTION_COUNT + 1)
#define CT_GRAPH_SPOTS 4096 /* pairs of part and stack; nodes of others are in no stack */

/* Nodes that are a kernel of one name, a copy in one direction, or a set. */
struct ct_graph_part {
    struct ct_graph_work work; /* the name interned, the bytes those of all nodes */
    uint64_t count;            /* nodes */
};

/* Nodes of a part that are from one stack. Those of a part that are in none are in no spot. */
struct ct_graph_spot {
    uint32_t part; /* index */
    uint32_t stack;
    uint64_t count;
};

/* A topology. Never changes once it can be seen. */
struct ct_graph {
    uint64_t hash; /* without bytes; sizes: of these by part, 0: not counted */
    uint64_t sizes;
    uint64_t stacks; /* likewise of stacks */
    bool unsized;
    const char *name; /* ordinal among the topologies, from 1, as text */
    uint32_t nodes;   /* child graphs' included, not those in bodies of conditional nodes */
    uint32_t bodies;  /* conditional nodes: the work in their bodies is not known */
    uint32_t parts;
    uint32_t spots;
    struct ct_graph_spot *spot; /* CT_GRAPH_SPOTS; NULL: no node is in a stack */
    struct ct_graph_part part[CT_GRAPH_PARTS];
};

bool ct_graphs_init(void);

uint32_t ct_graphs_count(void);
const struct ct_graph *ct_graph(uint32_t index);

/*
 * The program has instantiated a graph, or updated an executable one from it. Reads the graph;
 * changes nothing in it.
 */
void ct_graph_instantiated(CUgraphExec exec, CUgraph graph);
/* The program is about to destroy an executable graph. */
void ct_graph_gone(CUgraphExec exec);

/*
 * The program has launched an executable graph into a capture: the driver has made a copy of its
 * nodes, which are from the same stacks, and those of which nothing is known from `otherwise`.
 */
void ct_graph_copied(CUgraphExec exec, CUgraph copy, uint32_t otherwise);

/* The program has given a node of an executable graph other parameters. */
void ct_graph_node_set(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *p);

/* The program has replaced a child graph in it, or switched a node of it on or off. */
void ct_graph_child_set(CUgraphExec exec, CUgraphNode node, CUgraph child);
void ct_graph_node_switched(CUgraphExec exec, CUgraphNode node, bool on);

/* The row for launches of an executable graph. */
uint32_t ct_graph_row(CUgraphExec exec, uint32_t device);

#endif
