/* SPDX-License-Identifier: MIT */
/* Steps that make, change and launch graphs. */
#ifndef RANDOM_GRAPHS_H
#define RANDOM_GRAPHS_H

#include "random_work.h"

static void op_create(struct world *w)
{
    struct slot *slot = pick_slot(w);
    CUgraph graph;

    if (!slot)
        return;
    CHECK(cuGraphCreate(&graph, 0));
    put(w, slot, graph);
}

static void kernel_of(struct world *w, CUDA_KERNEL_NODE_PARAMS *p, void **arguments,
                      CUdeviceptr *data, unsigned *elements)
{
    memset(p, 0, sizeof(*p));
    *data = part(w);
    *elements = PART;
    arguments[0] = data;
    arguments[1] = elements;
    p->func = function[pick(w, 2)];
    p->gridDimX = p->gridDimY = p->gridDimZ = p->blockDimY = p->blockDimZ = 1;
    p->blockDimX = PART;
    p->kernelParams = arguments;
}

static void op_add_kernel(struct world *w)
{
    struct slot *slot = pick_slot(w);
    CUDA_KERNEL_NODE_PARAMS p;
    CUgraphNode node = NULL, added;
    void *arguments[2];
    CUdeviceptr data;
    unsigned elements;
    size_t nodes = 1;

    if (!slot || !slot->graph)
        return;
    kernel_of(w, &p, arguments, &data, &elements);
    CHECK(cuGraphGetNodes(slot->graph, &node, &nodes));
    say(w, "add kernel", 0,
        cuGraphAddKernelNode(&added, slot->graph, nodes ? &node : NULL, nodes ? 1 : 0, &p));
}

static void op_add_child(struct world *w)
{
    struct slot *slot = pick_slot(w), *child = pick_slot(w);
    CUgraphNode added;

    if (slot && child && slot != child && slot->graph && child->graph)
        say(w, "add child", 0,
            cuGraphAddChildGraphNode(&added, slot->graph, NULL, 0, child->graph));
}

/* Its body is captured. */
static void op_add_condition(struct world *w)
{
    struct slot *slot = pick_slot(w);
    CUgraphNodeParams p;
    CUgraphConditionalHandle handle;
    CUgraphNode added;
    CUgraph body;
    unsigned value = pick(w, 2);

    if (!slot || !slot->graph ||
        say(w, "condition", (int)value,
            cuGraphConditionalHandleCreate(&handle, slot->graph, driver.context, value,
                                           CU_GRAPH_COND_ASSIGN_DEFAULT)) != CUDA_SUCCESS)
        return;
    memset(&p, 0, sizeof(p));
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    p.conditional.handle = handle;
    p.conditional.type = CU_GRAPH_COND_TYPE_IF;
    p.conditional.size = 1;
    p.conditional.ctx = driver.context;
    if (say(w, "add condition", 0, cuGraphAddNode(&added, slot->graph, NULL, NULL, 0, &p)))
        return;
    say(w, "begin to body", 0,
        cuStreamBeginCaptureToGraph(w->stream[SPARE], p.conditional.phGraph_out[0], NULL, NULL, 0,
                                    CU_STREAM_CAPTURE_MODE_RELAXED));
    count(COUNT_ONE, say(w, "launch to body", 0, launch_at(COUNT_ONE, part(w), w->stream[SPARE])),
          true);
    if (say(w, "end of body", 0, cuStreamEndCapture(w->stream[SPARE], &body)) == CUDA_SUCCESS)
        graph_print("  body", body);
}

static void op_instantiate(struct world *w)
{
    struct slot *slot = pick_slot(w);
    struct exec *x = &w->exec[pick(w, EXECS)];
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

    if (!slot || !slot->graph)
        return;
    if (x->exec)
        say(w, "destroy exec", 0, cuGraphExecDestroy(x->exec));
    x->exec = NULL;
    x->source = (int)(slot - w->slot);
    x->generation = slot->generation;
    if (pick(w, 100) < w->care)
        mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    if (say(w, "instantiate", x->source, cuGraphInstantiate(&x->exec, slot->graph, 0)))
        x->exec = NULL;
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
}

/* One graph after the other, for the sake of what they leave in memory. */
static void op_graph(struct world *w)
{
    struct exec *x = &w->exec[pick(w, EXECS)];
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    int s = pick_stream(w, WORK);
    bool capturing = status_of(w->stream[s]) == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUresult r;

    if (!x->exec)
        return;
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(cuEventSynchronize(w->last_graph));
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    r = say(w, "launch graph", s, cuGraphLaunch(x->exec, w->stream[s]));
    count(GRAPH, r, capturing);
    if (r == CUDA_SUCCESS && !capturing)
        say(w, "after graph", s, cuEventRecord(w->last_graph, w->stream[s]));
}

static void op_update(struct world *w)
{
    struct exec *x = &w->exec[pick(w, EXECS)];
    struct slot *slot = pick(w, 100) < w->care ? &w->slot[x->source] : pick_slot(w);
    CUgraphExecUpdateResultInfo info;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    if (!x->exec || !slot || !slot->graph || slot->captured_by >= 0)
        return;
    memset(&info, 0, sizeof(info));
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    say(w, "update", 0, cuGraphExecUpdate(x->exec, slot->graph, &info));
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    printf("  result %d\n", (int)info.result);
}

/* A node of the graph that the exec was made from, if that is still the same. */
static void op_set_params(struct world *w)
{
    struct exec *x = &w->exec[pick(w, EXECS)];
    const struct slot *slot = &w->slot[x->source];
    CUDA_KERNEL_NODE_PARAMS p;
    CUgraphNode node;
    CUgraphNodeType type;
    void *arguments[2];
    CUdeviceptr data;
    unsigned elements;
    size_t nodes = 1;

    if (!x->exec || slot->generation != x->generation || slot->captured_by >= 0)
        return;
    CHECK(cuGraphGetNodes(slot->graph, &node, &nodes));
    if (!nodes || cuGraphNodeGetType(node, &type) || type != CU_GRAPH_NODE_TYPE_KERNEL)
        return;
    kernel_of(w, &p, arguments, &data, &elements);
    say(w, "set params", 0, cuGraphExecKernelNodeSetParams(x->exec, node, &p));
}

#endif
