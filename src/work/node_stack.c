/* SPDX-License-Identifier: MIT */
#include "work/node_stack.h"

#include <stdatomic.h>

#include "containers/directory.h"
#include "cutrace/format.h"
#include "state/note.h"
#include "work/graph_nodes.h"

CT_PROCESS_READ bool ct_node_stacks_are_on;

static CT_PROCESS struct ct_directory stacks; /* node -> stack */
static CT_PROCESS _Atomic int64_t count;

void ct_node_stacks_init(bool on)
{
    ct_node_stacks_are_on = on && ct_directory_init(&stacks, NULL);
}

uint32_t ct_node_stack_find(CUgraphNode node)
{
    uint64_t stack;
    return ct_directory_find(&stacks, (uintptr_t)node, &stack) ? (uint32_t)stack : 0;
}

static void put(CUgraphNode node, uint32_t before, uint32_t stack)
{
    bool has_room =
        before || atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) < CT_NODE_STACKS;
    if (has_room && ct_directory_put(&stacks, (uintptr_t)node, stack))
        return;
    if (!before)
        atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
    ct_note(CT_NOTE_WARNING, "Nodes of graphs that are in no Python stack: there are too many");
}

void ct_node_stack_put(CUgraphNode node, uint32_t stack)
{
    if (!ct_node_stacks_are_on || !node)
        return;
    uint32_t before = ct_node_stack_find(node);
    if (stack) {
        put(node, before, stack);
    } else if (before) {
        ct_directory_remove(&stacks, (uintptr_t)node, before);
        atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
    }
}

static void copy(CUgraph to, CUgraph from, uint32_t otherwise, unsigned depth);

static void copy_node(CUgraphNode to, CUgraphNode from, uint32_t otherwise, unsigned depth)
{
    uint32_t stack = from ? ct_node_stack_find(from) : 0;
    CUgraph child = ct_graph_child(to);
    stack = stack ? stack : otherwise;
    ct_node_stack_put(to, stack);
    if (child)
        copy(child, from ? ct_graph_child(from) : NULL, stack, depth + 1);
}

/* Pairs nodes by position: the driver keeps their order. */
static void copy(CUgraph to, CUgraph from, uint32_t otherwise, unsigned depth)
{
    struct ct_graph_nodes new, old;
    if (depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(to, &new))
        return;
    bool has_old = from && ct_graph_nodes_of(from, &old);
    bool are_pairs = has_old && old.count == new.count;
    for (size_t i = 0; i < new.count; i++)
        copy_node(new.node[i], are_pairs ? old.node[i] : NULL, otherwise, depth);
    if (has_old)
        ct_graph_nodes_free(&old);
    ct_graph_nodes_free(&new);
}

void ct_node_stacks_copied(CUgraph to, CUgraph from, uint32_t otherwise)
{
    if (ct_node_stacks_are_on && to)
        copy(to, from, otherwise, 0);
}

static void forget(CUgraph graph, unsigned depth);

static void forget_node(CUgraphNode node, unsigned depth)
{
    CUgraph child = ct_graph_child(node);
    ct_node_stack_put(node, 0);
    if (child)
        forget(child, depth + 1);
}

static void forget(CUgraph graph, unsigned depth)
{
    struct ct_graph_nodes n;
    if (depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(graph, &n))
        return;
    for (size_t i = 0; i < n.count; i++)
        forget_node(n.node[i], depth);
    ct_graph_nodes_free(&n);
}

void ct_node_stacks_forget(CUgraph graph)
{
    if (ct_node_stacks_are_on && graph)
        forget(graph, 0);
}

void ct_node_stacks_forget_node(CUgraphNode node)
{
    if (ct_node_stacks_are_on && node)
        forget_node(node, 0);
}
