/* SPDX-License-Identifier: MIT */
/*
 * The work of one node of a graph, as far as it is counted: a kernel, a copy or a set. Nodes that
 * allocate, free, wait, record, write single values, call the host or do nothing are no work.
 */
#ifndef CT_GRAPH_WORK_H
#define CT_GRAPH_WORK_H

#include "base/base.h"
#include "cuda/api.h"
#include "cutrace/format.h"

struct ct_graph_work {
    uint32_t kind;    /* CT_ROW_KERNEL, _COPY or _SET; 0: not counted */
    uint32_t detail;  /* copies: enum ct_direction */
    const char *name; /* kernels: the program's, which may go with its module, or interned */
    uint64_t bytes;   /* copies and sets, not 0 */
    uint32_t stack;   /* that the node is from (node_stack.h), no part of the work; 0: none */
};

/*
 * The work of a node, which is only read, and of parameters for one. With the thread's capture mode
 * relaxed, as the driver may be asked about addresses.
 */
struct ct_graph_work ct_graph_work_of(CUgraphNode node, CUgraphNodeType type);
struct ct_graph_work ct_graph_work_with(const CUgraphNodeParams *p);

/* Its name; copies of one direction, and sets, have one text each, which is always the same. */
const char *ct_graph_work_name(const struct ct_graph_work *w);

/* The function of a kernel node. */
static inline CUfunction ct_function_of(const CUgraphNodeParams *p)
{
    return p->kernel.func ? p->kernel.func : (CUfunction)p->kernel.kern;
}

/* Work as one word, without its stack, different for different work; equal names must be one
 * interned text. */
uint64_t ct_graph_work_pack(const struct ct_graph_work *w);
struct ct_graph_work ct_graph_work_unpack(uint64_t packed);

bool ct_graph_work_is(const struct ct_graph_work *a, const struct ct_graph_work *b);
/* Hashes of work without its bytes, and of the packed word. */
uint64_t ct_graph_work_hash(const struct ct_graph_work *w);
uint64_t ct_graph_work_pack_hash(const struct ct_graph_work *w);

#endif
