/* SPDX-License-Identifier: MIT */
/*
 * Event nodes around the kernels of a graph: what was before what still is, each kernel has one
 * event node right before it and one right behind, and the last one is behind everything.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "case_main.h"
#include "fake_driver.h"
#include "launch/replica.h"
#include "launch/replica_make.h"
#include "state/context.h"

#define NODES 256
#define EDGES 4096

/* A graph of the driver's. Handles are addresses in it. */
static struct {
    struct {
        CUgraphNodeType type;
        CUevent event;
    } node[NODES];
    size_t nodes;
    struct {
        size_t from, to;
        bool says_more; /* as that of a programmatic launch */
    } edge[EDGES];
    size_t edges;
    bool instantiated;
} g;

static char events[4096];
static size_t events_made;
static struct ct_context *context;

static CUgraphNode handle(size_t i)
{
    return (CUgraphNode)(void *)&g.node[i];
}

static size_t index_of(CUgraphNode n)
{
    size_t i = (size_t)((char *)(void *)n - (char *)(void *)g.node) / sizeof(g.node[0]);
    ct_assert_uint(i, <, g.nodes);
    return i;
}

static size_t add_node(CUgraphNodeType type)
{
    ck_assert_uint_lt(g.nodes, NODES);
    g.node[g.nodes].type = type;
    g.node[g.nodes].event = NULL;
    return g.nodes++;
}

static void add_edge(size_t from, size_t to, bool says_more)
{
    ck_assert_uint_lt(g.edges, EDGES);
    g.edge[g.edges].from = from;
    g.edge[g.edges].to = to;
    g.edge[g.edges++].says_more = says_more;
}

static bool is_edge(size_t from, size_t to)
{
    for (size_t i = 0; i < g.edges; i++)
        if (g.edge[i].from == from && g.edge[i].to == to)
            return true;
    return false;
}

/* ---- the driver's functions ---- */

static CUresult fake_nodes(CUgraph graph, CUgraphNode *out, size_t *count)
{
    (void)graph;
    for (size_t i = 0; out && i < *count; i++)
        out[i] = handle(i);
    *count = g.nodes;
    return CUDA_SUCCESS;
}

static CUresult fake_roots(CUgraph graph, CUgraphNode *out, size_t *count)
{
    (void)graph;
    ck_assert_ptr_null(out);
    *count = g.nodes;
    for (size_t i = 0; i < g.nodes; i++)
        for (size_t e = 0; e < g.edges; e++)
            if (g.edge[e].to == i) {
                --*count;
                break;
            }
    return CUDA_SUCCESS;
}

static CUresult fake_type(CUgraphNode n, CUgraphNodeType *out)
{
    *out = g.node[index_of(n)].type;
    return CUDA_SUCCESS;
}

static CUresult neighbours(size_t of, bool before, CUgraphNode *out, size_t *count)
{
    size_t found = 0;
    for (size_t i = 0; i < g.edges; i++) {
        if ((before ? g.edge[i].to : g.edge[i].from) != of)
            continue;
        if (g.edge[i].says_more)
            return CUDA_ERROR_LOSSY_QUERY;
        if (out)
            out[found] = handle(before ? g.edge[i].from : g.edge[i].to);
        found++;
    }
    *count = found;
    return CUDA_SUCCESS;
}

static CUresult fake_dependencies(CUgraphNode n, CUgraphNode *out, CUgraphEdgeData *data,
                                  size_t *count)
{
    ck_assert_ptr_null(data);
    return neighbours(index_of(n), true, out, count);
}

static CUresult fake_dependents(CUgraphNode n, CUgraphNode *out, CUgraphEdgeData *data,
                                size_t *count)
{
    ck_assert_ptr_null(data);
    return neighbours(index_of(n), false, out, count);
}

static CUresult fake_add(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                         const CUgraphEdgeData *data, size_t count)
{
    (void)graph;
    (void)data;
    for (size_t i = 0; i < count; i++)
        add_edge(index_of(from[i]), index_of(to[i]), false);
    return CUDA_SUCCESS;
}

static CUresult fake_remove(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                            const CUgraphEdgeData *data, size_t count)
{
    (void)graph;
    (void)data;
    ck_assert_uint_eq(count, 1);
    for (size_t i = 0; i < g.edges; i++)
        if (g.edge[i].from == index_of(*from) && g.edge[i].to == index_of(*to)) {
            g.edge[i] = g.edge[--g.edges];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_record(CUgraphNode *out, CUgraph graph, const CUgraphNode *from, size_t count,
                            CUevent event)
{
    (void)graph;
    size_t node = add_node(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    g.node[node].event = event;
    for (size_t i = 0; i < count; i++)
        add_edge(index_of(from[i]), node, false);
    *out = handle(node);
    return CUDA_SUCCESS;
}

static CUresult fake_params(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS *p)
{
    p->func = (CUfunction)(void *)n;
    return CUDA_SUCCESS;
}

static CUresult fake_name(const char **name, CUfunction f)
{
    static const char *const names[] = {"even", "odd"};
    *name = names[index_of((CUgraphNode)(void *)f) % 2];
    return CUDA_SUCCESS;
}

static CUresult fake_instantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    *out = (CUgraphExec)(void *)graph;
    return g.instantiated ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fake_exec_destroy(CUgraphExec exec)
{
    ck_assert_ptr_nonnull(exec);
    return CUDA_SUCCESS;
}

static cuuint64_t exec_flags;

static CUresult fake_flags(CUgraphExec exec, cuuint64_t *out)
{
    (void)exec;
    *out = exec_flags;
    return CUDA_SUCCESS;
}

static CUresult fake_event(CUevent *out, unsigned flags)
{
    ck_assert_uint_eq(flags, CU_EVENT_DEFAULT);
    ck_assert_uint_lt(events_made, sizeof(events));
    *out = (CUevent)(void *)&events[events_made++];
    return CUDA_SUCCESS;
}

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)(void *)events;
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    ct_config.events = 4096;
    fake_context(fake_current);
    FAKE(cuGraphGetNodes, fake_nodes);
    FAKE(cuGraphGetRootNodes, fake_roots);
    FAKE(cuGraphNodeGetType, fake_type);
    FAKE(cuGraphNodeGetDependencies_v2, fake_dependencies);
    FAKE(cuGraphNodeGetDependentNodes_v2, fake_dependents);
    FAKE(cuGraphAddDependencies_v2, fake_add);
    FAKE(cuGraphRemoveDependencies_v2, fake_remove);
    FAKE(cuGraphAddEventRecordNode, fake_record);
    FAKE(cuGraphKernelNodeGetParams_v2, fake_params);
    FAKE(cuGraphInstantiateWithFlags, fake_instantiate);
    FAKE(cuGraphExecDestroy, fake_exec_destroy);
    FAKE(cuGraphExecGetFlags, fake_flags);
    FAKE(cuFuncGetName, fake_name);
    FAKE(cuEventCreate, fake_event);
    ct_config.graph_nodes = 1;
    ck_assert(ct_contexts_init());
    ck_assert(ct_replicas_init());
    context = ct_context_get((CUcontext)(void *)events);
    ck_assert_ptr_nonnull(context);
    g.nodes = g.edges = 0;
    g.instantiated = true;
    exec_flags = 0;
}

/* ---- what must hold ---- */

static bool reach[NODES][NODES];

static void find_reach(void)
{
    memset(reach, 0, sizeof(reach));
    for (size_t i = 0; i < g.edges; i++)
        reach[g.edge[i].from][g.edge[i].to] = true;
    for (size_t k = 0; k < g.nodes; k++)
        for (size_t i = 0; i < g.nodes; i++)
            for (size_t j = 0; j < g.nodes; j++)
                reach[i][j] |= reach[i][k] && reach[k][j];
}

static size_t record_of(uint32_t event)
{
    size_t found = NODES;
    for (size_t i = 0; i < g.nodes; i++)
        if (g.node[i].event == ct_event(context, event)) {
            ck_assert_uint_eq(found, NODES); /* recorded once */
            found = i;
        }
    ck_assert_uint_lt(found, NODES);
    return found;
}

static size_t count_of(size_t node, bool before)
{
    size_t n = 0;
    for (size_t i = 0; i < g.edges; i++)
        n += (before ? g.edge[i].to : g.edge[i].from) == node;
    return n;
}

/* The kernel between two event nodes. */
static size_t kernel_between(const struct ct_replica_node *n)
{
    size_t start = record_of(n->start_event), stop = record_of(n->stop_event);
    for (size_t k = 0; k < g.nodes; k++)
        if (g.node[k].type == CU_GRAPH_NODE_TYPE_KERNEL && is_edge(start, k) && is_edge(k, stop)) {
            ck_assert_uint_eq(count_of(k, true), 1);
            ck_assert_uint_eq(count_of(k, false), 1);
            ck_assert_str_eq(n->name, k % 2 ? "odd" : "even");
            return k;
        }
    ck_abort_msg("no kernel between two event nodes");
    return 0;
}

static bool make(struct ct_replica_body *b, enum ct_replica_loss *why)
{
    return ct_replica_make(b, (CUgraph)(void *)&g, 0, context, &context->events.returned, why);
}

static bool beside[NODES]; /* by kernel, as the last check() found it */

static void check(size_t kernels, enum ct_replica_loss expected)
{
    static bool before[NODES][NODES], seen[NODES];
    size_t originals = g.nodes, count;
    struct ct_replica_body b;
    enum ct_replica_loss why;
    find_reach();
    memcpy(before, reach, sizeof(before));
    ck_assert(make(&b, &why));
    ck_assert_int_eq(why, expected);
    find_reach();
    for (size_t i = 0; i < originals; i++)
        for (size_t j = 0; j < originals; j++)
            ck_assert_msg(before[i][j] == reach[i][j], "%zu and %zu", i, j);
    const struct ct_replica_node *node = ct_replica_nodes(&b, &count);
    ck_assert_uint_eq(count, kernels);
    memset(seen, 0, sizeof(seen));
    for (size_t i = 0; i < count; i++) {
        size_t k = kernel_between(&node[i]);
        ck_assert(!seen[k]);
        seen[k] = true;
        beside[k] = node[i].beside;
    }
    size_t done = record_of(b.done_event);
    for (size_t i = 0; i < g.nodes; i++)
        ck_assert_msg(i == done || reach[i][done], "%zu is not before the end", i);
    ct_replica_unmake(&b, context, &context->events.returned);
}

static size_t nodes_of_type(CUgraphNodeType type)
{
    size_t n = 0;
    for (size_t i = 0; i < g.nodes; i++)
        n += g.node[i].type == type;
    return n;
}

/* ---- graphs ---- */

/* As the header draws it, one before the beginning, and one behind the end. */
START_TEST(one_behind_the_other)
{
    for (size_t i = 0; i < 4; i++) {
        add_node(i == 1 || i == 2 ? CU_GRAPH_NODE_TYPE_KERNEL : CU_GRAPH_NODE_TYPE_MEMSET);
        if (i)
            add_edge(i - 1, i, false);
    }
    check(2, CT_REPLICA_LOSS_COUNT);
    ck_assert_uint_eq(nodes_of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD), 5);
}
END_TEST

START_TEST(kernels_alone_share_event_nodes)
{
    for (size_t i = 0; i < 10; i++) {
        add_node(CU_GRAPH_NODE_TYPE_KERNEL);
        if (i)
            add_edge(i - 1, i, false);
    }
    check(10, CT_REPLICA_LOSS_COUNT);
    ck_assert_uint_eq(nodes_of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD), 11);
    for (size_t i = 0; i < 10; i++)
        ck_assert(!beside[i]);
}
END_TEST

START_TEST(fork_and_join)
{
    for (size_t i = 0; i < 5; i++)
        add_node(CU_GRAPH_NODE_TYPE_KERNEL);
    for (size_t i = 1; i < 4; i++) {
        add_edge(0, i, false);
        add_edge(i, 4, false);
    }
    check(5, CT_REPLICA_LOSS_COUNT);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(beside[i], i > 0 && i < 4);
}
END_TEST

/* Of any order of nodes, kernels or not, with any edges. */
START_TEST(any_graph)
{
    static size_t place[NODES];
    size_t kernels = 0, n = 2 + (size_t)_i % 24;
    srand((unsigned)_i);
    for (size_t i = 0; i < n; i++) {
        bool kernel = rand() % 3;
        add_node(kernel ? CU_GRAPH_NODE_TYPE_KERNEL : CU_GRAPH_NODE_TYPE_MEMCPY);
        kernels += kernel;
        place[i] = i;
    }
    for (size_t i = n; --i;) {
        size_t j = (size_t)rand() % (i + 1), was = place[i];
        place[i] = place[j];
        place[j] = was;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (rand() % 4 == 0)
                add_edge(place[i], place[j], false);
    if (kernels)
        check(kernels, CT_REPLICA_LOSS_COUNT);
}
END_TEST

/* What begins before another one has ended goes without. */
START_TEST(programmatic_edges_stay)
{
    for (size_t i = 0; i < 5; i++) {
        add_node(CU_GRAPH_NODE_TYPE_KERNEL);
        if (i)
            add_edge(i - 1, i, i == 2);
    }
    check(3, CT_REPLICA_LOST_PROGRAMMATIC);
    ck_assert(is_edge(1, 2));
}
END_TEST

/* ---- where there is none ---- */

static void check_none(enum ct_replica_loss expected)
{
    struct ct_replica_body b;
    enum ct_replica_loss why;
    ck_assert(!make(&b, &why));
    ck_assert_int_eq(why, expected);
    ck_assert_ptr_null(b.nodes.data);
    ck_assert_ptr_null(b.events.data);
}

START_TEST(no_kernels)
{
    add_node(CU_GRAPH_NODE_TYPE_MEMSET);
    check_none(CT_REPLICA_LOSS_COUNT);
}
END_TEST

/* Each time the same: the events of those before have come back. */
START_TEST(no_memory)
{
    for (unsigned i = 0; i < 500; i++) {
        g.nodes = g.edges = 0;
        for (size_t k = 0; k < 20; k++)
            add_node(CU_GRAPH_NODE_TYPE_KERNEL);
        g.instantiated = false;
        check_none(CT_REPLICA_LOST_REFUSED);
    }
    ck_assert_uint_le(events_made, 128);
}
END_TEST

START_TEST(no_events)
{
    context->events.pool[CT_EVENT_TIMED].limit = 64;
    for (size_t k = 0; k < 40; k++)
        add_node(CU_GRAPH_NODE_TYPE_KERNEL);
    check_none(CT_REPLICA_LOST_EVENTS);
    g.nodes = 5;
    g.edges = 0;
    check(5, CT_REPLICA_LOSS_COUNT);
}
END_TEST

static void check_look(CUgraphNodeType type, enum ct_replica_loss expected)
{
    unsigned flags;
    g.nodes = 0;
    add_node(CU_GRAPH_NODE_TYPE_KERNEL);
    add_node(type);
    ck_assert_int_eq(ct_replica_look(NULL, (CUgraph)(void *)&g, &flags), expected);
}

START_TEST(nodes_that_forbid_it)
{
    check_look(CU_GRAPH_NODE_TYPE_MEMCPY, CT_REPLICA_LOSS_COUNT);
    check_look(CU_GRAPH_NODE_TYPE_MEM_ALLOC, CT_REPLICA_LOST_MEMORY);
    check_look(CU_GRAPH_NODE_TYPE_MEM_FREE, CT_REPLICA_LOST_MEMORY);
    check_look(CU_GRAPH_NODE_TYPE_CONDITIONAL, CT_REPLICA_LOST_CONDITION);
    exec_flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    check_look(CU_GRAPH_NODE_TYPE_MEMCPY, CT_REPLICA_LOST_DEVICE);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("replica");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, one_behind_the_other);
    tcase_add_test(t, kernels_alone_share_event_nodes);
    tcase_add_test(t, fork_and_join);
    tcase_add_loop_test(t, any_graph, 0, 100);
    tcase_add_test(t, programmatic_edges_stay);
    tcase_add_test(t, no_kernels);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, no_events);
    tcase_add_test(t, nodes_that_forbid_it);
    return ct_case_main("unit_replica", t);
}
