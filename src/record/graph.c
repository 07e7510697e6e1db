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
    struct ct_table index; /* executable graph -> updates of it << 32 | topology */
    struct ct_table named; /* executable graph and node -> name of the kernel it was given */
};

static struct graphs *all;

bool ct_graphs_init(void)
{
    struct graphs *g = ct_map(sizeof(*g));
    if (!g || !ct_table_init(&g->index, 15) || !ct_table_init(&g->named, 14))
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

/* Sums commute: the order of nodes is not defined. */
static uint64_t hash_of_kernel(const char *name)
{
    return ct_hash_text(name) | 1;
}

static void add_kernel(struct ct_graph *g, const char *name)
{
    g->hash += hash_of_kernel(name);
    for (uint32_t i = 0; i < g->kernels; i++) {
        if (ct_streq(g->kernel[i].name, name)) {
            g->kernel[i].count++;
            return;
        }
    }
    if (g->kernels < CT_GRAPH_KERNELS)
        g->kernel[g->kernels++] = (struct ct_graph_kernel){name, 1};
}

static void remove_kernel(struct ct_graph *g, const char *name)
{
    g->hash -= hash_of_kernel(name);
    for (uint32_t i = 0; i < g->kernels; i++)
        if (ct_streq(g->kernel[i].name, name) && !--g->kernel[i].count)
            g->kernel[i] = g->kernel[--g->kernels];
}

/* The kernel a node was made with; NULL: it is no kernel node, or nameless. */
static const char *original_name(CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    if (!CT_HAS(cuGraphKernelNodeGetParams_v2) ||
        CT_REAL(cuGraphKernelNodeGetParams_v2)(node, &p) != CUDA_SUCCESS)
        return NULL;
    return ct_kernel_name(p.func ? p.func : (CUfunction)p.kern);
}

static void add_nodes(struct ct_graph *g, CUgraph graph, unsigned depth);

static void add_node(struct ct_graph *g, CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    if (CT_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS)
        return;
    g->nodes++;
    g->hash += ((uint64_t)type + 1) * 0x9e3779b97f4a7c15u;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const char *name = original_name(node);
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

/* Makes g, or the same topology met before, that of an executable graph. */
static void assign(CUgraphExec exec, uint64_t updates, struct ct_graph *g)
{
    ct_spin_lock(&all->lock);
    uint32_t index = settle(g);
    bool kept = index != UINT32_MAX && all->graph[index] == g;
    ct_spin_unlock(&all->lock);
    if (index != UINT32_MAX)
        ct_table_put(&all->index, (uintptr_t)exec, updates << 32 | index);
    if (!kept)
        ct_unmap(g, sizeof(*g));
}

void ct_graph_instantiated(CUgraphExec exec, CUgraph graph)
{
    struct ct_graph *g = all && exec ? ct_map(sizeof(*g)) : NULL;
    if (!g)
        return;
    if (!CT_HAS(cuGraphGetNodes) || !CT_HAS(cuGraphNodeGetType)) {
        ct_unmap(g, sizeof(*g));
        return;
    }
    CUstreamCaptureMode mode = ct_relaxed_enter();
    add_nodes(g, graph, 0);
    ct_relaxed_leave(mode);
    uint64_t before = 0;
    ct_table_find(&all->index, (uintptr_t)exec, &before);
    assign(exec, (before >> 32) + 1, g);
}

/*
 * The kernel of a node now: the one it was given since the last instantiation or update, else the
 * graph's, which a change of the executable graph does not touch.
 */
static const char *current_name(uint64_t key, CUgraphNode node)
{
    uint64_t given;
    if (ct_table_find(&all->named, key, &given))
        return (const char *)(uintptr_t)given;
    return original_name(node);
}

void ct_graph_node_set(CUgraphExec exec, CUgraphNode node, CUfunction f)
{
    uint64_t value;
    if (!all || !ct_table_find(&all->index, (uintptr_t)exec, &value))
        return;
    uint64_t key = ((uintptr_t)exec * 31 + (uintptr_t)node) * 31 + (value >> 32);
    CUstreamCaptureMode mode = ct_relaxed_enter();
    const char *old = current_name(key, node), *new = ct_kernel_name(f);
    ct_relaxed_leave(mode);
    if (!old || !new || ct_streq(old, new))
        return;
    struct ct_graph *g = ct_map(sizeof(*g));
    const char *copy = ct_intern(new, ct_strlen(new));
    if (!g || !copy)
        return;
    *g = *ct_graph((uint32_t)value);
    remove_kernel(g, old);
    add_kernel(g, copy);
    assign(exec, value >> 32, g);
    ct_table_put(&all->named, key, (uintptr_t)copy);
}

uint32_t ct_graph_row(CUgraphExec exec, uint32_t device)
{
    uint64_t index;
    if (!exec || !ct_table_find(&all->index, (uintptr_t)exec, &index))
        return ct_row_get(CT_ROW_GRAPH, 0, device, "");
    const struct ct_graph *g = ct_graph((uint32_t)index);
    return ct_row_get(CT_ROW_GRAPH, g->nodes, device, g->name);
}
