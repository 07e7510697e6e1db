/* SPDX-License-Identifier: MIT */
/* Graphs: nodes, copies of graphs, and what the calls tell of them. */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>

CUgraph sim_graph_new(void)
{
    return sim_take(SIM_GRAPH);
}

static void node_free(CUgraphNode n)
{
    free(n->dependencies);
    sim_work_drop(&n->work);
    if (n->child)
        sim_graph_free(n->child);
    sim_node_bodies_free(n);
    sim_give(SIM_NODE, n);
}

void sim_graph_free(CUgraph g)
{
    for (CUgraphNode n = g->first, next; n; n = next) {
        next = n->next;
        node_free(n);
    }
    sim_give(SIM_GRAPH, g);
}

CUgraphNode sim_node_add(CUgraph g, CUgraphNodeType type, const struct sim_nodes *dependencies)
{
    CUgraphNode n = sim_take(SIM_NODE), *at = &g->first;
    n->graph = g;
    n->type = type;
    n->dependencies = sim_nodes_join(dependencies, NULL);
    while (*at)
        at = &(*at)->next;
    *at = n;
    return n;
}

static CUgraphNode clone_of(CUgraph g, CUgraphNode original)
{
    CUgraphNode n = g->first;
    while (n && n->original != original)
        n = n->next;
    return n;
}

CUgraph sim_graph_clone(CUgraph g)
{
    CUgraph c = sim_graph_new();
    for (CUgraphNode n = g->first; n; n = n->next) {
        CUgraphNode m = sim_node_add(c, n->type, n->dependencies);
        m->original = n;
        m->work = sim_work_clone(&n->work);
        m->child = n->child ? sim_graph_clone(n->child) : NULL;
        if (m->child)
            m->child->owned_by_node = true;
        m->copy = n->copy;
        m->set = n->set;
    }
    for (CUgraphNode m = c->first; m; m = m->next)
        for (size_t i = 0; i < m->dependencies->count; i++)
            m->dependencies->node[i] = clone_of(c, m->dependencies->node[i]);
    return c;
}

size_t sim_graph_count(CUgraph g)
{
    size_t count = 0;
    for (CUgraphNode n = g->first; n; n = n->next)
        count++;
    return count;
}

static bool is_ready(CUgraphNode n)
{
    for (size_t i = 0; i < n->dependencies->count; i++)
        if (!n->dependencies->node[i]->visited)
            return false;
    return !n->visited;
}

size_t sim_graph_order(CUgraph g, CUgraphNode *out, size_t room)
{
    size_t count = 0;
    bool again = true;
    for (CUgraphNode n = g->first; n; n = n->next)
        n->visited = false;
    while (again) {
        again = false;
        for (CUgraphNode n = g->first; n && count < room; n = n->next)
            if (is_ready(n)) {
                n->visited = again = true;
                out[count++] = n;
            }
    }
    return count == room ? count : 0;
}

/* ---- making ---- */

CUresult sim_cuGraphCreate(CUgraph *out, unsigned int flags)
{
    if (!out || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_graph_new();
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphDestroy(CUgraph g)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    if (r == CUDA_SUCCESS && g->owned_by_node)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        sim_graph_free(g);
    return r;
}

CUresult sim_cuGraphClone(CUgraph *out, CUgraph g)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    if (r == CUDA_SUCCESS && sim_graph_has_condition(g))
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r == CUDA_SUCCESS)
        *out = sim_graph_clone(g);
    return r;
}

static CUresult add(CUgraphNode *out, CUgraph g, CUgraphNodeType type, const CUgraphNode *from,
                    size_t count, struct sim_work w)
{
    CUresult r = out ? sim_check(SIM_GRAPH, g) : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        if (sim_check(SIM_NODE, from[i]) != CUDA_SUCCESS || from[i]->graph != g)
            r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_nodes *dependencies = sim_nodes_of(from, count);
    *out = sim_node_add(g, type, dependencies);
    (*out)->work = w;
    free(dependencies);
    return CUDA_SUCCESS;
}

static struct sim_launch shape_of(const CUDA_KERNEL_NODE_PARAMS *p)
{
    return (struct sim_launch){.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                               .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                               .shared_bytes = p->sharedMemBytes};
}

CUresult sim_kernel_of_node(const CUDA_KERNEL_NODE_PARAMS *p, struct sim_work *out)
{
    CUfunction f = p->func ? p->func : (CUfunction)p->kern;
    return sim_kernel_work(f, shape_of(p), p->kernelParams, p->extra, out);
}

CUresult sim_cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                     size_t count, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct sim_work w;
    CUresult r = p ? sim_kernel_of_node(p, &w) : CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? add(out, g, CU_GRAPH_NODE_TYPE_KERNEL, from, count, w) : r;
}

static CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS q;
    memset(&q, 0, sizeof(q));
    memcpy(&q, p, sizeof(*p));
    return q;
}

CUresult sim_cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                  size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS q = newer(p);
    return sim_cuGraphAddKernelNode_v2(out, g, from, count, &q);
}

static CUresult add_content(CUgraphNode *out, CUgraph g, const CUgraphNode *from, size_t count,
                            CUresult r, struct sim_content *c)
{
    if (r == CUDA_SUCCESS && c->child)
        r = sim_check(SIM_GRAPH, c->child);
    if (r == CUDA_SUCCESS && c->child && sim_graph_has_condition(c->child))
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r == CUDA_SUCCESS)
        r = add(out, g, c->type, from, count, c->work);
    if (r != CUDA_SUCCESS)
        return r;
    (*out)->copy = c->copy;
    (*out)->set = c->set;
    if (c->condition && (r = sim_node_condition(*out, c->condition)) != CUDA_SUCCESS) {
        sim_cuGraphDestroyNode(*out);
        return r;
    }
    if (c->child) {
        (*out)->child = sim_graph_clone(c->child);
        (*out)->child->owned_by_node = true;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                  size_t count, const CUDA_MEMCPY3D *p, CUcontext context)
{
    struct sim_content c = {0};
    (void)context;
    return add_content(out, g, from, count, sim_content_of_copy(p, &c), &c);
}

CUresult sim_cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                  size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
    struct sim_content c = {0};
    (void)context;
    return add_content(out, g, from, count, sim_content_of_set(p, &c), &c);
}

CUresult sim_cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from, size_t count,
                                const CUDA_HOST_NODE_PARAMS *p)
{
    struct sim_content c = {0};
    return add_content(out, g, from, count, sim_content_of_host(p, &c), &c);
}

CUresult sim_cuGraphAddNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from, size_t count,
                            CUgraphNodeParams *p)
{
    struct sim_content c = {0};
    return add_content(out, g, from, count, sim_content_of(p, &c), &c);
}

CUresult sim_cuGraphAddNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                               const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *p)
{
    (void)edges;
    return sim_cuGraphAddNode(out, g, from, count, p);
}

CUresult sim_cuGraphAddNode_v3(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                               const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *p)
{
    return sim_cuGraphAddNode_v2(out, g, from, edges, count, p);
}

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from, size_t count)
{
    return add(out, g, CU_GRAPH_NODE_TYPE_EMPTY, from, count, (struct sim_work){0});
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                      size_t count, CUgraph child)
{
    struct sim_content c = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = child};
    return add_content(out, g, from, count, sim_check(SIM_GRAPH, child), &c);
}

CUresult sim_cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                       size_t count, CUevent e)
{
    struct sim_content c = {0};
    CUresult r = sim_content_of_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, e, &c);
    return add_content(out, g, from, count, r, &c);
}

CUresult sim_cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                     size_t count, CUevent e)
{
    struct sim_content c = {0};
    CUresult r = sim_content_of_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, e, &c);
    return add_content(out, g, from, count, r, &c);
}

static bool depends_on(CUgraphNode n, CUgraphNode on)
{
    for (size_t i = 0; i < n->dependencies->count; i++)
        if (n->dependencies->node[i] == on)
            return true;
    return false;
}

static void remove_from(struct sim_nodes *nodes, CUgraphNode n)
{
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->node[i] != n)
            nodes->node[kept++] = nodes->node[i];
    nodes->count = kept;
}

CUresult sim_cuGraphDestroyNode(CUgraphNode n)
{
    CUresult r = sim_check(SIM_NODE, n);
    if (r != CUDA_SUCCESS)
        return r;
    CUgraphNode *at = &n->graph->first;
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    for (CUgraphNode m = n->graph->first; m; m = m->next)
        remove_from(m->dependencies, n);
    node_free(n);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t count)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        if (sim_check(SIM_NODE, from[i]) || sim_check(SIM_NODE, to[i]) || from[i]->graph != g ||
            to[i]->graph != g || depends_on(to[i], from[i]))
            return CUDA_ERROR_INVALID_VALUE;
        struct sim_nodes *one = sim_nodes_of(&from[i], 1), *before = to[i]->dependencies;
        to[i]->dependencies = sim_nodes_join(before, one);
        free(before);
        free(one);
    }
    return r;
}

CUresult sim_cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                       const CUgraphEdgeData *edges, size_t count)
{
    (void)edges;
    return sim_cuGraphAddDependencies(g, from, to, count);
}

CUresult sim_cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                       size_t count)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        r = sim_check(SIM_NODE, to[i]);
        if (r == CUDA_SUCCESS && (to[i]->graph != g || !depends_on(to[i], from[i])))
            r = CUDA_ERROR_INVALID_VALUE;
        if (r == CUDA_SUCCESS)
            remove_from(to[i]->dependencies, from[i]);
    }
    return r;
}

CUresult sim_cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *edges, size_t count)
{
    (void)edges;
    return sim_cuGraphRemoveDependencies(g, from, to, count);
}
