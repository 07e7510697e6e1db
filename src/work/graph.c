/* SPDX-License-Identifier: MIT */
#include "work/graph.h"

#include <stdatomic.h>

#include "base/text.h"
#include "containers/directory.h"
#include "containers/intern.h"
#include "counts/row.h"
#include "cutrace/format.h"
#include "state/context.h"
#include "state/note.h"
#include "state/renewal.h"
#include "system/mem.h"
#include "system/spin.h"
#include "work/graph_memory.h"
#include "work/graph_parts.h"
#include "work/node_stack.h"

/* Beyond these bounds further graphs that differ in stacks alone are one, and in no stack. */
#define GRAPHS_BY_STACK 1024
#define ALL_SPOTS 65536

#define UNKNOWN UINT32_MAX /* no topology: the graph could not be read, or there was no room */

struct graphs {
    struct ct_graph *graph[CT_GRAPHS];
    uint64_t key[CT_GRAPHS]; /* apart from the graphs, as all are looked through */
    _Atomic uint32_t count;
    _Atomic uint32_t spots;                      /* of all graphs */
    struct ct_spin lock;                         /* for adding a graph */
    _Atomic uint32_t updates;                    /* instantiations and updates of all graphs */
    _Atomic uint32_t row[CT_GRAPHS][CT_DEVICES]; /* + 1; 0: not known yet */
    struct ct_directory index;   /* executable graph -> its last update << 32 | topology */
    struct ct_directory changed; /* executable graph and node -> its change, and when */
};

static CT_PROCESS struct graphs *all;

/* Where room is out, changes of nodes are forgotten: the graph's own work counts instead. */
static bool forget_changes(uint64_t value)
{
    (void)value;
    return false;
}

bool ct_graphs_init(void)
{
    struct graphs *g = ct_map(sizeof(*g));
    if (!g || !ct_directory_init(&g->index, NULL) ||
        !ct_directory_init(&g->changed, forget_changes) || !ct_graph_memories_init())
        return false;
    all = g;
    return true;
}

uint32_t ct_graphs_count(void)
{
    return all ? atomic_load_explicit(&all->count, memory_order_acquire) : 0;
}

const struct ct_graph *ct_graph(uint32_t index)
{
    return all->graph[index];
}

/* ---- contents of a graph ---- */

static void find_memory(CUgraph graph, unsigned depth);

static void find_memory_of(CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    if (CT_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS)
        return;
    CUgraph child = type == CU_GRAPH_NODE_TYPE_GRAPH ? ct_graph_child(node) : NULL;
    if (child)
        find_memory(child, depth + 1);
    else if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        ct_graph_memory_add(node);
}

/* Before copies are looked at, as they may be of memory that any other node allocates. */
static void find_memory(CUgraph graph, unsigned depth)
{
    struct ct_graph_nodes n;
    if (depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(graph, &n))
        return;
    for (size_t i = 0; i < n.count; i++)
        find_memory_of(n.node[i], depth);
    ct_graph_nodes_free(&n);
}

static void add_nodes(struct ct_graph *g, CUgraph graph, unsigned depth);

static void add_node(struct ct_graph *g, CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    if (CT_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS)
        return;
    g->nodes++;
    g->hash += ((uint64_t)type + 1) * 0x9e3779b97f4a7c15u;
    g->bodies += type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
    CUgraph child = type == CU_GRAPH_NODE_TYPE_GRAPH ? ct_graph_child(node) : NULL;
    struct ct_graph_work w = ct_graph_work_of(node, type);
    if (child)
        add_nodes(g, child, depth + 1);
    else
        ct_graph_add_work(g, &w);
}

static void add_nodes(struct ct_graph *g, CUgraph graph, unsigned depth)
{
    struct ct_graph_nodes n;
    if (depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(graph, &n))
        return;
    for (size_t i = 0; i < n.count; i++)
        add_node(g, n.node[i], depth);
    ct_graph_nodes_free(&n);
}

static const char *ordinal_name(uint32_t ordinal)
{
    char digits[24];
    struct ct_text t = ct_text_in(digits, sizeof(digits));
    ct_text_add_u64(&t, ordinal);
    return ct_intern(digits, t.len);
}

/* Copies names: the program's may go with their module. */
static bool keep_names(struct ct_graph *g)
{
    for (uint32_t i = 0; i < g->parts; i++) {
        const char *name = g->part[i].work.name;
        if (name && !(g->part[i].work.name = ct_intern(name, ct_strnlen(name, CT_NAME_BYTES))))
            return false;
    }
    return true;
}

/* Hashes each part's sum of bytes: graphs with equal sums are one, whatever single copies have. */
static void measure(struct ct_graph *g)
{
    g->sizes = 0;
    for (uint32_t i = 0; !g->unsized && i < g->parts; i++)
        if (g->part[i].work.bytes)
            g->sizes += ct_graph_work_pack_hash(&g->part[i].work);
}

static bool is_known_as(const struct ct_graph *known, const struct ct_graph *g)
{
    return known->hash == g->hash && known->sizes == g->sizes && known->stacks == g->stacks &&
           known->nodes == g->nodes;
}

static uint64_t key_of_graph(const struct ct_graph *g)
{
    return g->hash + (g->sizes + g->stacks * 3) * 0x9e3779b97f4a7c15u + g->nodes;
}

/* Index among the first n; n: it is not there. Takes no lock. */
static uint32_t search(const struct ct_graph *g, uint32_t n)
{
    uint64_t key = key_of_graph(g);
    uint32_t i = 0;
    while (i < n && (all->key[i] != key || !is_known_as(all->graph[i], g)))
        i++;
    return i;
}

/* Drops the bytes: a program with copies of ever other sizes must not take all graphs' room. */
static void forget_sizes(struct ct_graph *g)
{
    g->unsized = g->sizes != 0;
    g->sizes = 0;
    for (uint32_t i = 0; i < g->parts; i++)
        g->part[i].work.bytes = 0;
}

/* Stacks must not take the room of graphs either. */
static bool has_room_for_stacks(const struct ct_graph *g, uint32_t n)
{
    return n < GRAPHS_BY_STACK &&
           atomic_load_explicit(&all->spots, memory_order_relaxed) + g->spots <= ALL_SPOTS;
}

/* Adds g as number n. False: there are more than n by now. */
static bool add(struct ct_graph *g, uint32_t n)
{
    ct_spin_lock(&all->lock);
    bool is_next = ct_graphs_count() == n;
    if (is_next) {
        all->graph[n] = g;
        all->key[n] = key_of_graph(g);
        atomic_fetch_add_explicit(&all->spots, g->spots, memory_order_relaxed);
        atomic_store_explicit(&all->count, n + 1, memory_order_release);
    }
    ct_spin_unlock(&all->lock);
    return is_next;
}

/* Index of a topology, with `g` taken over if it is new; UNKNOWN: no room. */
static uint32_t settle(struct ct_graph *g)
{
    uint32_t n, i;
    measure(g);
    do {
        n = ct_graphs_count();
        i = search(g, n);
        if (i == n && g->spots && !has_room_for_stacks(g, n)) {
            ct_graph_lose_stacks(g);
            i = search(g, n);
        }
        if (i == n && n >= CT_GRAPHS_BY_SIZE && g->sizes) {
            forget_sizes(g);
            i = search(g, n);
        }
        if (i < n)
            return i;
        if (n == CT_GRAPHS || !keep_names(g) || !(g->name = ordinal_name(n + 1)))
            return UNKNOWN;
    } while (!add(g, n));
    return n;
}

static void keep_index(CUgraphExec exec, uint64_t updates, uint32_t index)
{
    uint64_t before;
    bool is_same =
        ct_directory_find(&all->index, (uintptr_t)exec, &before) && (uint32_t)before == index;
    ct_directory_put(&all->index, (uintptr_t)exec, updates << 32 | index);
    if (!is_same)
        ct_pass_renew();
}

/* Makes g, or an equal topology met before, that of an executable graph. Takes g over. */
static void assign(CUgraphExec exec, uint64_t updates, struct ct_graph *g)
{
    uint32_t index = settle(g);
    bool kept = index != UNKNOWN && all->graph[index] == g;
    if (index == UNKNOWN)
        ct_note(CT_NOTE_WARNING, "Graphs in which nothing is counted: there are too many kinds");
    keep_index(exec, updates, index);
    if (!kept)
        ct_graph_free(g);
}

/* NULL: the graph cannot be read, or there is no memory. */
static struct ct_graph *read_graph(CUgraph graph)
{
    CUstreamCaptureMode mode;
    if (!CT_HAS(cuGraphGetNodes) || !CT_HAS(cuGraphNodeGetType) || !ct_relaxed_enter(&mode))
        return NULL;
    struct ct_graph *g = ct_map(sizeof(*g));
    if (g) {
        find_memory(graph, 0);
        add_nodes(g, graph, 0);
    }
    ct_relaxed_leave(mode);
    return g;
}

/* The handle may have been another graph's: that no longer counts. */
void ct_graph_instantiated(CUgraphExec exec, CUgraph graph)
{
    if (!all || !exec)
        return;
    struct ct_graph *g = read_graph(graph);
    uint32_t updates = atomic_fetch_add_explicit(&all->updates, 1, memory_order_relaxed) + 1;
    if (g) {
        assign(exec, updates, g);
    } else {
        ct_note(CT_NOTE_WARNING, "Graphs in which nothing is counted: they cannot be read");
        keep_index(exec, updates, UNKNOWN);
    }
}

void ct_graph_gone(CUgraphExec exec)
{
    uint64_t value;
    if (all && exec && ct_directory_find(&all->index, (uintptr_t)exec, &value))
        ct_directory_remove(&all->index, (uintptr_t)exec, value);
}

/* ---- copies that the driver makes ---- */

static void give_stacks(CUgraph graph, struct ct_graph *left, uint32_t otherwise, unsigned depth);

/* Nodes that do the same are not told apart: their sums are right either way. */
static void give_stack(CUgraphNode node, struct ct_graph *left, uint32_t otherwise, unsigned depth)
{
    CUgraphNodeType type;
    if (CT_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS)
        return;
    CUgraph child = type == CU_GRAPH_NODE_TYPE_GRAPH ? ct_graph_child(node) : NULL;
    struct ct_graph_work w = ct_graph_work_of(node, type);
    uint32_t stack = ct_graph_take_stack(left, &w);
    ct_node_stack_put(node, stack ? stack : otherwise);
    if (child)
        give_stacks(child, left, otherwise, depth + 1);
}

static void give_stacks(CUgraph graph, struct ct_graph *left, uint32_t otherwise, unsigned depth)
{
    struct ct_graph_nodes n;
    if (depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(graph, &n))
        return;
    for (size_t i = 0; i < n.count; i++)
        give_stack(n.node[i], left, otherwise, depth);
    ct_graph_nodes_free(&n);
}

void ct_graph_copied(CUgraphExec exec, CUgraph copy, uint32_t otherwise)
{
    uint64_t value;
    CUstreamCaptureMode mode;
    bool is_known = all && copy && ct_directory_find(&all->index, (uintptr_t)exec, &value) &&
                    (uint32_t)value != UNKNOWN;
    struct ct_graph *left = is_known ? ct_graph_copy(ct_graph((uint32_t)value)) : NULL;
    if (!left || !ct_relaxed_enter(&mode)) {
        ct_node_stacks_copied(copy, NULL, otherwise);
    } else {
        give_stacks(copy, left, otherwise, 0);
        ct_relaxed_leave(mode);
    }
    if (left)
        ct_graph_free(left);
}

/* ---- changes of executable graphs ---- */

/* A change of an executable graph, from one topology to another. */
struct change {
    CUgraphExec exec;
    uint64_t updates;
    uint32_t index;         /* the topology before */
    struct ct_graph *graph; /* the topology after; NULL: unchanged */
    CUstreamCaptureMode mode;
};

static bool begin_change(struct change *c, CUgraphExec exec)
{
    uint64_t value;
    if (!all || !ct_directory_find(&all->index, (uintptr_t)exec, &value) ||
        (uint32_t)value == UNKNOWN || !ct_relaxed_enter(&c->mode))
        return false;
    c->exec = exec;
    c->updates = value >> 32;
    c->index = (uint32_t)value;
    c->graph = NULL;
    return true;
}

static void end_change(struct change *c)
{
    ct_relaxed_leave(c->mode);
    if (c->graph)
        assign(c->exec, c->updates, c->graph);
}

/* The copy to be changed: changes of addresses alone, the most, need none. NULL: no memory. */
static struct ct_graph *begun(struct change *c)
{
    if (!c->graph)
        c->graph = ct_graph_copy(ct_graph(c->index));
    return c->graph;
}

/*
 * Facts about a node. A fact counts if it is of the last instantiation or update, whose number is
 * no part of the key: programs update without end.
 */
enum { GIVEN, GIVEN_AT, SWITCHED };

static uint64_t key_of(const struct change *c, CUgraphNode node, unsigned what)
{
    return ((uintptr_t)c->exec * 0x9e3779b97f4a7c15u + (uintptr_t)node) << 2 | what;
}

static void keep(const struct change *c, CUgraphNode node, unsigned what, uint64_t value)
{
    ct_directory_put(&all->changed, key_of(c, node, what), value);
}

static bool find(const struct change *c, CUgraphNode node, unsigned what, uint64_t *value)
{
    return ct_directory_find(&all->changed, key_of(c, node, what), value);
}

static uint64_t switched(const struct change *c, bool on)
{
    return c->updates << 1 | !on;
}

static bool is_off(const struct change *c, CUgraphNode node)
{
    uint64_t known;
    return find(c, node, SWITCHED, &known) && known == switched(c, false);
}

static struct ct_graph_work original(CUgraphNode node)
{
    CUgraphNodeType type;
    if (CT_REAL(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS)
        return (struct ct_graph_work){0};
    return ct_graph_work_of(node, type);
}

/*
 * A node's work now: that given to it since the last instantiation or update, else the graph's,
 * which a change of the executable graph does not touch.
 */
static struct ct_graph_work current(const struct change *c, CUgraphNode node)
{
    uint64_t at, given;
    if (!find(c, node, GIVEN_AT, &at) || at != c->updates || !find(c, node, GIVEN, &given))
        return original(node);
    struct ct_graph_work w = ct_graph_work_unpack(given);
    w.stack = w.kind ? ct_node_stack(node) : 0;
    return w;
}

static void give(struct change *c, CUgraphNode node, struct ct_graph_work now)
{
    struct ct_graph_work old = current(c, node);
    if (ct_graph_work_is(&old, &now))
        return;
    if (now.name && !(now.name = ct_intern(now.name, ct_strnlen(now.name, CT_NAME_BYTES))))
        return;
    now.stack = now.kind ? ct_node_stack(node) : 0;
    if (!is_off(c, node) && begun(c)) {
        ct_graph_remove_work(c->graph, &old);
        ct_graph_add_work(c->graph, &now);
    }
    keep(c, node, GIVEN, ct_graph_work_pack(&now));
    keep(c, node, GIVEN_AT, c->updates);
}

void ct_graph_node_set(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *p)
{
    struct change c;
    if (!begin_change(&c, exec))
        return;
    give(&c, node, ct_graph_work_with(p));
    end_change(&c);
}

static void give_all(struct change *c, CUgraph from, CUgraph to, unsigned depth);

static void give_pair(struct change *c, CUgraphNode from, CUgraphNode to, unsigned depth)
{
    CUgraph child = ct_graph_child(from), other = ct_graph_child(to);
    if (child && other)
        give_all(c, child, other, depth + 1);
    else
        give(c, from, original(to));
}

/* Pairs nodes by position: the driver wants those of both graphs in one order. */
static void give_all(struct change *c, CUgraph from, CUgraph to, unsigned depth)
{
    struct ct_graph_nodes old, new;
    if (depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(from, &old))
        return;
    if (ct_graph_nodes_of(to, &new)) {
        for (size_t i = 0; i < ct_min(old.count, new.count); i++)
            give_pair(c, old.node[i], new.node[i], depth);
        ct_graph_nodes_free(&new);
    }
    ct_graph_nodes_free(&old);
}

void ct_graph_child_set(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    struct change c;
    if (!begin_change(&c, exec))
        return;
    CUgraph original = ct_graph_child(node);
    if (original) {
        find_memory(child, 0);
        give_all(&c, original, child, 0);
    }
    end_change(&c);
}

/* A node that is switched off stays a node, and does nothing. */
void ct_graph_node_switched(CUgraphExec exec, CUgraphNode node, bool on)
{
    struct change c;
    if (!begin_change(&c, exec))
        return;
    struct ct_graph_work w = current(&c, node);
    if (w.kind && on == is_off(&c, node) && begun(&c)) {
        if (on)
            ct_graph_add_work(c.graph, &w);
        else
            ct_graph_remove_work(c.graph, &w);
        keep(&c, node, SWITCHED, switched(&c, on));
    }
    end_change(&c);
}

uint32_t ct_graph_row(CUgraphExec exec, uint32_t device)
{
    uint64_t index;
    if (!exec || !ct_directory_find(&all->index, (uintptr_t)exec, &index) ||
        (uint32_t)index == UNKNOWN)
        return ct_row_get(CT_ROW_GRAPH, 0, device, "");
    _Atomic uint32_t *known = &all->row[(uint32_t)index][device];
    uint32_t row = atomic_load_explicit(known, memory_order_acquire);
    if (ct_likely(row))
        return row - 1;
    const struct ct_graph *g = ct_graph((uint32_t)index);
    row = ct_row_get(CT_ROW_GRAPH, g->nodes, device, g->name);
    atomic_store_explicit(known, row + 1, memory_order_release);
    return row;
}
