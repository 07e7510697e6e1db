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
        m->event = n->event;
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
    if (r == CUDA_SUCCESS)
        sim_graph_free(g);
    return r;
}

CUresult sim_cuGraphClone(CUgraph *out, CUgraph g)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    if (r == CUDA_SUCCESS)
        *out = sim_graph_clone(g);
    return r;
}

static CUresult add(CUgraphNode *out, CUgraph g, CUgraphNodeType type, const CUgraphNode *from,
                    size_t count, struct sim_work w)
{
    CUresult r = out ? sim_check(SIM_GRAPH, g) : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        r = sim_check(SIM_NODE, from[i]);
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

CUresult sim_cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                  size_t count, const CUDA_MEMCPY3D *p, CUcontext context)
{
    struct sim_work w;
    (void)context;
    CUresult r = p ? sim_copy_of_node(p, &w) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = add(out, g, CU_GRAPH_NODE_TYPE_MEMCPY, from, count, w);
    if (r == CUDA_SUCCESS)
        (*out)->copy = *p;
    return r;
}

CUresult sim_cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                  size_t count, const CUDA_MEMSET_NODE_PARAMS *p,
                                  CUcontext context)
{
    (void)context;
    if (!p || !p->dst || !p->width || !p->height)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work w =
        sim_set_work(p->dst, p->pitch, p->value, p->elementSize, p->width, p->height);
    CUresult r = add(out, g, CU_GRAPH_NODE_TYPE_MEMSET, from, count, w);
    if (r == CUDA_SUCCESS)
        (*out)->set = *p;
    return r;
}

CUresult sim_cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from, size_t count,
                                const CUDA_HOST_NODE_PARAMS *p)
{
    if (!p || !p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_work w = {.kind = SIM_WORK_HOST, .host = {.function = p->fn, .data = p->userData}};
    return add(out, g, CU_GRAPH_NODE_TYPE_HOST, from, count, w);
}

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                 size_t count)
{
    return add(out, g, CU_GRAPH_NODE_TYPE_EMPTY, from, count, (struct sim_work){0});
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                      size_t count, CUgraph child)
{
    CUresult r = sim_check(SIM_GRAPH, child);
    if (r == CUDA_SUCCESS)
        r = add(out, g, CU_GRAPH_NODE_TYPE_GRAPH, from, count, (struct sim_work){0});
    if (r == CUDA_SUCCESS) {
        (*out)->child = sim_graph_clone(child);
        (*out)->child->owned_by_node = true;
    }
    return r;
}

static CUresult add_event(CUgraphNode *out, CUgraph g, CUgraphNodeType type,
                          const CUgraphNode *from, size_t count, CUevent e)
{
    CUresult r = sim_check(SIM_EVENT, e);
    if (r == CUDA_SUCCESS)
        r = add(out, g, type, from, count, (struct sim_work){0});
    if (r == CUDA_SUCCESS)
        (*out)->event = e;
    return r;
}

CUresult sim_cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                       size_t count, CUevent e)
{
    return add_event(out, g, CU_GRAPH_NODE_TYPE_EVENT_RECORD, from, count, e);
}

CUresult sim_cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *from,
                                     size_t count, CUevent e)
{
    return add_event(out, g, CU_GRAPH_NODE_TYPE_WAIT_EVENT, from, count, e);
}

CUresult sim_cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t count)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
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

/* ---- questions ---- */

CUresult sim_cuGraphGetNodes(CUgraph g, CUgraphNode *out, size_t *count)
{
    CUresult r = count ? sim_check(SIM_GRAPH, g) : CUDA_ERROR_INVALID_VALUE;
    size_t i = 0;
    if (r != CUDA_SUCCESS)
        return r;
    for (CUgraphNode n = g->first; out && n && i < *count; n = n->next)
        out[i++] = n;
    *count = out ? i : sim_graph_count(g);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetRootNodes(CUgraph g, CUgraphNode *out, size_t *count)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    size_t i = 0;
    for (CUgraphNode n = r ? NULL : g->first; n; n = n->next)
        if (!n->dependencies->count) {
            if (out && i < *count)
                out[i] = n;
            i++;
        }
    *count = i;
    return r;
}

CUresult sim_cuGraphNodeGetDependencies(CUgraphNode n, CUgraphNode *out, size_t *count)
{
    CUresult r = sim_check(SIM_NODE, n);
    if (r != CUDA_SUCCESS)
        return r;
    for (size_t i = 0; out && i < *count && i < n->dependencies->count; i++)
        out[i] = n->dependencies->node[i];
    *count = n->dependencies->count;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetType(CUgraphNode n, CUgraphNodeType *out)
{
    CUresult r = sim_check(SIM_NODE, n);
    if (r == CUDA_SUCCESS)
        *out = n->type;
    return r;
}

CUresult sim_cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone)
{
    CUresult r = sim_check(SIM_GRAPH, clone);
    if (r == CUDA_SUCCESS)
        *out = clone_of(clone, original);
    return r == CUDA_SUCCESS && !*out ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult of_type(CUgraphNode n, CUgraphNodeType type)
{
    CUresult r = sim_check(SIM_NODE, n);
    return r == CUDA_SUCCESS && n->type != type ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS *p)
{
    CUresult r = of_type(n, CU_GRAPH_NODE_TYPE_KERNEL);
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_launch *l = &n->work.launch;
    memset(p, 0, sizeof(*p));
    p->func = l->function;
    p->kern = l->kernel;
    p->gridDimX = l->grid[0], p->gridDimY = l->grid[1], p->gridDimZ = l->grid[2];
    p->blockDimX = l->block[0], p->blockDimY = l->block[1], p->blockDimZ = l->block[2];
    p->sharedMemBytes = l->shared_bytes;
    l->arguments[0] = &l->argument;
    p->kernelParams = l->arguments;
    return CUDA_SUCCESS;
}

/* The first form has no room for a kernel's handle: it tells the function. */
CUresult sim_cuGraphKernelNodeGetParams(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS q;
    CUresult r = sim_cuGraphKernelNodeGetParams_v2(n, &q);
    if (r == CUDA_SUCCESS && !q.func)
        r = sim_cuKernelGetFunction(&q.func, q.kern);
    if (r == CUDA_SUCCESS)
        memcpy(p, &q, sizeof(*p));
    return r;
}

CUresult sim_cuGraphKernelNodeSetParams_v2(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p)
{
    CUresult r = of_type(n, CU_GRAPH_NODE_TYPE_KERNEL);
    return r == CUDA_SUCCESS ? sim_kernel_of_node(p, &n->work) : r;
}

CUresult sim_cuGraphKernelNodeSetParams(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS q = newer(p);
    return sim_cuGraphKernelNodeSetParams_v2(n, &q);
}

CUresult sim_cuGraphMemcpyNodeGetParams(CUgraphNode n, CUDA_MEMCPY3D *p)
{
    CUresult r = of_type(n, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (r == CUDA_SUCCESS)
        *p = n->copy;
    return r;
}

CUresult sim_cuGraphMemsetNodeGetParams(CUgraphNode n, CUDA_MEMSET_NODE_PARAMS *p)
{
    CUresult r = of_type(n, CU_GRAPH_NODE_TYPE_MEMSET);
    if (r == CUDA_SUCCESS)
        *p = n->set;
    return r;
}

CUresult sim_cuGraphHostNodeGetParams(CUgraphNode n, CUDA_HOST_NODE_PARAMS *p)
{
    CUresult r = of_type(n, CU_GRAPH_NODE_TYPE_HOST);
    if (r == CUDA_SUCCESS)
        *p = (CUDA_HOST_NODE_PARAMS){n->work.host.function, n->work.host.data};
    return r;
}

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode n, CUgraph *out)
{
    CUresult r = of_type(n, CU_GRAPH_NODE_TYPE_GRAPH);
    if (r == CUDA_SUCCESS)
        *out = n->child;
    return r;
}
