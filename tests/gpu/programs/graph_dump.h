/* SPDX-License-Identifier: MIT */
/*
 * What a graph is, in one line: how many nodes of each type, how many edges, and a number that
 * stands for all of it: types, parameters and who depends on whom, whatever the order of the nodes.
 */
#ifndef GRAPH_DUMP_H
#define GRAPH_DUMP_H

#include "driver.h"

#define DUMP_NODES 2048
#define DUMP_TYPES 16

struct graph_dump {
    size_t nodes, edges, types[DUMP_TYPES];
    uint64_t sum;
};

static inline UNUSED struct graph_dump graph_look(CUgraph graph);

static inline UNUSED uint64_t dump_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static inline UNUSED uint64_t dump_text(uint64_t hash, const char *text)
{
    while (text && *text)
        hash = dump_mix(hash, (unsigned char)*text++);
    return hash;
}

static inline UNUSED uint64_t dump_kernel(uint64_t hash, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS p;
    const char *name = NULL;

    memset(&p, 0, sizeof(p));
    CHECK(cuGraphKernelNodeGetParams(node, &p));
    if (p.func)
        cuFuncGetName(&name, p.func);
    else
        cuKernelGetName(&name, p.kern);
    hash = dump_mix(dump_mix(dump_text(hash, name), p.gridDimX), p.gridDimY);
    return dump_mix(dump_mix(hash, p.blockDimX), p.sharedMemBytes);
}

/* What the node itself is, without what it depends on. */
static inline UNUSED uint64_t dump_content(CUgraphNode node, CUgraphNodeType type)
{
    uint64_t hash = dump_mix(1, (uint64_t)type);
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_MEMCPY3D copy;
    CUgraph child;

    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return dump_kernel(hash, node);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        CHECK(cuGraphMemsetNodeGetParams(node, &set));
        hash = dump_mix(dump_mix(hash, set.value), set.elementSize);
        return dump_mix(dump_mix(hash, set.width), set.height);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        CHECK(cuGraphMemcpyNodeGetParams(node, &copy));
        return dump_mix(dump_mix(hash, copy.WidthInBytes), copy.Height);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        CHECK(cuGraphChildGraphNodeGetGraph(node, &child));
        return dump_mix(hash, graph_look(child).sum);
    default:
        return hash;
    }
}

struct dump_work {
    CUgraphNode node[DUMP_NODES];
    uint64_t hash[DUMP_NODES]; /* 0: not known yet */
    size_t count;
};

static inline UNUSED uint64_t dump_of(const struct dump_work *w, CUgraphNode node)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->node[i] == node)
            return w->hash[i];
    return 0;
}

/* Over the nodes that it depends on as well, once all of those are known. */
static inline UNUSED uint64_t dump_node(struct graph_dump *d, const struct dump_work *w,
                                        CUgraphNode node)
{
    static __thread CUgraphNode from[DUMP_NODES];
    static __thread CUgraphEdgeData edge[DUMP_NODES];
    CUgraphNodeType type;
    size_t count = DUMP_NODES;
    uint64_t sum = 0;

    CHECK(cuGraphNodeGetDependencies(node, from, edge, &count));
    for (size_t i = 0; i < count; i++) {
        uint64_t one = dump_of(w, from[i]);

        if (!one)
            return 0;
        sum += dump_mix(one, (uint64_t)edge[i].type << 16 | edge[i].from_port);
    }
    CHECK(cuGraphNodeGetType(node, &type));
    d->types[type % DUMP_TYPES]++;
    d->edges += count;
    return dump_mix(dump_content(node, type), sum) | 1;
}

static inline UNUSED struct graph_dump graph_look(CUgraph graph)
{
    struct graph_dump d = {0};
    struct dump_work *w = (struct dump_work *)calloc(1, sizeof(*w));
    size_t known = 0, before;

    w->count = DUMP_NODES;
    CHECK(cuGraphGetNodes(graph, w->node, &w->count));
    do {
        before = known;
        for (size_t i = 0; i < w->count; i++)
            if (!w->hash[i] && (w->hash[i] = dump_node(&d, w, w->node[i]))) {
                d.sum += w->hash[i];
                known++;
            }
    } while (known > before);
    d.nodes = w->count;
    free(w);
    return d;
}

static inline UNUSED void graph_print(const char *what, CUgraph graph)
{
    struct graph_dump d = graph_look(graph);

    printf("%s: %zu nodes, %zu edges, types", what, d.nodes, d.edges);
    for (int i = 0; i < DUMP_TYPES; i++)
        if (d.types[i])
            printf(" %d*%zu", i, d.types[i]);
    printf(", sum %016llx\n", (unsigned long long)d.sum);
}

#endif
