/* SPDX-License-Identifier: MIT */
#include "work/node_stack.h"

#include "cutrace/format.h"
#include "state/note.h"
#include "system/mem.h"
#include "system/spin.h"
#include "work/graph_nodes.h"

/* An entry: a node's handle, and its stack. 0: it is free. */
#define STACK_BITS 16
#define SLOTS ((uint64_t)CT_NODE_STACKS / 3 * 4)

CT_PROCESS_READ bool ct_node_stacks_are_on;

static CT_PROCESS uint64_t *entries; /* each before the first free slot from its home on */
static CT_PROCESS uint32_t count;
static CT_PROCESS struct ct_spin lock; /* for both */

void ct_node_stacks_init(bool on)
{
    ct_node_stacks_are_on = on && (entries = ct_map(SLOTS * sizeof(*entries)));
}

static uint64_t home_of(uint64_t handle)
{
    uint64_t hash = handle * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 32;
    return hash * SLOTS >> 32;
}

static uint64_t after(uint64_t slot)
{
    return slot + 1 < SLOTS ? slot + 1 : 0;
}

static uint64_t distance(uint64_t from, uint64_t to)
{
    return to >= from ? to - from : to + SLOTS - from;
}

/* Its slot, or the free one where it belongs. Under the lock, as the next ones. */
static uint64_t slot_of(uint64_t handle)
{
    uint64_t i = home_of(handle);
    while (entries[i] && entries[i] >> STACK_BITS != handle)
        i = after(i);
    return i;
}

/* Entries behind it that are not at home move up. */
static void empty(uint64_t hole)
{
    count--;
    for (uint64_t i = after(hole); entries[i]; i = after(i)) {
        uint64_t home = home_of(entries[i] >> STACK_BITS);
        if (distance(home, i) < distance(hole, i))
            continue;
        entries[hole] = entries[i];
        hole = i;
    }
    entries[hole] = 0;
}

static bool put(uint64_t handle, uint32_t stack)
{
    uint64_t i = slot_of(handle);
    if (!stack) {
        if (entries[i])
            empty(i);
        return true;
    }
    if (!entries[i] && count == CT_NODE_STACKS)
        return false;
    count += !entries[i];
    entries[i] = handle << STACK_BITS | stack;
    return true;
}

static bool fits(uint64_t handle, uint32_t stack)
{
    return handle < (uint64_t)1 << (64 - STACK_BITS) && stack < 1 << STACK_BITS;
}

uint32_t ct_node_stack_find(CUgraphNode node)
{
    uint64_t handle = (uintptr_t)node;
    if (!fits(handle, 0))
        return 0;
    ct_spin_lock(&lock);
    uint64_t entry = entries[slot_of(handle)];
    ct_spin_unlock(&lock);
    return (uint32_t)(entry & ((1 << STACK_BITS) - 1));
}

void ct_node_stack_put(CUgraphNode node, uint32_t stack)
{
    uint64_t handle = (uintptr_t)node;
    if (!ct_node_stacks_are_on || !node)
        return;
    bool is_there = false;
    if (fits(handle, stack)) {
        ct_spin_lock(&lock);
        is_there = put(handle, stack);
        ct_spin_unlock(&lock);
    }
    if (!is_there)
        ct_note(CT_NOTE_WARNING, "Nodes of graphs that are in no stack: there are too many");
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
