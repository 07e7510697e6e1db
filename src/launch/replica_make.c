/* SPDX-License-Identifier: MIT */
#include "launch/replica_make.h"

#include "base/text.h"
#include "containers/intern.h"
#include "counts/filter.h"
#include "counts/row.h"
#include "system/mem.h"
#include "time/op.h"
#include "work/graph.h"
#include "work/kernel.h"
#include "work/node_stack.h"

/* Replicas get one in so many of a context's events: brackets need the others. */
#define EVENTS_SHARE 2

static uint32_t events_in_use[CT_CONTEXTS];

/* ---- graphs without a replica ---- */

static enum ct_replica_loss loss_of_type(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return CT_REPLICA_LOST_MEMORY;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return CT_REPLICA_LOST_CONDITION;
    default: /* nobody knows how a copy of a node of a later type would behave */
        return type > CU_GRAPH_NODE_TYPE_CONDITIONAL ? CT_REPLICA_LOST_REFUSED
                                                     : CT_REPLICA_LOSS_COUNT;
    }
}

static enum ct_replica_loss look_at(CUgraph graph, unsigned depth)
{
    struct ct_graph_nodes n;
    enum ct_replica_loss loss = CT_REPLICA_LOSS_COUNT;
    if (depth > CT_GRAPH_DEPTH)
        return CT_REPLICA_LOST_REFUSED;
    if (!ct_graph_nodes_of(graph, &n))
        return loss;
    for (size_t i = 0; loss == CT_REPLICA_LOSS_COUNT && i < n.count; i++) {
        CUgraphNodeType type;
        if (CT_ASK(cuGraphNodeGetType, n.node[i], &type) != CUDA_SUCCESS)
            loss = CT_REPLICA_LOST_REFUSED;
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH)
            loss = look_at(ct_graph_child(n.node[i]), depth + 1);
        else
            loss = loss_of_type(type);
    }
    ct_graph_nodes_free(&n);
    return loss;
}

enum ct_replica_loss ct_replica_look(CUgraphExec exec, CUgraph graph, unsigned *flags)
{
    cuuint64_t all = 0;
    if (CT_ASK(cuGraphExecGetFlags, exec, &all) != CUDA_SUCCESS)
        return CT_REPLICA_LOST_REFUSED;
    *flags = (unsigned)all & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (all & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return CT_REPLICA_LOST_DEVICE;
    return look_at(graph, 0);
}

/* ---- making one ---- */

struct making {
    struct ct_replica_body *body;
    struct ct_context *context;
    struct ct_buffer stops; /* CUgraphNode: the event node behind each kernel of the body */
    enum ct_replica_loss why;
};

/* A graph whose nodes are gone through in the driver's order. */
struct level {
    CUgraph graph;
    unsigned depth;
    bool beside;    /* all of it may run beside other nodes */
    size_t waiting; /* roots to come, and edges from nodes gone through to nodes to come */
};

static bool fail(struct making *m, enum ct_replica_loss why)
{
    m->why = why;
    return false;
}

static bool is_done(struct making *m, CUresult r)
{
    return r == CUDA_SUCCESS || fail(m, CT_REPLICA_LOST_REFUSED);
}

static CUresult ask(CUgraphNode of, bool before, CUgraphNode *node, size_t *count)
{
    if (before)
        return CT_ASK(cuGraphNodeGetDependencies_v2, of, node, NULL, count);
    return CT_ASK(cuGraphNodeGetDependentNodes_v2, of, node, NULL, count);
}

/*
 * The nodes that a node waits for, or those that wait for it. The driver refuses where an edge says
 * more than that, as those of programmatic launches do, and the caller has no room for that.
 */
static bool neighbours_of(struct making *m, CUgraphNode of, bool before, struct ct_graph_nodes *n)
{
    *n = (struct ct_graph_nodes){0};
    CUresult r = ask(of, before, NULL, &n->count);
    if (r == CUDA_SUCCESS && n->count) {
        n->bytes = n->count * sizeof(*n->node);
        if (!(n->node = ct_map(n->bytes)))
            return fail(m, CT_REPLICA_LOST_REFUSED);
        r = ask(of, before, n->node, &n->count);
    }
    if (r == CUDA_SUCCESS)
        return true;
    ct_graph_nodes_free(n);
    bool is_lossy = r == CUDA_ERROR_LOSSY_QUERY;
    return fail(m, is_lossy ? CT_REPLICA_LOST_PROGRAMMATIC : CT_REPLICA_LOST_REFUSED);
}

/* An event of the context's pool, the body's from here on. */
static bool take_event(struct making *m, uint32_t *event)
{
    struct ct_context *c = m->context;
    uint32_t *in_use = &events_in_use[ct_context_index(c)];
    uint32_t *kept = ct_buffer_add(&m->body->events, sizeof(*kept));
    bool is_free = kept && *in_use < c->events.pool[CT_EVENT_TIMED].limit / EVENTS_SHARE;
    *event = is_free ? ct_event_take(c) : CT_EVENT_NONE;
    if (kept)
        *kept = *event;
    if (*event == CT_EVENT_NONE)
        return fail(m, CT_REPLICA_LOST_EVENTS);
    ++*in_use;
    return true;
}

static bool add_record(struct making *m, CUgraph g, const CUgraphNode *after, size_t count,
                       CUgraphNode *out, uint32_t *event)
{
    struct ct_context *c = m->context;
    return take_event(m, event) && is_done(m, CT_ASK_IN(c, cuGraphAddEventRecordNode, out, g, after,
                                                        count, ct_event(c, *event)));
}

static bool join(struct making *m, CUgraph g, CUgraphNode from, CUgraphNode to)
{
    return is_done(m, CT_ASK(cuGraphAddDependencies_v2, g, &from, &to, NULL, 1));
}

static bool part(struct making *m, CUgraph g, CUgraphNode from, CUgraphNode to)
{
    return is_done(m, CT_ASK(cuGraphRemoveDependencies_v2, g, &from, &to, NULL, 1));
}

/* The event of the node, if that is the event node behind an earlier kernel; NONE otherwise. */
static uint32_t stop_event_at(const struct making *m, CUgraphNode node)
{
    const CUgraphNode *stop = (const CUgraphNode *)(const void *)m->stops.data;
    size_t count;
    const struct ct_replica_node *nodes = ct_replica_nodes(m->body, &count);
    while (count--)
        if (stop[count] == node)
            return nodes[count].stop_event;
    return CT_EVENT_NONE;
}

static bool add_start_between(struct making *m, CUgraph g, CUgraphNode kernel,
                              const struct ct_graph_nodes *from, uint32_t *event)
{
    CUgraphNode record;
    bool ok = add_record(m, g, from->node, from->count, &record, event);
    for (size_t i = 0; ok && i < from->count; i++)
        ok = part(m, g, from->node[i], kernel);
    return ok && join(m, g, record, kernel);
}

static bool add_start(struct making *m, CUgraph g, CUgraphNode kernel,
                      const struct ct_graph_nodes *from, uint32_t *event)
{
    *event = from->count == 1 ? stop_event_at(m, from->node[0]) : CT_EVENT_NONE;
    return *event != CT_EVENT_NONE || add_start_between(m, g, kernel, from, event);
}

static bool add_stop(struct making *m, CUgraph g, CUgraphNode kernel,
                     const struct ct_graph_nodes *to, uint32_t *event)
{
    CUgraphNode record, *kept = ct_buffer_add(&m->stops, sizeof(*kept));
    if (!kept)
        return fail(m, CT_REPLICA_LOST_REFUSED);
    bool ok = add_record(m, g, &kernel, 1, &record, event);
    for (size_t i = 0; ok && i < to->count; i++)
        ok = part(m, g, kernel, to->node[i]) && join(m, g, record, to->node[i]);
    if (ok)
        *kept = record;
    return ok;
}

static bool add_both(struct making *m, CUgraph g, CUgraphNode kernel, struct ct_replica_node *n,
                     const struct ct_graph_nodes *from, const struct ct_graph_nodes *to)
{
    if (!add_start(m, g, kernel, from, &n->start_event) ||
        !add_stop(m, g, kernel, to, &n->stop_event))
        return false;
    struct ct_replica_node *kept = ct_buffer_add(&m->body->nodes, sizeof(*kept));
    if (!kept)
        return fail(m, CT_REPLICA_LOST_REFUSED);
    *kept = *n;
    return true;
}

const char *ct_replica_name(const struct ct_context *c, CUfunction f)
{
    const char *name = ct_kernel_name(f);
    const char *kept = name ? ct_intern(name, ct_strnlen(name, CT_NAME_BYTES)) : NULL;
    return kept && ct_filter_takes(c->device, kept) ? kept : NULL;
}

static bool add_kernel(struct making *m, const struct level *l, CUgraphNode kernel, bool beside,
                       const struct ct_graph_nodes *from, const struct ct_graph_nodes *to)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    struct ct_context *c = m->context;
    if (!is_done(m, CT_ASK(cuGraphKernelNodeGetParams_v2, kernel, &p)))
        return false;
    if (p.ctx && p.ctx != c->handle)
        return fail(m, CT_REPLICA_LOST_CONTEXTS);
    struct ct_replica_node n = {.kernel = kernel, .stack = ct_node_stack(kernel), .beside = beside};
    n.name = ct_replica_name(c, p.func ? p.func : (CUfunction)p.kern);
    if (!n.name)
        return true;
    bool ok = add_both(m, l->graph, kernel, &n, from, to);
    if (ok && !l->depth && !from->count && !beside)
        m->body->first_event = n.start_event;
    return ok;
}

static bool add_all(struct making *m, CUgraph g, bool beside, unsigned depth);

/*
 * Whether other nodes may run beside the node. It is alone if every node before it in the driver's
 * order is done when it begins, and no other can begin with it; no other order is looked at.
 */
static bool pass(struct level *l, const struct ct_graph_nodes *from,
                 const struct ct_graph_nodes *to)
{
    size_t taken = from->count ? from->count : 1;
    l->waiting -= ct_min(l->waiting, taken);
    bool beside = l->beside || l->waiting;
    l->waiting += to->count;
    return beside;
}

static bool add_known(struct making *m, struct level *l, CUgraphNode node,
                      const struct ct_graph_nodes *from, const struct ct_graph_nodes *to)
{
    CUgraphNodeType type;
    bool beside = pass(l, from, to);
    if (!is_done(m, CT_ASK(cuGraphNodeGetType, node, &type)))
        return false;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        return add_kernel(m, l, node, beside, from, to);
    return type != CU_GRAPH_NODE_TYPE_GRAPH ||
           add_all(m, ct_graph_child(node), beside, l->depth + 1);
}

/* A kernel that overlaps with another has no event nodes, which would keep the two apart. */
static bool add_node(struct making *m, struct level *l, CUgraphNode node)
{
    struct ct_graph_nodes from, to;
    if (!neighbours_of(m, node, true, &from)) {
        l->beside = true;
        return m->why == CT_REPLICA_LOST_PROGRAMMATIC;
    }
    bool known = neighbours_of(m, node, false, &to);
    bool ok = known ? add_known(m, l, node, &from, &to) : m->why == CT_REPLICA_LOST_PROGRAMMATIC;
    if (known)
        ct_graph_nodes_free(&to);
    else
        l->beside = true;
    ct_graph_nodes_free(&from);
    return ok;
}

static bool add_all(struct making *m, CUgraph g, bool beside, unsigned depth)
{
    struct ct_graph_nodes n;
    struct level l = {.graph = g, .depth = depth, .beside = beside};
    if (!g || depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(g, &n))
        return fail(m, CT_REPLICA_LOST_REFUSED);
    bool ok = is_done(m, CT_ASK(cuGraphGetRootNodes, g, NULL, &l.waiting));
    for (size_t i = 0; ok && i < n.count; i++)
        ok = add_node(m, &l, n.node[i]);
    ct_graph_nodes_free(&n);
    return ok;
}

/* Moves the nodes that no node waits for to the front, and keeps only these. */
static bool keep_last_ones(struct making *m, struct ct_graph_nodes *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++) {
        size_t count = 0;
        CUresult r = ask(n->node[i], false, NULL, &count);
        if (r != CUDA_ERROR_LOSSY_QUERY && !is_done(m, r))
            return false;
        if (r == CUDA_SUCCESS && !count)
            n->node[kept++] = n->node[i];
    }
    n->count = kept;
    return true;
}

static bool add_end(struct making *m, CUgraph g)
{
    struct ct_graph_nodes n;
    CUgraphNode record;
    if (!ct_graph_nodes_of(g, &n))
        return fail(m, CT_REPLICA_LOST_REFUSED);
    bool ok = keep_last_ones(m, &n);
    uint32_t *event = &m->body->done_event;
    *event = ok && n.count == 1 ? stop_event_at(m, n.node[0]) : CT_EVENT_NONE;
    if (*event == CT_EVENT_NONE)
        m->body->first_event = CT_EVENT_NONE;
    if (ok && *event == CT_EVENT_NONE)
        ok = add_record(m, g, n.node, n.count, &record, event);
    ct_graph_nodes_free(&n);
    return ok;
}

static bool make(struct making *m, CUgraph clone, unsigned flags)
{
    struct ct_context *c = m->context;
    if (!add_all(m, clone, false, 0))
        return false;
    if (!m->body->nodes.len_bytes)
        return false;
    return add_end(m, clone) &&
           is_done(m, CT_ASK_IN(c, cuGraphInstantiateWithFlags, &m->body->exec, clone, flags));
}

static void empty(struct ct_buffer *b)
{
    ct_unmap(b->data, b->size_bytes);
    *b = (struct ct_buffer){0};
}

bool ct_replica_make(struct ct_replica_body *b, CUgraph clone, unsigned flags, struct ct_context *c,
                     enum ct_replica_loss *why)
{
    struct making m = {.body = b, .context = c, .why = CT_REPLICA_LOSS_COUNT};
    *b = (struct ct_replica_body){.first_event = CT_EVENT_NONE};
    bool ok = make(&m, clone, flags);
    empty(&m.stops);
    *why = m.why;
    if (!ok)
        ct_replica_unmake(b, c);
    return ok;
}

void ct_replica_forget(struct ct_replica_body *b, const struct ct_context *c)
{
    const uint32_t *event = (const uint32_t *)(const void *)b->events.data;
    for (size_t i = 0; i < ct_replica_events(b); i++)
        events_in_use[ct_context_index(c)] -= event[i] != CT_EVENT_NONE;
    empty(&b->nodes);
    empty(&b->events);
    *b = (struct ct_replica_body){0};
}

void ct_replica_unmake(struct ct_replica_body *b, struct ct_context *c)
{
    uint32_t *event = (uint32_t *)(void *)b->events.data;
    for (size_t i = 0; i < ct_replica_events(b); i++)
        if (event[i] != CT_EVENT_NONE)
            ct_event_give(c, event[i]);
    CUgraphExec exec = b->exec;
    ct_replica_forget(b, c);
    if (exec)
        CT_ASK_IN(c, cuGraphExecDestroy, exec);
}
