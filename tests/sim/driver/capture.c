/* SPDX-License-Identifier: MIT */
/* Stream capture, as strict as the driver's: what may not be done beside or to a capture fails and
 * invalidates it. */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>

struct sim_capture *sim_captures;
static uint64_t last_id;

struct sim_nodes *sim_nodes_of(const CUgraphNode *node, size_t count)
{
    struct sim_nodes *n = malloc(sizeof(*n) + count * sizeof(n->node[0]));
    n->count = count;
    if (count)
        memcpy(n->node, node, count * sizeof(n->node[0]));
    return n;
}

static bool contains(const struct sim_nodes *n, CUgraphNode node)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->node[i] == node)
            return true;
    return false;
}

struct sim_nodes *sim_nodes_join(const struct sim_nodes *a, const struct sim_nodes *b)
{
    size_t first = a ? a->count : 0, second = b ? b->count : 0;
    struct sim_nodes *n = malloc(sizeof(*n) + (first + second) * sizeof(n->node[0]));
    n->count = first;
    if (first)
        memcpy(n->node, a->node, first * sizeof(n->node[0]));
    for (size_t i = 0; i < second; i++)
        if (!contains(n, b->node[i]))
            n->node[n->count++] = b->node[i];
    return n;
}

static struct sim_capture *find(uint64_t id)
{
    struct sim_capture *c = sim_captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

/* ---- what a capture forbids ---- */

static bool forbids(const struct sim_capture *c)
{
    bool own = c->thread == sim_self.id && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    bool global =
        c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && sim_self.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    return own || global;
}

CUresult sim_unsafe(void)
{
    CUresult r = CUDA_SUCCESS;
    if (sim_self.mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return r;
    for (struct sim_capture *c = sim_captures; c; c = c->next)
        if (forbids(c)) {
            c->invalid = true;
            r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return r;
}

CUresult sim_legacy_use(CUcontext c, bool invalidate)
{
    CUresult r = CUDA_SUCCESS;
    if (!sim_captures)
        return r;
    for (CUstream s = c->streams; s; s = s->next)
        if (s->capture && sim_stream_blocking(s)) {
            s->capture->invalid |= invalidate;
            r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return r;
}

CUresult sim_capture_forbid(CUstream s)
{
    s->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- work ---- */

static void set_leaves(CUstream s, struct sim_nodes *leaves)
{
    free(s->leaves);
    s->leaves = leaves;
}

static void leave(CUstream s)
{
    s->capture = NULL;
    set_leaves(s, NULL);
}

/* The number is not in the headers of 13.0. */
#define RECAPTURE_FAILURE ((CUresult)918)

static CUresult recapture(CUstream s, const struct sim_work *w, CUgraphNodeType type)
{
    struct sim_capture *c = s->capture;
    CUgraphNode n = c->next_node;
    static const CUgraphNodeParams unknown;
    if (!n || n->type != type) {
        c->invalid = true;
        return RECAPTURE_FAILURE;
    }
    if (c->callback && c->callback(c->data, n, &unknown, &unknown,
                                   CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE) != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    c->next_node = n->next;
    n->work = sim_work_clone(w);
    set_leaves(s, sim_nodes_of(&n, 1));
    return CUDA_SUCCESS;
}

CUresult sim_capture_add(CUstream s, const struct sim_work *w, CUgraphNodeType type)
{
    if (s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (s->capture->recaptures)
        return recapture(s, w, type);
    CUgraphNode n = sim_node_add(s->capture->graph, type, s->leaves);
    n->work = sim_work_clone(w);
    set_leaves(s, sim_nodes_of(&n, 1));
    return CUDA_SUCCESS;
}

CUresult sim_capture_graph(CUstream s, CUgraphExec e)
{
    struct sim_work none = {.kind = SIM_WORK_EMPTY};
    CUresult r = sim_capture_add(s, &none, CU_GRAPH_NODE_TYPE_GRAPH);
    if (r == CUDA_SUCCESS) {
        s->leaves->node[0]->child = sim_graph_of_exec(e);
        s->leaves->node[0]->child->owned_by_node = true;
    }
    return r;
}

CUresult sim_capture_record(CUevent e, CUstream s)
{
    if (s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    free(e->leaves);
    e->leaves = sim_nodes_join(s->leaves, NULL);
    e->captured = true;
    e->capture_id = s->capture->id;
    return CUDA_SUCCESS;
}

CUresult sim_capture_look(CUevent e)
{
    struct sim_capture *c = find(e->capture_id);
    if (c)
        c->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult sim_capture_wait(CUstream s, CUevent e)
{
    if (!e->captured) {
        s->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    struct sim_capture *c = find(e->capture_id);
    if (!c)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (s->kind == SIM_STREAM_LEGACY)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (s->capture && s->capture != c) {
        s->capture->invalid = c->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    set_leaves(s, sim_nodes_join(s->leaves, e->leaves));
    s->capture = c;
    return CUDA_SUCCESS;
}

/* ---- begin and end ---- */

static CUresult begin(CUstream handle, CUgraph graph, struct sim_nodes *leaves,
                      CUstreamCaptureMode mode)
{
    CUstream s;
    CUresult r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS && s->kind == SIM_STREAM_LEGACY)
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (r == CUDA_SUCCESS && (s->capture || mode > CU_STREAM_CAPTURE_MODE_RELAXED))
        r = s->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) {
        free(leaves);
        return r;
    }
    struct sim_capture *c = calloc(1, sizeof(*c));
    c->id = ++last_id;
    c->graph = graph ? graph : sim_graph_new();
    c->graph_is_callers = graph != NULL;
    c->origin = s;
    c->thread = sim_self.id;
    c->mode = mode;
    c->next = sim_captures;
    sim_captures = c;
    s->capture = c;
    set_leaves(s, leaves);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode)
{
    return begin(s, NULL, sim_nodes_of(NULL, 0), mode);
}

CUresult sim_cuStreamBeginCapture(CUstream s)
{
    return sim_cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult sim_cuStreamBeginCaptureToGraph(CUstream s, CUgraph graph, const CUgraphNode *from,
                                         const CUgraphEdgeData *edges, size_t count,
                                         CUstreamCaptureMode mode)
{
    (void)edges;
    CUresult r = sim_check(SIM_GRAPH, graph);
    return r == CUDA_SUCCESS ? begin(s, graph, sim_nodes_of(from, count), mode) : r;
}

CUresult sim_cuStreamBeginCaptureToCig(CUstream s, CUstreamCigCaptureParams *p)
{
    return p ? begin(s, NULL, sim_nodes_of(NULL, 0), CU_STREAM_CAPTURE_MODE_RELAXED)
             : CUDA_ERROR_INVALID_VALUE;
}

/* Nodes come in the graph's own order, and of its own types; what else differs is asked about. */
CUresult sim_cuStreamBeginRecaptureToGraph(CUstream s, CUstreamCaptureMode mode, CUgraph graph,
                                           CUgraphRecaptureCallback callback, void *data)
{
    CUresult r = sim_check(SIM_GRAPH, graph);
    if (r == CUDA_SUCCESS)
        r = begin(s, graph, sim_nodes_of(NULL, 0), mode);
    if (r != CUDA_SUCCESS)
        return r;
    sim_captures->recaptures = true;
    sim_captures->next_node = graph->first;
    sim_captures->callback = callback;
    sim_captures->data = data;
    return CUDA_SUCCESS;
}

static void mark_ancestors(const struct sim_nodes *n)
{
    for (size_t i = 0; n && i < n->count; i++)
        if (!n->node[i]->visited) {
            n->node[i]->visited = true;
            mark_ancestors(n->node[i]->dependencies);
        }
}

static bool is_joined(CUstream s)
{
    for (size_t i = 0; s->leaves && i < s->leaves->count; i++)
        if (!s->leaves->node[i]->visited)
            return false;
    return true;
}

static bool leave_if_in(void *stream, void *capture)
{
    CUstream s = stream;
    struct sim_capture *c = capture;
    if (s->capture == c) {
        c->unjoined |= !is_joined(s);
        leave(s);
    }
    return false;
}

/* Every stream must have been joined to the first one; all of them leave the capture. */
static void leave_all(struct sim_capture *c)
{
    for (CUgraphNode n = c->graph->first; n; n = n->next)
        n->visited = false;
    mark_ancestors(c->origin->leaves);
    sim_each(SIM_STREAM, leave_if_in, c);
}

static void drop(struct sim_capture *c)
{
    struct sim_capture **at = &sim_captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
}

CUresult sim_cuStreamEndCapture(CUstream handle, CUgraph *out)
{
    CUstream s;
    CUresult r = out ? sim_stream_of(handle, &s) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    *out = NULL;
    struct sim_capture *c = s->capture;
    if (!c)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != sim_self.id)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (c->origin != s)
        r = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    leave_all(c);
    if (c->invalid)
        r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (c->recaptures && c->next_node)
        r = RECAPTURE_FAILURE;
    else if (c->unjoined)
        r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    if (r == CUDA_SUCCESS)
        *out = c->graph;
    else if (!c->graph_is_callers)
        sim_graph_free(c->graph);
    drop(c);
    return r;
}

/* It went into another interface's list: there is no graph. */
CUresult sim_cuStreamEndCaptureToCig(CUstream s)
{
    CUgraph graph;
    CUresult r = sim_cuStreamEndCapture(s, &graph);
    if (r == CUDA_SUCCESS)
        sim_graph_free(graph);
    return r;
}

/* A capture ends with the stream it began in. */
void sim_capture_stream_ends(CUstream s)
{
    struct sim_capture *c = s->capture;
    leave(s);
    if (!c || c->origin != s)
        return;
    leave_all(c);
    if (!c->graph_is_callers)
        sim_graph_free(c->graph);
    drop(c);
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = sim_self.mode;
    sim_self.mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* ---- questions ---- */

static CUstreamCaptureStatus status_of(const struct sim_capture *c)
{
    if (!c)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return c->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static CUresult ask(CUstream handle, CUstream *s)
{
    CUresult r = sim_stream_of(handle, s);
    if (r == CUDA_SUCCESS && (*s)->kind == SIM_STREAM_LEGACY)
        r = sim_legacy_use((*s)->context, false);
    return r;
}

CUresult sim_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *out)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r == CUDA_SUCCESS)
        *out = status_of(s->capture);
    return r;
}

CUresult sim_cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status,
                                       cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                       const CUgraphEdgeData **edges, size_t *count)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r != CUDA_SUCCESS)
        return r;
    *status = status_of(s->capture);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (id)
        *id = s->capture->id;
    if (graph)
        *graph = s->capture->graph;
    if (nodes)
        *nodes = s->leaves->node;
    if (edges)
        *edges = NULL;
    if (count)
        *count = s->leaves->count;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id,
                                       CUgraph *graph, const CUgraphNode **nodes, size_t *count)
{
    return sim_cuStreamGetCaptureInfo_v3(s, status, id, graph, nodes, NULL, count);
}

CUresult sim_cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return sim_cuStreamGetCaptureInfo_v3(s, status, id, NULL, NULL, NULL, NULL);
}

CUresult sim_cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *nodes, size_t count,
                                               unsigned int flags)
{
    CUstream s;
    CUresult r = ask(handle, &s);
    if (r == CUDA_SUCCESS && status_of(s->capture) != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        r = CUDA_ERROR_ILLEGAL_STATE;
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_nodes *given = sim_nodes_of(nodes, count);
    if (flags & CU_STREAM_SET_CAPTURE_DEPENDENCIES) {
        set_leaves(s, given);
        return CUDA_SUCCESS;
    }
    set_leaves(s, sim_nodes_join(s->leaves, given));
    free(given);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamUpdateCaptureDependencies_v2(CUstream s, CUgraphNode *nodes,
                                                  const CUgraphEdgeData *edges, size_t count,
                                                  unsigned int flags)
{
    (void)edges;
    return sim_cuStreamUpdateCaptureDependencies(s, nodes, count, flags);
}
