/* SPDX-License-Identifier: MIT */
/*
 * What a graph comes to when it is instantiated: its nodes in order, child graphs and the bodies of
 * conditional nodes in their place, between two nodes of no work: the first waits for what the node
 * waited for, the second is what others wait for. A condition's value is known by then: it is the
 * default of its handle, less one for each kernel `countdown*` with the handle as its argument that
 * has run.
 */
#include "driver/model.h"

#include <stdlib.h>

#define MOST_HANDLES 64
#define MOST_NODES 100000
#define NO_NODE SIZE_MAX

/* A handle is its own description: a number above the default value. */
CUresult sim_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph g, CUcontext c,
                                            unsigned int value, unsigned int flags)
{
    static uint64_t last;
    CUresult r = out && flags <= CU_GRAPH_COND_ASSIGN_DEFAULT ? sim_check(SIM_GRAPH, g)
                                                              : CUDA_ERROR_INVALID_VALUE;
    (void)c;
    if (r == CUDA_SUCCESS)
        *out = ++last << 32 | value;
    return r;
}

CUresult sim_node_condition(CUgraphNode n, CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    unsigned most = p->type == CU_GRAPH_COND_TYPE_WHILE ? 1
                    : p->type == CU_GRAPH_COND_TYPE_IF  ? 2
                                                        : UINT16_MAX;
    if (!p->handle || !p->size || p->size > most)
        return CUDA_ERROR_INVALID_VALUE;
    n->condition = *p;
    n->condition.phGraph_out = calloc(p->size, sizeof(CUgraph));
    for (unsigned i = 0; i < p->size; i++) {
        n->condition.phGraph_out[i] = sim_graph_new();
        n->condition.phGraph_out[i]->owned_by_node = true;
    }
    p->phGraph_out = n->condition.phGraph_out;
    return CUDA_SUCCESS;
}

void sim_node_bodies_free(CUgraphNode n)
{
    for (unsigned i = 0; n->condition.phGraph_out && i < n->condition.size; i++)
        sim_graph_free(n->condition.phGraph_out[i]);
    free(n->condition.phGraph_out);
}

bool sim_graph_has_condition(CUgraph g)
{
    for (CUgraphNode n = g->first; n; n = n->next)
        if (n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ||
            (n->child && sim_graph_has_condition(n->child)))
            return true;
    return false;
}

struct unfolding {
    CUgraphExec exec;
    unsigned handles;
    struct {
        CUgraphConditionalHandle handle;
        unsigned value;
    } handle[MOST_HANDLES];
};

static unsigned *value_of(struct unfolding *u, CUgraphConditionalHandle handle)
{
    unsigned i = 0;
    while (i < u->handles && u->handle[i].handle != handle)
        i++;
    if (i == u->handles && i < MOST_HANDLES) {
        u->handle[u->handles].handle = handle;
        u->handle[u->handles++].value = (unsigned)handle;
    }
    return &u->handle[i % MOST_HANDLES].value;
}

/* What a device can launch by itself, and what the body of a conditional node may have in it. */
static bool is_plain(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_GRAPH;
}

static bool is_bodily(CUgraphNodeType type)
{
    return is_plain(type) || type == CU_GRAPH_NODE_TYPE_EMPTY ||
           type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/* `start`: the node of the exec that the graph's first ones wait for. */
static CUresult unfold(struct unfolding *u, CUgraph g, bool in_body, size_t start);

/* Returns false where there are too many. */
static bool add(CUgraphExec e, struct sim_exec_node n)
{
    if (e->count == MOST_NODES)
        return false;
    n.enabled = true;
    e->nodes = realloc(e->nodes, (e->count + 1) * sizeof(*e->nodes));
    e->nodes[e->count++] = n;
    return true;
}

/* Of the node that was added last. */
static void wait_for(CUgraphExec e, size_t first, size_t count)
{
    struct sim_exec_node *n = &e->nodes[e->count - 1];
    n->after = realloc(n->after, (n->after_count + count) * sizeof(*n->after));
    for (size_t i = 0; i < count; i++)
        n->after[n->after_count++] = first + i;
}

static void wait_for_dependencies(CUgraphExec e, CUgraphNode n, size_t start)
{
    for (size_t i = 0; i < n->dependencies->count; i++)
        wait_for(e, n->dependencies->node[i]->place, 1);
    if (!n->dependencies->count && start != NO_NODE)
        wait_for(e, start, 1);
}

static CUresult add_leaf(struct unfolding *u, CUgraphNode n, size_t start)
{
    CUgraphExec e = u->exec;
    if (n->work.kind == SIM_WORK_KERNEL && sim_name_starts(n->work.name, "countdown")) {
        unsigned *value = value_of(u, n->work.launch.argument);
        *value -= *value > 0;
    }
    struct sim_exec_node x = {.node = n, .type = n->type, .work = sim_work_clone(&n->work)};
    if (!add(e, x)) {
        sim_work_drop(&x.work);
        return CUDA_ERROR_INVALID_VALUE;
    }
    wait_for_dependencies(e, n, start);
    return CUDA_SUCCESS;
}

/* A node of no work: the exec's nodes from `first` on are behind one, and before the next. */
static bool add_joint(CUgraphExec e)
{
    return add(e, (struct sim_exec_node){.type = CU_GRAPH_NODE_TYPE_EMPTY});
}

static CUresult unfold_enclosed(struct unfolding *u, CUgraph g, bool in_body)
{
    CUgraphExec e = u->exec;
    size_t start = e->count - 1;
    CUresult r = unfold(u, g, in_body, start);
    if (r != CUDA_SUCCESS || !add_joint(e))
        return r ? r : CUDA_ERROR_INVALID_VALUE;
    wait_for(e, start, e->count - 1 - start);
    return CUDA_SUCCESS;
}

static CUresult unfold_condition(struct unfolding *u, const CUDA_CONDITIONAL_NODE_PARAMS *c)
{
    CUresult r = CUDA_SUCCESS;
    unsigned *value = value_of(u, c->handle), body = *value;
    if (c->type == CU_GRAPH_COND_TYPE_WHILE) {
        for (size_t before; r == CUDA_SUCCESS && *value;) {
            before = u->exec->count;
            r = unfold_enclosed(u, c->phGraph_out[0], true);
            if (r == CUDA_SUCCESS && u->exec->count == before + 1)
                r = CUDA_ERROR_INVALID_VALUE; /* it would never end */
        }
        return r;
    }
    if (c->type == CU_GRAPH_COND_TYPE_IF)
        body = body ? 0 : 1;
    return body < c->size ? unfold_enclosed(u, c->phGraph_out[body], true) : r;
}

static CUresult unfold_group(struct unfolding *u, CUgraphNode n, bool in_body, size_t start)
{
    if (!add_joint(u->exec))
        return CUDA_ERROR_INVALID_VALUE;
    wait_for_dependencies(u->exec, n, start);
    return n->child ? unfold_enclosed(u, n->child, in_body) : unfold_condition(u, &n->condition);
}

static CUresult unfold_node(struct unfolding *u, CUgraphNode n, bool in_body, size_t start)
{
    bool on_device = u->exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if ((in_body && !is_bodily(n->type)) || (on_device && !is_plain(n->type)))
        return CUDA_ERROR_NOT_SUPPORTED;
    bool is_group = n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL || n->child;
    CUresult r = is_group ? unfold_group(u, n, in_body, start) : add_leaf(u, n, start);
    n->place = u->exec->count - 1;
    return r;
}

static CUresult unfold(struct unfolding *u, CUgraph g, bool in_body, size_t start)
{
    size_t count = sim_graph_count(g);
    CUgraphNode *order = calloc(count + 1, sizeof(CUgraphNode));
    CUresult r =
        sim_graph_order(g, order, count) == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        r = unfold_node(u, order[i], in_body, start);
    free(order);
    return r;
}

/* A graph that is captured to is none yet. */
static bool is_captured_to(CUgraph g)
{
    for (struct sim_capture *c = sim_captures; c; c = c->next)
        if (c->graph == g)
            return true;
    return false;
}

CUresult sim_unfold(CUgraph g, CUgraphExec e)
{
    struct unfolding u = {.exec = e};
    return is_captured_to(g) ? CUDA_ERROR_INVALID_VALUE : unfold(&u, g, false, NO_NODE);
}
