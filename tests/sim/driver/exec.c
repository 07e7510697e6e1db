/* SPDX-License-Identifier: MIT */
/* Executable graphs: the nodes in order, flattened, and what a launch runs. */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>

/* A node that is not the first of its graph begins so long after the one before. */
#define NODE_NS 700

static size_t leaf_count(CUgraph g)
{
    size_t count = 0;
    for (CUgraphNode n = g->first; n; n = n->next)
        count += n->child ? leaf_count(n->child) : 1;
    return count;
}

static bool flatten(CUgraph g, CUgraphExec e)
{
    size_t count = sim_graph_count(g);
    CUgraphNode *order = calloc(count + 1, sizeof(CUgraphNode));
    bool ok = sim_graph_order(g, order, count) == count;
    for (size_t i = 0; ok && i < count; i++) {
        if (order[i]->child)
            ok = flatten(order[i]->child, e);
        else
            e->nodes[e->count++] = (struct sim_exec_node){
                .node = order[i], .enabled = true, .work = sim_work_clone(&order[i]->work)};
    }
    free(order);
    return ok;
}

static void make_plan(CUgraphExec e)
{
    struct sim_plan *p = calloc(1, sizeof(*p));
    p->references = 1;
    p->works = calloc(e->count + 1, sizeof(*p->works));
    for (size_t i = 0; i < e->count; i++) {
        const struct sim_exec_node *n = &e->nodes[i];
        if (!n->enabled || n->work.kind == SIM_WORK_EMPTY)
            continue;
        p->works[p->count] = sim_work_clone(&n->work);
        p->has_host_work |= n->work.kind == SIM_WORK_HOST || n->work.kind == SIM_WORK_CALLBACK;
        p->duration_ns += n->work.duration_ns + (p->count ? NODE_NS : 0);
        p->count++;
    }
    sim_plan_release(e->plan);
    e->plan = p;
}

static void drop_nodes(CUgraphExec e)
{
    for (size_t i = 0; i < e->count; i++)
        sim_work_drop(&e->nodes[i].work);
    free(e->nodes);
    e->nodes = NULL;
    e->count = 0;
}

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
    CUcontext c;
    CUresult r = out ? sim_check(SIM_GRAPH, g) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = sim_need_context(&c);
    if (r == CUDA_SUCCESS)
        r = sim_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    CUgraphExec e = sim_take(SIM_EXEC);
    e->flags = flags;
    e->nodes = calloc(leaf_count(g) + 1, sizeof(*e->nodes));
    if (!flatten(g, e)) {
        drop_nodes(e);
        sim_give(SIM_EXEC, e);
        return CUDA_ERROR_INVALID_VALUE;
    }
    make_plan(e);
    *out = e;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    CUresult r = p ? sim_cuGraphInstantiateWithFlags(out, g, p->flags) : CUDA_ERROR_INVALID_VALUE;
    if (p)
        p->result_out = r ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return r;
}

CUresult sim_cuGraphInstantiate(CUgraphExec *out, CUgraph g, CUgraphNode *bad, char *log,
                                size_t bytes)
{
    (void)bad;
    if (log && bytes)
        *log = 0;
    return sim_cuGraphInstantiateWithFlags(out, g, 0);
}

CUresult sim_cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *bad, char *log,
                                   size_t bytes)
{
    return sim_cuGraphInstantiate(out, g, bad, log, bytes);
}

CUresult sim_cuGraphExecDestroy(CUgraphExec e)
{
    CUresult r = sim_check(SIM_EXEC, e);
    if (r != CUDA_SUCCESS)
        return r;
    drop_nodes(e);
    sim_plan_release(e->plan);
    sim_give(SIM_EXEC, e);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphLaunch(CUgraphExec e, CUstream handle)
{
    CUstream s;
    CUresult r = sim_check(SIM_EXEC, e);
    if (r == CUDA_SUCCESS)
        r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS && s->capture)
        r = sim_capture_forbid(s); /* a child node instead: not modelled */
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_work w = {.kind = SIM_WORK_GRAPH, .name = "graph", .plan = e->plan,
                         .duration_ns = e->plan->duration_ns};
    e->plan->references++;
    return sim_submit(s, &w);
}

CUresult sim_cuGraphUpload(CUgraphExec e, CUstream handle)
{
    CUstream s;
    CUresult r = sim_check(SIM_EXEC, e);
    return r == CUDA_SUCCESS ? sim_stream_of(handle, &s) : r;
}

/* ---- updates ---- */

static struct sim_exec_node *node_of(CUgraphExec e, CUgraphNode n)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].node == n)
            return &e->nodes[i];
    return NULL;
}

static CUresult replace(CUgraphExec e, CUgraphNode n, CUresult r, struct sim_work w)
{
    struct sim_exec_node *x = node_of(e, n);
    if (r != CUDA_SUCCESS || !x)
        return r != CUDA_SUCCESS ? r : CUDA_ERROR_INVALID_VALUE;
    sim_work_drop(&x->work);
    x->work = w;
    make_plan(e);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode n,
                                               const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct sim_work w = {0};
    CUresult r = sim_check(SIM_EXEC, e);
    if (r == CUDA_SUCCESS)
        r = p ? sim_kernel_of_node(p, &w) : CUDA_ERROR_INVALID_VALUE;
    return replace(e, n, r, w);
}

CUresult sim_cuGraphExecKernelNodeSetParams(CUgraphExec e, CUgraphNode n,
                                            const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS q;
    memset(&q, 0, sizeof(q));
    memcpy(&q, p, sizeof(*p));
    return sim_cuGraphExecKernelNodeSetParams_v2(e, n, &q);
}

CUresult sim_cuGraphExecMemcpyNodeSetParams(CUgraphExec e, CUgraphNode n, const CUDA_MEMCPY3D *p,
                                            CUcontext context)
{
    struct sim_work w = {0};
    (void)context;
    CUresult r = sim_check(SIM_EXEC, e);
    if (r == CUDA_SUCCESS)
        r = p ? sim_copy_of_node(p, &w) : CUDA_ERROR_INVALID_VALUE;
    return replace(e, n, r, w);
}

CUresult sim_cuGraphNodeSetEnabled(CUgraphExec e, CUgraphNode n, unsigned int enabled)
{
    CUresult r = sim_check(SIM_EXEC, e);
    struct sim_exec_node *x = r ? NULL : node_of(e, n);
    if (!x)
        return r ? r : CUDA_ERROR_INVALID_VALUE;
    x->enabled = enabled != 0;
    make_plan(e);
    return CUDA_SUCCESS;
}

/* Topologies are compared by the kinds of the nodes in order. */
static bool same_topology(CUgraphExec a, CUgraphExec b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->nodes[i].node->type != b->nodes[i].node->type)
            return false;
    return true;
}

CUresult sim_cuGraphExecUpdate_v2(CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
    CUgraphExec fresh;
    CUresult r = sim_check(SIM_EXEC, e);
    if (r == CUDA_SUCCESS)
        r = sim_cuGraphInstantiateWithFlags(&fresh, g, e->flags);
    if (r != CUDA_SUCCESS)
        return r;
    bool same = same_topology(e, fresh);
    if (same)
        for (size_t i = 0; i < e->count; i++) {
            struct sim_work w = e->nodes[i].work;
            e->nodes[i].work = fresh->nodes[i].work;
            fresh->nodes[i].work = w;
        }
    make_plan(e);
    sim_cuGraphExecDestroy(fresh);
    if (info)
        *info = (CUgraphExecUpdateResultInfo){.result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                             : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
    return same ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult sim_cuGraphExecUpdate(CUgraphExec e, CUgraph g, CUgraphNode *bad,
                               CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult r = sim_cuGraphExecUpdate_v2(e, g, &info);
    if (bad)
        *bad = NULL;
    if (result)
        *result = info.result;
    return r;
}
