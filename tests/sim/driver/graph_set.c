/* SPDX-License-Identifier: MIT */
/* What nodes are made of: new parameters for nodes of graphs. Those of execs are in exec.c. */
#include "driver/model.h"

#include <string.h>

CUresult sim_content_of_copy(const CUDA_MEMCPY3D *p, struct sim_content *out)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    out->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    out->copy = *p;
    return sim_copy_of_node(p, &out->work);
}

CUresult sim_content_of_set(const CUDA_MEMSET_NODE_PARAMS *p, struct sim_content *out)
{
    if (!p || !p->dst || !p->width || !p->height)
        return CUDA_ERROR_INVALID_VALUE;
    out->type = CU_GRAPH_NODE_TYPE_MEMSET;
    out->set = *p;
    out->work = sim_set_work(p->dst, p->pitch, p->value, p->elementSize, p->width, p->height);
    return CUDA_SUCCESS;
}

CUresult sim_content_of_host(const CUDA_HOST_NODE_PARAMS *p, struct sim_content *out)
{
    if (!p || !p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    out->type = CU_GRAPH_NODE_TYPE_HOST;
    out->work =
        (struct sim_work){.kind = SIM_WORK_HOST, .host = {.function = p->fn, .data = p->userData}};
    return CUDA_SUCCESS;
}

CUresult sim_content_of_event(CUgraphNodeType type, CUevent e, struct sim_content *out)
{
    bool is_record = type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    out->type = type;
    out->work = (struct sim_work){.kind = is_record ? SIM_WORK_RECORD : SIM_WORK_WAIT, .event = e};
    return sim_check(SIM_EVENT, e);
}

static CUresult content_of_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *p, struct sim_content *out)
{
    CUDA_KERNEL_NODE_PARAMS q = {
        .func = p->func,
        .kern = p->kern,
        .ctx = p->ctx,
        .gridDimX = p->gridDimX,
        .gridDimY = p->gridDimY,
        .gridDimZ = p->gridDimZ,
        .blockDimX = p->blockDimX,
        .blockDimY = p->blockDimY,
        .blockDimZ = p->blockDimZ,
        .sharedMemBytes = p->sharedMemBytes,
        .kernelParams = p->kernelParams,
        .extra = p->extra,
    };
    return sim_kernel_of_node(&q, &out->work);
}

static CUresult content_of_set_v2(const CUDA_MEMSET_NODE_PARAMS_v2 *p, struct sim_content *out)
{
    CUDA_MEMSET_NODE_PARAMS q = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height};
    return sim_content_of_set(&q, out);
}

CUresult sim_content_of(CUgraphNodeParams *p, struct sim_content *out)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    out->type = p->type;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return content_of_kernel(&p->kernel, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return sim_content_of_copy(&p->memcpy.copyParams, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return content_of_set_v2(&p->memset, out);
    case CU_GRAPH_NODE_TYPE_HOST:
        return sim_content_of_host(&(CUDA_HOST_NODE_PARAMS){p->host.fn, p->host.userData}, out);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        out->child = p->graph.graph;
        return sim_check(SIM_GRAPH, out->child);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return sim_content_of_event(p->type, p->eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sim_content_of_event(p->type, p->eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        out->condition = &p->conditional;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static CUresult set(CUgraphNode n, CUresult r, const struct sim_content *c)
{
    if (r == CUDA_SUCCESS)
        r = sim_node_has_type(n, c->type);
    if (r == CUDA_SUCCESS && (c->child || c->condition))
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r != CUDA_SUCCESS)
        return r;
    sim_work_drop(&n->work);
    n->work = c->work;
    n->copy = c->copy;
    n->set = c->set;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeSetParams(CUgraphNode n, CUgraphNodeParams *p)
{
    struct sim_content c = {0};
    return set(n, sim_content_of(p, &c), &c);
}

CUresult sim_cuGraphNodeSetParams_v2(CUgraphNode n, CUgraphNodeParams *p)
{
    return sim_cuGraphNodeSetParams(n, p);
}

CUresult sim_cuGraphKernelNodeSetParams_v2(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct sim_content c = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    return set(n, p ? sim_kernel_of_node(p, &c.work) : CUDA_ERROR_INVALID_VALUE, &c);
}

CUresult sim_cuGraphKernelNodeSetParams(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS q;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&q, 0, sizeof(q));
    memcpy(&q, p, sizeof(*p));
    return sim_cuGraphKernelNodeSetParams_v2(n, &q);
}

CUresult sim_cuGraphMemcpyNodeSetParams(CUgraphNode n, const CUDA_MEMCPY3D *p)
{
    struct sim_content c = {0};
    return set(n, sim_content_of_copy(p, &c), &c);
}

CUresult sim_cuGraphMemsetNodeSetParams(CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS *p)
{
    struct sim_content c = {0};
    return set(n, sim_content_of_set(p, &c), &c);
}

CUresult sim_cuGraphHostNodeSetParams(CUgraphNode n, const CUDA_HOST_NODE_PARAMS *p)
{
    struct sim_content c = {0};
    return set(n, sim_content_of_host(p, &c), &c);
}

CUresult sim_cuGraphEventRecordNodeSetEvent(CUgraphNode n, CUevent e)
{
    struct sim_content c = {0};
    return set(n, sim_content_of_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, e, &c), &c);
}

CUresult sim_cuGraphEventWaitNodeSetEvent(CUgraphNode n, CUevent e)
{
    struct sim_content c = {0};
    return set(n, sim_content_of_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, e, &c), &c);
}
