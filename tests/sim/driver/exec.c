/* SPDX-License-Identifier: MIT */
/* Executable graphs: the nodes flattened, each with those it waits for, and what a launch runs. */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>

/* A node that waits for others begins so long after the last of them. */
#define NODE_NS 700

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_event(const struct sim_work *w)
{
    return w->kind == SIM_WORK_RECORD || w->kind == SIM_WORK_WAIT;
}

static bool takes_time(const struct sim_exec_node *n)
{
    return n->enabled && n->work.kind != SIM_WORK_EMPTY && n->work.kind != SIM_WORK_WAIT;
}

/* When the last of those ended that the node waits for. So that the first ones begin at 0, nothing
 * ended a step before. */
static int64_t ended_ns(const struct sim_exec_node *n, const int64_t *end_ns)
{
    int64_t t = -NODE_NS;
    for (size_t i = 0; i < n->after_count; i++)
        t = later(t, end_ns[n->after[i]]);
    return t;
}

/* A record with timing takes the time that one in a stream takes, or more, and is stamped at its
 * end. */
static int64_t record_ns(const struct sim_work *w)
{
    return w->event->flags & CU_EVENT_DISABLE_TIMING
               ? 0
               : sim_settings.event_ns + sim_settings.graph_event_ns;
}

/* When the node ends; *offset_ns: when it begins, or is stamped. */
static int64_t run_ns(const struct sim_exec_node *n, int64_t after_ns, int64_t *offset_ns)
{
    bool is_record = n->work.kind == SIM_WORK_RECORD;
    if (!takes_time(n))
        return *offset_ns = after_ns;
    *offset_ns = is_record ? later(after_ns, 0) + record_ns(&n->work) : after_ns + NODE_NS;
    return is_record ? *offset_ns : *offset_ns + n->work.duration_ns;
}

static void make_plan(CUgraphExec e)
{
    int64_t *end_ns = calloc(e->count + 1, sizeof(*end_ns));
    struct sim_plan *p = calloc(1, sizeof(*p));
    p->references = 1;
    p->works = calloc(e->count + 1, sizeof(*p->works));
    for (size_t i = 0; i < e->count; i++) {
        const struct sim_exec_node *n = &e->nodes[i];
        int64_t offset_ns;
        end_ns[i] = run_ns(n, ended_ns(n, end_ns), &offset_ns);
        p->duration_ns = later(p->duration_ns, end_ns[i]);
        if (!n->enabled || n->work.kind == SIM_WORK_EMPTY)
            continue;
        p->works[p->count] = sim_work_clone(&n->work);
        p->works[p->count++].graph_offset_ns = offset_ns;
        p->has_events |= is_event(&n->work);
        p->has_host_work |= n->work.kind == SIM_WORK_HOST || n->work.kind == SIM_WORK_CALLBACK;
    }
    free(end_ns);
    sim_plan_release(e->plan);
    e->plan = p;
}

static void drop_nodes(CUgraphExec e)
{
    for (size_t i = 0; i < e->count; i++) {
        sim_work_drop(&e->nodes[i].work);
        free(e->nodes[i].after);
    }
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
    r = sim_unfold(g, e);
    if (r != CUDA_SUCCESS) {
        drop_nodes(e);
        sim_give(SIM_EXEC, e);
        return r;
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

/* A graph keeps no event alive. */
static CUresult events_are_alive(const struct sim_plan *p)
{
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; p->has_events && r == CUDA_SUCCESS && i < p->count; i++)
        if (is_event(&p->works[i]))
            r = sim_check(SIM_EVENT, p->works[i].event);
    return r;
}

CUgraph sim_graph_of_exec(CUgraphExec e)
{
    CUgraph g = sim_graph_new();
    struct sim_nodes *before = sim_nodes_of(NULL, 0);
    for (size_t i = 0; i < e->count; i++) {
        if (!e->nodes[i].node)
            continue;
        CUgraphNode n = sim_node_add(g, e->nodes[i].type, before);
        n->work = sim_work_clone(&e->nodes[i].work);
        free(before);
        before = sim_nodes_of(&n, 1);
    }
    free(before);
    return g;
}

static void show_memory(CUgraphExec e)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].work.kind == SIM_WORK_EMPTY && e->nodes[i].work.bytes)
            sim_memory_hide(e->nodes[i].work.memory, false);
}

CUresult sim_cuGraphLaunch(CUgraphExec e, CUstream handle)
{
    CUstream s;
    CUresult r = sim_check(SIM_EXEC, e);
    if (r == CUDA_SUCCESS)
        r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS && s->capture)
        return sim_capture_graph(s, e);
    if (r == CUDA_SUCCESS)
        r = events_are_alive(e->plan);
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_work w = {.kind = SIM_WORK_GRAPH,
                         .name = "graph",
                         .plan = e->plan,
                         .duration_ns = e->plan->duration_ns,
                         .after = e->last_launch,
                         .after_ns = e->last_end_ns};
    e->plan->references++;
    r = sim_submit(s, &w);
    if (r == CUDA_SUCCESS) {
        e->last_launch = sim_mark_of(s);
        e->last_end_ns = w.end_ns;
        show_memory(e);
    }
    return r;
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
    for (size_t i = 0; n && i < e->count; i++)
        if (e->nodes[i].node == n)
            return &e->nodes[i];
    return NULL;
}

/* The graph that an exec was made from may go, but not a node that is named. */
static CUresult check_both(CUgraphExec e, CUgraphNode n)
{
    CUresult r = sim_check(SIM_EXEC, e);
    return r == CUDA_SUCCESS ? sim_check(SIM_NODE, n) : r;
}

static CUresult replace(CUgraphExec e, CUgraphNode n, CUresult r, struct sim_content *c)
{
    if (r == CUDA_SUCCESS)
        r = check_both(e, n);
    struct sim_exec_node *first = r == CUDA_SUCCESS ? node_of(e, n) : NULL;
    if (!first || first->type != c->type)
        return r != CUDA_SUCCESS ? r : CUDA_ERROR_INVALID_VALUE;
    for (struct sim_exec_node *x = first; x < e->nodes + e->count; x++)
        if (x->node == n) { /* a body that runs several times has it as often */
            sim_work_drop(&x->work);
            x->work = sim_work_clone(&c->work);
        }
    sim_work_drop(&c->work);
    make_plan(e);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode n,
                                               const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct sim_content c = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    return replace(e, n, p ? sim_kernel_of_node(p, &c.work) : CUDA_ERROR_INVALID_VALUE, &c);
}

CUresult sim_cuGraphExecKernelNodeSetParams(CUgraphExec e, CUgraphNode n,
                                            const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS q;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&q, 0, sizeof(q));
    memcpy(&q, p, sizeof(*p));
    return sim_cuGraphExecKernelNodeSetParams_v2(e, n, &q);
}

CUresult sim_cuGraphExecMemcpyNodeSetParams(CUgraphExec e, CUgraphNode n, const CUDA_MEMCPY3D *p,
                                            CUcontext context)
{
    struct sim_content c = {0};
    (void)context;
    return replace(e, n, sim_content_of_copy(p, &c), &c);
}

CUresult sim_cuGraphExecMemsetNodeSetParams(CUgraphExec e, CUgraphNode n,
                                            const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
    struct sim_content c = {0};
    (void)context;
    return replace(e, n, sim_content_of_set(p, &c), &c);
}

CUresult sim_cuGraphExecHostNodeSetParams(CUgraphExec e, CUgraphNode n,
                                          const CUDA_HOST_NODE_PARAMS *p)
{
    struct sim_content c = {0};
    return replace(e, n, sim_content_of_host(p, &c), &c);
}

CUresult sim_cuGraphExecEventRecordNodeSetEvent(CUgraphExec e, CUgraphNode n, CUevent event)
{
    struct sim_content c = {0};
    return replace(e, n, sim_content_of_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, &c), &c);
}

CUresult sim_cuGraphExecEventWaitNodeSetEvent(CUgraphExec e, CUgraphNode n, CUevent event)
{
    struct sim_content c = {0};
    return replace(e, n, sim_content_of_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, &c), &c);
}

CUresult sim_cuGraphExecNodeSetParams(CUgraphExec e, CUgraphNode n, CUgraphNodeParams *p)
{
    struct sim_content c = {0};
    CUresult r = sim_content_of(p, &c);
    if (r == CUDA_SUCCESS && c.child)
        return sim_cuGraphExecChildGraphNodeSetParams(e, n, c.child);
    return replace(e, n, r, &c);
}

CUresult sim_cuGraphNodeGetEnabled(CUgraphExec e, CUgraphNode n, unsigned int *out)
{
    CUresult r = sim_check(SIM_EXEC, e);
    struct sim_exec_node *x = r ? NULL : node_of(e, n);
    if (!x)
        return r ? r : CUDA_ERROR_INVALID_VALUE;
    *out = x->enabled;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecGetFlags(CUgraphExec e, cuuint64_t *out)
{
    CUresult r = sim_check(SIM_EXEC, e);
    if (r == CUDA_SUCCESS)
        *out = e->flags;
    return r;
}

static bool can_be_off(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult sim_cuGraphNodeSetEnabled(CUgraphExec e, CUgraphNode n, unsigned int enabled)
{
    CUresult r = check_both(e, n);
    struct sim_exec_node *x = r ? NULL : node_of(e, n);
    if (!x || !can_be_off(x->type))
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
        if (a->nodes[i].type != b->nodes[i].type)
            return false;
    return true;
}

CUresult sim_cuGraphExecChildGraphNodeSetParams(CUgraphExec e, CUgraphNode n, CUgraph child)
{
    struct CUgraphExec_st before = {0}, after = {0};
    CUresult r = sim_check(SIM_EXEC, e);
    if (r == CUDA_SUCCESS)
        r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_GRAPH);
    if (r == CUDA_SUCCESS)
        r = sim_check(SIM_GRAPH, child);
    if (r != CUDA_SUCCESS)
        return r;
    if (sim_unfold(n->child, &before) || sim_unfold(child, &after) ||
        !same_topology(&before, &after))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < before.count; i++) {
        struct sim_exec_node *x = node_of(e, before.nodes[i].node);
        if (x) {
            sim_work_drop(&x->work);
            x->work = sim_work_clone(&after.nodes[i].work);
        }
    }
    drop_nodes(&before);
    drop_nodes(&after);
    make_plan(e);
    return r;
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
        *info = (CUgraphExecUpdateResultInfo){
            .result =
                same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
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
