/* SPDX-License-Identifier: MIT */
/* What graphs and nodes tell of themselves, and the parameters of nodes. */
#include "driver/model.h"

#include <string.h>

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

CUresult sim_cuGraphNodeGetDependencies_v2(CUgraphNode n, CUgraphNode *out, CUgraphEdgeData *edges,
                                           size_t *count)
{
    if (edges)
        memset(edges, 0, *count * sizeof(*edges));
    return sim_cuGraphNodeGetDependencies(n, out, count);
}

static bool depends_on(CUgraphNode n, CUgraphNode on)
{
    for (size_t i = 0; i < n->dependencies->count; i++)
        if (n->dependencies->node[i] == on)
            return true;
    return false;
}

CUresult sim_cuGraphNodeGetDependentNodes(CUgraphNode n, CUgraphNode *out, size_t *count)
{
    CUresult r = sim_check(SIM_NODE, n);
    size_t found = 0;
    for (CUgraphNode m = r ? NULL : n->graph->first; m; m = m->next)
        if (depends_on(m, n)) {
            if (out && found < *count)
                out[found] = m;
            found++;
        }
    *count = found;
    return r;
}

CUresult sim_cuGraphNodeGetDependentNodes_v2(CUgraphNode n, CUgraphNode *out,
                                             CUgraphEdgeData *edges, size_t *count)
{
    if (edges)
        memset(edges, 0, *count * sizeof(*edges));
    return sim_cuGraphNodeGetDependentNodes(n, out, count);
}

CUresult sim_cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    CUresult r = sim_check(SIM_GRAPH, g);
    size_t found = 0;
    for (CUgraphNode n = r ? NULL : g->first; n; n = n->next)
        for (size_t i = 0; i < n->dependencies->count; i++, found++)
            if (from && to && found < *count) {
                from[found] = n->dependencies->node[i];
                to[found] = n;
            }
    *count = found;
    return r;
}

CUresult sim_cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to,
                                CUgraphEdgeData *edges, size_t *count)
{
    if (edges)
        memset(edges, 0, *count * sizeof(*edges));
    return sim_cuGraphGetEdges(g, from, to, count);
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
    if (r == CUDA_SUCCESS) /* what was added to the clone is a clone of none */
        r = sim_check(SIM_NODE, original);
    if (r != CUDA_SUCCESS)
        return r;
    *out = clone->first;
    while (*out && (*out)->original != original)
        *out = (*out)->next;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_node_has_type(CUgraphNode n, CUgraphNodeType type)
{
    CUresult r = sim_check(SIM_NODE, n);
    return r == CUDA_SUCCESS && n->type != type ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS *p)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_KERNEL);
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

static CUmemorytype type_of(char letter, const void *p)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    return b && b->hidden ? CU_MEMORYTYPE_UNIFIED
           : letter == 'H'   ? CU_MEMORYTYPE_HOST
           : letter == 'A' ? CU_MEMORYTYPE_ARRAY
                           : CU_MEMORYTYPE_DEVICE;
}

/* One that was captured has parameters as well; which array it is they do not say here. */
static CUDA_MEMCPY3D copy_of(const struct sim_work *w)
{
    const struct sim_rect *r = &w->copy.rect;
    return (CUDA_MEMCPY3D){.srcMemoryType = type_of(w->name[0], r->from),
                           .srcHost = r->from,
                           .srcDevice = (CUdeviceptr)(uintptr_t)r->from,
                           .srcPitch = r->from_pitch,
                           .dstMemoryType = type_of(w->name[3], r->to),
                           .dstHost = r->to,
                           .dstDevice = (CUdeviceptr)(uintptr_t)r->to,
                           .dstPitch = r->to_pitch,
                           .WidthInBytes = r->width,
                           .Height = r->height,
                           .Depth = r->depth};
}

static CUDA_MEMSET_NODE_PARAMS set_of(const struct sim_work *w)
{
    const struct sim_fill *f = &w->fill;
    return (CUDA_MEMSET_NODE_PARAMS){
        (CUdeviceptr)(uintptr_t)f->to, f->pitch, f->value, f->element_bytes, f->width, f->height};
}

CUresult sim_cuGraphMemcpyNodeGetParams(CUgraphNode n, CUDA_MEMCPY3D *p)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (r == CUDA_SUCCESS)
        *p = n->copy.WidthInBytes ? n->copy : copy_of(&n->work);
    return r;
}

CUresult sim_cuGraphMemsetNodeGetParams(CUgraphNode n, CUDA_MEMSET_NODE_PARAMS *p)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_MEMSET);
    if (r == CUDA_SUCCESS)
        *p = n->set.width ? n->set : set_of(&n->work);
    return r;
}

CUresult sim_cuGraphMemAllocNodeGetParams(CUgraphNode n, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    const struct sim_block *b = r == CUDA_SUCCESS ? sim_block_of(n->work.memory) : NULL;
    if (r != CUDA_SUCCESS)
        return r;
    *p = (CUDA_MEM_ALLOC_NODE_PARAMS){.bytesize = n->work.bytes, .dptr = n->work.memory};
    p->poolProps.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                            .id = b ? b->context->device : 0};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphHostNodeGetParams(CUgraphNode n, CUDA_HOST_NODE_PARAMS *p)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_HOST);
    if (r == CUDA_SUCCESS)
        *p = (CUDA_HOST_NODE_PARAMS){n->work.host.function, n->work.host.data};
    return r;
}

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode n, CUgraph *out)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_GRAPH);
    if (r == CUDA_SUCCESS)
        *out = n->child;
    return r;
}

CUresult sim_cuGraphEventRecordNodeGetEvent(CUgraphNode n, CUevent *out)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    if (r == CUDA_SUCCESS)
        *out = n->work.event;
    return r;
}

CUresult sim_cuGraphEventWaitNodeGetEvent(CUgraphNode n, CUevent *out)
{
    CUresult r = sim_node_has_type(n, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    if (r == CUDA_SUCCESS)
        *out = n->work.event;
    return r;
}
