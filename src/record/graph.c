/* SPDX-License-Identifier: MIT */
#include "record/graph.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/spin.h"
#include "base/table.h"
#include "base/text.h"
#include "cutrace/format.h"
#include "record/context.h"
#include "record/kernel.h"
#include "record/row.h"

#define CHILD_DEPTH 8

struct graphs {
    struct ct_graph *graph[CT_GRAPHS];
    _Atomic uint32_t count;
    struct ct_spin lock; /* for adding */
    struct ct_table index; /* executable graph -> topology */
};

static struct graphs *all;

bool ct_graphs_init(void)
{
    struct graphs *g = ct_map(sizeof(*g));
    if (!g || !ct_table_init(&g->index, 15))
        return false;
    all = g;
    return true;
}

void ct_graphs_forget(void)
{
    all = NULL;
}

uint32_t ct_graphs_count(void)
{
    return all ? atomic_load_explicit(&all->count, memory_order_acquire) : 0;
}

const struct ct_graph *ct_graph(uint32_t index)
{
    return all->graph[index];
}

static void add_kernel(struct ct_graph *g, const char *name)
{
    g->hash += ct_hash_text(name) | 1; /* commutes: the order of nodes is not defined */
    for (uint32_t i = 0; i < g->kernels; i++) {
        if (ct_streq(g->kernel[i].name, name)) {
            g->kernel[i].count++;
            return;
        }
    }
    if (g->kernels < CT_GRAPH_KERNELS)
        g->kernel[g->kernels++] = (struct ct_graph_kernel){name, 1};
}

static void add_nodes(struct ct_graph *g, CUgraph graph, unsigned depth);

static void add_node(struct ct_graph *g, CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    if (CT_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS)
        return;
    g->nodes++;
    g->hash += ((uint64_t)type + 1) * 0x9e3779b97f4a7c15u;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL && CT_HAS(cuGraphKernelNodeGetParams_v2)) {
        CUDA_KERNEL_NODE_PARAMS p = {0};
        if (CT_REAL(cuGraphKernelNodeGetParams_v2)(node, &p) != CUDA_SUCCESS)
            return;
        const char *name = ct_kernel_name(p.func ? p.func : (CUfunction)p.kern);
        if (name)
            add_kernel(g, name);
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH && CT_HAS(cuGraphChildGraphNodeGetGraph)) {
        CUgraph child;
        if (CT_REAL(cuGraphChildGraphNodeGetGraph)(node, &child) == CUDA_SUCCESS)
            add_nodes(g, child, depth + 1);
    }
}

static void add_nodes(struct ct_graph *g, CUgraph graph, unsigned depth)
{
    size_t count = 0;
    if (depth > CHILD_DEPTH || CT_REAL(cuGraphGetNodes)(graph, NULL, &count) != CUDA_SUCCESS)
        return;
    CUgraphNode *nodes = count ? ct_map(count * sizeof(*nodes)) : NULL;
    if (!nodes)
        return;
    size_t bytes = count * sizeof(*nodes);
    if (CT_REAL(cuGraphGetNodes)(graph, nodes, &count) == CUDA_SUCCESS)
        for (size_t i = 0; i < count; i++)
            add_node(g, nodes[i], depth);
    ct_unmap(nodes, bytes);
}

/* Names become ours: the program's may go with their module. */
static bool keep_names(struct ct_graph *g, uint32_t ordinal)
{
    char digits[24];
    struct ct_text t = ct_text_in(digits, sizeof(digits));
    ct_text_add_u64(&t, ordinal);
    g->name = ct_intern(digits, t.len);
    for (uint32_t i = 0; i < g->kernels; i++) {
        g->kernel[i].name = ct_intern(g->kernel[i].name, ct_strlen(g->kernel[i].name));
        if (!g->kernel[i].name)
            return false;
    }
    return g->name != NULL;
}

/* Index of a topology, with `g` taken over if it is new; UINT32_MAX: no room. */
static uint32_t settle(struct ct_graph *g)
{
    uint32_t n = ct_graphs_count(), i = 0;
    while (i < n && (all->graph[i]->hash != g->hash || all->graph[i]->nodes != g->nodes))
        i++;
    if (i < n)
        return i;
    if (n == CT_GRAPHS || !keep_names(g, n + 1))
        return UINT32_MAX;
    all->graph[n] = g;
    atomic_store_explicit(&all->count, n + 1, memory_order_release);
    return n;
}

void ct_graph_instantiated(CUgraphExec exec, CUgraph graph)
{
    struct ct_graph *g = all && exec ? ct_map(sizeof(*g)) : NULL;
    if (!g || !CT_HAS(cuGraphGetNodes) || !CT_HAS(cuGraphNodeGetType)) {
        ct_unmap(g, sizeof(*g));
        return;
    }
    CUstreamCaptureMode mode = ct_relaxed_enter();
    add_nodes(g, graph, 0);
    ct_relaxed_leave(mode);
    ct_spin_lock(&all->lock);
    uint32_t index = settle(g);
    bool kept = index != UINT32_MAX && all->graph[index] == g;
    ct_spin_unlock(&all->lock);
    if (index != UINT32_MAX)
        ct_table_put(&all->index, (uintptr_t)exec, index);
    if (!kept)
        ct_unmap(g, sizeof(*g));
}

uint32_t ct_graph_row(CUgraphExec exec, uint32_t device)
{
    uint64_t index;
    if (!exec || !ct_table_find(&all->index, (uintptr_t)exec, &index))
        return ct_row_get(CT_ROW_GRAPH, 0, device, "");
    const struct ct_graph *g = ct_graph((uint32_t)index);
    return ct_row_get(CT_ROW_GRAPH, g->nodes, device, g->name);
}
