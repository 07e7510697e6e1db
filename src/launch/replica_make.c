/* SPDX-License-Identifier: MIT */
#include "launch/replica_make.h"

#include "base/text.h"
#include "containers/intern.h"
#include "counts/filter.h"
#include "counts/row.h"
#include "launch/replica_limit.h"
#include "system/mem.h"
#include "time/op.h"
#include "work/graph.h"
#include "work/graph_work.h"
#include "work/kernel.h"
#include "work/node_stack.h"

/* Replicas get one in so many of a context's events: brackets need the others. */
#define EVENTS_SHARE 2

static _Atomic uint32_t events_in_use[CT_CONTEXTS];

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
    struct ct_event_cache *cache;
    struct ct_buffer stops; /* CUgraphNode: the event node behind each node of the body */
    const uint32_t *given;  /* events to take instead of new ones; NULL: new ones */
    size_t given_count;
    CUgraphNode first; /* the event node before all others; NULL: not yet */
    enum ct_replica_loss why;
};

/* A graph whose nodes are gone through in the driver's order. */
struct level {
    CUgraph graph;
    unsigned depth;
    struct ct_replica_before before; /* child graphs: the nodes that all of it waits for */
    bool beside;                     /* all of it may run beside other nodes */
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
    if (m->given) {
        *event = m->given_count ? *m->given++ : CT_EVENT_NONE;
        return m->given_count-- || fail(m, CT_REPLICA_LOST_CHANGED);
    }
    struct ct_context *c = m->context;
    _Atomic uint32_t *in_use = &events_in_use[ct_context_index(c)];
    uint32_t *kept = ct_buffer_add(&m->body->events, sizeof(*kept));
    bool is_free = kept && atomic_load_explicit(in_use, memory_order_relaxed) <
                               c->events.pool[CT_EVENT_TIMED].limit / EVENTS_SHARE;
    *event = is_free ? ct_cache_take(c, m->cache) : CT_EVENT_NONE;
    if (kept)
        *kept = *event;
    if (*event == CT_EVENT_NONE)
        return fail(m, CT_REPLICA_LOST_EVENTS);
    atomic_fetch_add_explicit(in_use, 1, memory_order_relaxed);
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

static uint32_t count_nodes(const struct making *m)
{
    return (uint32_t)(m->body->nodes.len_bytes / sizeof(struct ct_replica_node));
}

/* The body's node that the event node is behind; NO_NODE: it is no such event node. */
static uint32_t stopped_by(const struct making *m, CUgraphNode node)
{
    const CUgraphNode *stop = (const CUgraphNode *)(const void *)m->stops.data;
    uint32_t count = count_nodes(m);
    while (count--)
        if (stop[count] == node)
            return count;
    return CT_REPLICA_NO_NODE;
}

static uint32_t stop_event_at(const struct making *m, CUgraphNode node)
{
    size_t count;
    uint32_t i = stopped_by(m, node);
    return i == CT_REPLICA_NO_NODE ? CT_EVENT_NONE
                                   : ct_replica_nodes(m->body, &count)[i].stop_event;
}

/* False: it is neither an event node behind another, nor a child graph's. */
static bool span_of(const struct making *m, CUgraphNode node, struct ct_replica_span *span)
{
    uint32_t i = stopped_by(m, node);
    const struct ct_replica_child *c = (const void *)m->body->children.data;
    size_t children = m->body->children.len_bytes / sizeof(*c);
    *span = (struct ct_replica_span){i, i + 1};
    if (i != CT_REPLICA_NO_NODE)
        return true;
    while (children && c->node != node)
        c++, children--;
    if (children)
        *span = c->nodes;
    return children != 0;
}

/* The nodes that one with these neighbours waits for. */
static bool look_before(struct making *m, const struct level *l, const struct ct_graph_nodes *from,
                        struct ct_replica_before *b)
{
    *b = l->before;
    if (!from->count)
        return true;
    *b = (struct ct_replica_before){
        .span = (uint32_t)(m->body->spans.len_bytes / sizeof(struct ct_replica_span)),
        .count = (uint32_t)from->count};
    for (size_t i = 0; i < from->count; i++) {
        struct ct_replica_span *span = ct_buffer_add(&m->body->spans, sizeof(*span));
        if (!span)
            return fail(m, CT_REPLICA_LOST_REFUSED);
        b->is_untold |= !span_of(m, from->node[i], span);
    }
    return true;
}

/* One event node before everything: the start of all nodes that wait for none. */
static bool add_first(struct making *m, CUgraph g)
{
    return m->first || add_record(m, g, NULL, 0, &m->first, &m->body->first_event);
}

static bool add_start_between(struct making *m, CUgraph g, CUgraphNode node,
                              const struct ct_graph_nodes *from, uint32_t *event)
{
    CUgraphNode record;
    bool ok = add_record(m, g, from->node, from->count, &record, event);
    for (size_t i = 0; ok && i < from->count; i++)
        ok = part(m, g, from->node[i], node);
    return ok && join(m, g, record, node);
}

static bool add_start(struct making *m, const struct level *l, struct ct_replica_node *n,
                      const struct ct_graph_nodes *from)
{
    CUgraph g = l->graph;
    if (!from->count && !l->depth) {
        n->start_event = CT_EVENT_NONE;
        if (!add_first(m, g) || !join(m, g, m->first, n->node))
            return false;
        n->start_event = m->body->first_event;
        return true;
    }
    n->start_event = from->count == 1 ? stop_event_at(m, from->node[0]) : CT_EVENT_NONE;
    if (n->start_event != CT_EVENT_NONE)
        return true;
    n->own_start = n->before.count || n->before.is_untold;
    return add_start_between(m, g, n->node, from, &n->start_event);
}

static bool add_stop(struct making *m, CUgraph g, CUgraphNode node, const struct ct_graph_nodes *to,
                     uint32_t *event)
{
    CUgraphNode record, *kept = ct_buffer_add(&m->stops, sizeof(*kept));
    if (!kept)
        return fail(m, CT_REPLICA_LOST_REFUSED);
    bool ok = add_record(m, g, &node, 1, &record, event);
    for (size_t i = 0; ok && i < to->count; i++)
        ok = part(m, g, node, to->node[i]) && join(m, g, record, to->node[i]);
    if (ok)
        *kept = record;
    return ok;
}

static bool add_both(struct making *m, const struct level *l, struct ct_replica_node *n,
                     const struct ct_graph_nodes *from, const struct ct_graph_nodes *to)
{
    if (!look_before(m, l, from, &n->before) || !add_start(m, l, n, from) ||
        !add_stop(m, l->graph, n->node, to, &n->stop_event))
        return false;
    struct ct_replica_node *kept = ct_buffer_add(&m->body->nodes, sizeof(*kept));
    if (!kept)
        return fail(m, CT_REPLICA_LOST_REFUSED);
    *kept = *n;
    return true;
}

static const char *kernel_name(const struct ct_context *c, const char *name)
{
    const char *kept = name ? ct_intern(name, ct_strnlen(name, CT_NAME_BYTES)) : NULL;
    return kept && ct_filter_takes(c->device, kept) ? kept : NULL;
}

const char *ct_replica_name(const struct ct_context *c, const struct ct_graph_work *w)
{
    if (!w->kind)
        return NULL;
    return w->kind == CT_ROW_KERNEL ? kernel_name(c, w->name) : ct_graph_work_name(w);
}

static bool is_of_context(struct making *m, CUgraphNode kernel)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    if (!is_done(m, CT_ASK(cuGraphKernelNodeGetParams_v2, kernel, &p)))
        return false;
    return !p.ctx || p.ctx == m->context->handle || fail(m, CT_REPLICA_LOST_CONTEXTS);
}

static bool add_work(struct making *m, const struct level *l, CUgraphNode node,
                     CUgraphNodeType type, bool beside, const struct ct_graph_nodes *from,
                     const struct ct_graph_nodes *to)
{
    if (type == CU_GRAPH_NODE_TYPE_KERNEL && !is_of_context(m, node))
        return false;
    struct ct_graph_work w = ct_graph_work_of(node, type);
    struct ct_replica_node n = {
        .node = node, .name = ct_replica_name(m->context, &w), .stack = w.stack, .beside = beside};
    return !n.name || add_both(m, l, &n, from, to);
}

static bool add_all(struct making *m, struct level l);

static bool add_child(struct making *m, const struct level *l, CUgraphNode node, bool beside,
                      const struct ct_graph_nodes *from)
{
    struct level inside = {.graph = ct_graph_child(node), .depth = l->depth + 1, .beside = beside};
    uint32_t first = count_nodes(m), event = (uint32_t)ct_replica_events(m->body);
    if (!look_before(m, l, from, &inside.before) || !add_all(m, inside))
        return false;
    struct ct_replica_child *c = ct_buffer_add(&m->body->children, sizeof(*c));
    if (!c)
        return fail(m, CT_REPLICA_LOST_REFUSED);
    *c = (struct ct_replica_child){
        node, {first, count_nodes(m)}, {event, (uint32_t)ct_replica_events(m->body)}};
    return true;
}

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
    if (type == CU_GRAPH_NODE_TYPE_GRAPH)
        return add_child(m, l, node, beside, from);
    return add_work(m, l, node, type, beside, from, to);
}

/* A node that overlaps with another has no event nodes, which would keep the two apart. */
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

static bool add_all(struct making *m, struct level l)
{
    struct ct_graph_nodes n;
    if (!l.graph || l.depth > CT_GRAPH_DEPTH || !ct_graph_nodes_of(l.graph, &n))
        return fail(m, CT_REPLICA_LOST_REFUSED);
    bool ok = is_done(m, CT_ASK(cuGraphGetRootNodes, l.graph, NULL, &l.waiting));
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
    m->body->own_end = *event == CT_EVENT_NONE;
    if (ok && m->body->own_end)
        ok = add_record(m, g, n.node, n.count, &record, event);
    ct_graph_nodes_free(&n);
    return ok;
}

static bool reserve(struct making *m, CUgraph clone)
{
    size_t nodes = 0;
    if (!is_done(m, CT_ASK(cuGraphGetNodes, clone, NULL, &nodes)))
        return false;
    m->body->bytes = ct_replica_reserve(ct_max(nodes, 2 * (size_t)count_nodes(m)));
    return m->body->bytes || fail(m, CT_REPLICA_LOST_LIMIT);
}

static bool make(struct making *m, CUgraph clone, unsigned flags)
{
    struct ct_context *c = m->context;
    if (!add_all(m, (struct level){.graph = clone}))
        return false;
    if (!m->body->nodes.len_bytes)
        return false;
    return add_first(m, clone) && add_end(m, clone) && reserve(m, clone) &&
           is_done(m, CT_ASK_IN(c, cuGraphInstantiateWithFlags, &m->body->exec, clone, flags));
}

static void empty(struct ct_buffer *b)
{
    ct_unmap(b->data, b->size_bytes);
    *b = (struct ct_buffer){0};
}

bool ct_replica_make(struct ct_replica_body *b, CUgraph clone, unsigned flags, struct ct_context *c,
                     struct ct_event_cache *cache, enum ct_replica_loss *why)
{
    struct making m = {.body = b, .context = c, .cache = cache, .why = CT_REPLICA_LOSS_COUNT};
    *b = (struct ct_replica_body){.first_event = CT_EVENT_NONE};
    bool ok = make(&m, clone, flags);
    empty(&m.stops);
    *why = m.why;
    if (!ok)
        ct_replica_unmake(b, c, cache);
    return ok;
}

static const struct ct_replica_child *find_child(const struct ct_replica_body *b, CUgraphNode node)
{
    const struct ct_replica_child *c = (const void *)b->children.data;
    size_t count = b->children.len_bytes / sizeof(*c);
    while (count && c->node != node)
        c++, count--;
    return count ? c : NULL;
}

/* Names and stacks of the nodes that were made anew. False: they are not the same nodes. */
static bool take_names(struct ct_replica_body *b, const struct ct_replica_child *c,
                       const struct making *m, uint32_t launch)
{
    size_t count;
    const struct ct_replica_node *from = ct_replica_nodes(m->body, &count);
    struct ct_replica_node *to = (struct ct_replica_node *)(void *)b->nodes.data + c->nodes.first;
    bool same = count == c->nodes.end - c->nodes.first && !m->given_count;
    for (size_t i = 0; same && i < count; i++) {
        same = from[i].stop_event == to[i].stop_event;
        if (from[i].name != to[i].name)
            to[i].changed = launch;
        to[i].name = from[i].name;
        to[i].stack = from[i].stack;
    }
    return same;
}

bool ct_replica_set_child(struct ct_replica_body *b, CUgraphNode node, CUgraph graph,
                          struct ct_context *c, uint32_t launch)
{
    const struct ct_replica_child *child = find_child(b, node);
    struct ct_replica_body made = {.first_event = CT_EVENT_NONE};
    if (!child || !CT_HAS(cuGraphExecChildGraphNodeSetParams))
        return false;
    struct making m = {.body = &made,
                       .context = c,
                       .given =
                           (const uint32_t *)(const void *)b->events.data + child->events.first,
                       .given_count = child->events.end - child->events.first,
                       .why = CT_REPLICA_LOSS_COUNT};
    bool ok =
        add_all(&m, (struct level){.graph = graph, .depth = 1}) &&
        take_names(b, child, &m, launch) &&
        CT_ASK_IN(c, cuGraphExecChildGraphNodeSetParams, b->exec, node, graph) == CUDA_SUCCESS;
    empty(&m.stops);
    ct_replica_forget(&made, c);
    return ok;
}

void ct_replica_forget(struct ct_replica_body *b, const struct ct_context *c)
{
    const uint32_t *event = (const uint32_t *)(const void *)b->events.data;
    for (size_t i = 0; i < ct_replica_events(b); i++)
        atomic_fetch_sub_explicit(&events_in_use[ct_context_index(c)], event[i] != CT_EVENT_NONE,
                                  memory_order_relaxed);
    ct_replica_release(b->bytes);
    empty(&b->nodes);
    empty(&b->spans);
    empty(&b->children);
    empty(&b->events);
    *b = (struct ct_replica_body){0};
}

void ct_replica_unmake(struct ct_replica_body *b, struct ct_context *c,
                       struct ct_event_cache *cache)
{
    uint32_t *event = (uint32_t *)(void *)b->events.data;
    for (size_t i = 0; i < ct_replica_events(b); i++)
        if (event[i] != CT_EVENT_NONE)
            ct_cache_give(c, cache, event[i]);
    CUgraphExec exec = b->exec;
    ct_replica_forget(b, c);
    if (exec)
        CT_ASK_IN(c, cuGraphExecDestroy, exec);
}
