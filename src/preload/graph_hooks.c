/* SPDX-License-Identifier: MIT */
/* The hooks of calls that make, change and destroy graphs and executable graphs. */
#include "launch/replica.h"
#include "preload/hooks.h"
#include "stacks/stacks.h"
#include "work/graph.h"
#include "work/node_stack.h"

/* ---- nodes and the stacks that they are from ---- */

void ct_hook_graph_child_added(const struct ct_hook *h, CUgraphNode *node, CUgraph child)
{
    if (!ct_node_stacks_are_on || ct_hook_failed(h) || !node)
        return;
    uint32_t stack = ct_stack_take();
    ct_node_stack_put(*node, stack);
    if (child)
        ct_node_stacks_copied(ct_graph_child(*node), child, stack);
}

void ct_hook_graph_node_added(const struct ct_hook *h, CUgraphNode *node)
{
    ct_hook_graph_child_added(h, node, NULL);
}

void ct_hook_graph_node_added_with(const struct ct_hook *h, CUgraphNode *node,
                                   const CUgraphNodeParams *p)
{
    bool is_child = p && p->type == CU_GRAPH_NODE_TYPE_GRAPH;
    ct_hook_graph_child_added(h, node, is_child ? p->graph.graph : NULL);
}

void ct_hook_graph_cloned(const struct ct_hook *h, CUgraph *clone, CUgraph graph)
{
    if (!ct_hook_failed(h) && clone)
        ct_node_stacks_copied(*clone, graph, 0);
}

void ct_hook_graph_gone(const struct ct_hook *h, CUgraph graph)
{
    (void)h;
    ct_node_stacks_forget(graph);
}

void ct_hook_graph_node_gone(const struct ct_hook *h, CUgraphNode node)
{
    (void)h;
    ct_node_stacks_forget_node(node);
}

/* ---- executable graphs ---- */

void ct_hook_graph_instantiated(const struct ct_hook *h, CUgraphExec *exec, CUgraph graph)
{
    if (ct_hook_failed(h) || !exec)
        return;
    ct_graph_instantiated(*exec, graph);
    ct_replica_offer(*exec, graph);
}

/* The graph that a failed update leaves is not known well enough. */
void ct_hook_graph_updated(const struct ct_hook *h, CUgraphExec exec, CUgraph graph)
{
    if (ct_hook_failed(h)) {
        ct_replica_changed(exec);
        return;
    }
    ct_replica_updated(exec, graph);
    ct_graph_instantiated(exec, graph);
}

void ct_hook_graph_changed(const struct ct_hook *h, CUgraphExec exec)
{
    (void)h;
    ct_replica_changed(exec);
}

void ct_hook_graph_exec_gone(const struct ct_hook *h, CUgraphExec exec)
{
    (void)h;
    ct_graph_gone(exec);
    ct_replica_gone(exec);
}

/* An upload is work in a stream that no bracket is around. */
void ct_hook_graph_instantiated_with(const struct ct_hook *h, CUgraphExec *exec, CUgraph graph,
                                     const CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    if (p && (p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
        ct_hook_stream_break(h, p->hUploadStream);
    ct_hook_graph_instantiated(h, exec, graph);
}

void ct_hook_graph_child_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                             CUgraph child)
{
    if (ct_hook_failed(h)) {
        ct_replica_changed(exec);
        return;
    }
    ct_replica_child_set(exec, node, child);
    ct_graph_child_set(exec, node, child);
}

void ct_hook_graph_node_switched(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                                 unsigned on)
{
    if (ct_hook_failed(h)) {
        ct_replica_changed(exec);
        return;
    }
    ct_replica_node_switched(exec, node, on != 0);
    ct_graph_node_switched(exec, node, on != 0);
}

/* ---- nodes that get other parameters ---- */

static void node_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                     CUgraphNodeParams *p)
{
    if (ct_hook_failed(h)) {
        ct_replica_changed(exec);
        return;
    }
    ct_replica_node_set(exec, node, p);
    ct_graph_node_set(exec, node, p);
}

#define BEGINS_WITH(general, special, last)                                                        \
    _Static_assert(offsetof(general, last) == offsetof(special, last), "another layout")
BEGINS_WITH(CUDA_KERNEL_NODE_PARAMS_v3, CUDA_KERNEL_NODE_PARAMS_v1, extra);
BEGINS_WITH(CUDA_KERNEL_NODE_PARAMS_v3, CUDA_KERNEL_NODE_PARAMS, ctx);
BEGINS_WITH(CUDA_MEMSET_NODE_PARAMS_v2, CUDA_MEMSET_NODE_PARAMS, height);
BEGINS_WITH(CUDA_HOST_NODE_PARAMS_v2, CUDA_HOST_NODE_PARAMS, userData);

/* Parameters for cuGraphExecNodeSetParams, which begin as those of the node's own call do. */
static CUgraphNodeParams general(CUgraphNodeType type, const void *p, size_t bytes)
{
    CUgraphNodeParams q;
    __builtin_memset(&q, 0, sizeof(q));
    q.type = type;
    if (p)
        __builtin_memcpy(&q.reserved1, p, bytes);
    return q;
}

void ct_hook_graph_kernel_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                              const void *p, size_t bytes)
{
    CUgraphNodeParams q = general(CU_GRAPH_NODE_TYPE_KERNEL, p, bytes);
    node_set(h, exec, node, &q);
}

void ct_hook_graph_copy_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                            const CUDA_MEMCPY3D *p, CUcontext c)
{
    CUgraphNodeParams q = general(CU_GRAPH_NODE_TYPE_MEMCPY, NULL, 0);
    q.memcpy.copyCtx = c;
    if (p)
        q.memcpy.copyParams = *p;
    node_set(h, exec, node, &q);
}

void ct_hook_graph_memset_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext c)
{
    CUgraphNodeParams q = general(CU_GRAPH_NODE_TYPE_MEMSET, p, sizeof(*p));
    q.memset.ctx = c;
    node_set(h, exec, node, &q);
}

void ct_hook_graph_host_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                            const CUDA_HOST_NODE_PARAMS *p)
{
    CUgraphNodeParams q = general(CU_GRAPH_NODE_TYPE_HOST, p, sizeof(*p));
    node_set(h, exec, node, &q);
}

void ct_hook_graph_node_params(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                               CUgraphNodeParams *p)
{
    if (p && p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        ct_hook_graph_child_set(h, exec, node, p->graph.graph);
    else
        node_set(h, exec, node, p);
}
