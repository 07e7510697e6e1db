/* SPDX-License-Identifier: MIT */
/*
 * A graph with event nodes around its kernels, copies and sets: made of a clone, off the launch
 * path.
 *
 *     before                after
 *     a -> K -> L -> b      a -> [1] -> K -> [2] -> L -> [3] -> b
 *
 * Everything else keeps its order. The event node behind a node is also the start of one
 * that waits for that node alone. One event node before all others is the start of those that wait
 * for none; one behind all others, a stop or one more, tells that the whole graph is through.
 */
#ifndef CT_REPLICA_MAKE_H
#define CT_REPLICA_MAKE_H

#include "base/base.h"
#include "cuda/api.h"
#include "state/context.h"
#include "system/mem.h"
#include "work/graph_work.h"

/* Why the kernels of an executable graph have no times of their own. */
#define CT_REPLICA_LOSSES(X)                                                                       \
    X(MEMORY, "Graphs whose kernels have no times of their own: they allocate or free memory")     \
    X(CONDITION, "Graphs whose kernels have no times of their own: they have conditional nodes")   \
    X(DEVICE, "Graphs whose kernels have no times of their own: they are launched from the GPU")   \
    X(PROGRAMMATIC,                                                                                \
      "Graphs in which kernels have no times of their own: they begin before others have ended")   \
    X(CONTEXTS, "Graphs whose kernels have no times of their own: they are of several contexts")   \
    X(CHANGED, "Graphs whose kernels have no more times of their own: "                            \
               "they were changed too often, or in a way that is not followed")                    \
    X(UNLOADED,                                                                                    \
      "Graphs whose kernels have no times of their own: a module was unloaded too early")          \
    X(EVENTS, "Graphs whose kernels have no times of their own: too few events (CUTRACE_EVENTS)")  \
    X(SELDOM, "Graphs whose kernels have no times of their own: they were launched too seldom")    \
    X(LIMIT, "Graphs whose kernels have no times of their own: copies of them would take more "    \
             "than 64 MiB")                                                                        \
    X(GIVEN_UP,                                                                                    \
      "Kernels in graphs have no more times of their own: the program needed the memory")          \
    X(REFUSED, "Graphs whose kernels have no times of their own: the driver refused a copy")       \
    X(MANY, "Graphs whose kernels have no times of their own: there are too many")

enum ct_replica_loss {
#define X(id, text) CT_REPLICA_LOST_##id,
    CT_REPLICA_LOSSES(X)
#undef X
        CT_REPLICA_LOSS_COUNT
};

/* Nodes that follow each other in the body: one, or those of a child graph. */
struct ct_replica_span {
    uint32_t first;
    uint32_t end;
};

/* Those that a node waits for: so many of the body's spans from one on. */
struct ct_replica_before {
    uint32_t span;
    uint32_t count;
    bool is_untold; /* it waits for others, too */
};

/* Events are indices into the context's pool. */
struct ct_replica_node {
    CUgraphNode node; /* of the clone */
    const char *name; /* interned, or of ct_graph_work_name(); NULL: its times are not wanted */
    uint32_t stack;   /* that it is from (node_stack.h); 0: none */
    uint32_t start_event;
    uint32_t stop_event;
    uint32_t changed; /* the launch of the replica up to which it was another one, or switched */
    struct ct_replica_before before;
    bool own_start; /* its start is one more event node on the way to it */
    bool beside;    /* other nodes may run meanwhile */
    bool off;       /* the node is off: it does not run */
};

#define CT_REPLICA_NO_NODE UINT32_MAX

/* A child graph's node in the clone, and the body's nodes and events in it. */
struct ct_replica_child {
    CUgraphNode node;
    struct ct_replica_span nodes;
    struct ct_replica_span events;
};

struct ct_replica_body {
    CUgraphExec exec;
    uint32_t first_event; /* before all work, as done_event is behind it */
    uint32_t done_event;
    uint64_t bytes;            /* reserved for it (replica_limit.h) */
    bool own_end;              /* done_event is no stop, but behind several */
    struct ct_buffer nodes;    /* struct ct_replica_node: those that are timed */
    struct ct_buffer spans;    /* struct ct_replica_span */
    struct ct_buffer children; /* struct ct_replica_child */
    struct ct_buffer events;   /* uint32_t: all that were taken */
};

static inline const struct ct_replica_node *ct_replica_nodes(const struct ct_replica_body *b,
                                                             size_t *count)
{
    *count = b->nodes.len_bytes / sizeof(struct ct_replica_node);
    return (const struct ct_replica_node *)(const void *)b->nodes.data;
}

static inline size_t ct_replica_events(const struct ct_replica_body *b)
{
    return b->events.len_bytes / sizeof(uint32_t);
}

/* NULL: the node has no event nodes. */
static inline struct ct_replica_node *ct_replica_node_of(struct ct_replica_body *b,
                                                         CUgraphNode node)
{
    struct ct_replica_node *n = (struct ct_replica_node *)(void *)b->nodes.data;
    size_t count = b->nodes.len_bytes / sizeof(*n);
    while (count && n->node != node)
        n++, count--;
    return count ? n : NULL;
}

/* The name that work's times count for; NULL: it has none, or is not wanted. */
const char *ct_replica_name(const struct ct_context *c, const struct ct_graph_work *w);

/*
 * The reason in a graph, or in its instantiation, against a replica; COUNT: there is none. The
 * graph is only read. *flags: how a replica is to be instantiated.
 */
enum ct_replica_loss ct_replica_look(CUgraphExec exec, CUgraph graph, unsigned *flags);

/*
 * In the context: makes a replica of a clone that nobody else has, with events from the caller's
 * cache. False: there is none, and `b` is empty. *why: the reason for that, or for kernels without
 * times; COUNT: there is no reason, or no kernel that anybody wants. The caller destroys the clone
 * either way.
 */
bool ct_replica_make(struct ct_replica_body *b, CUgraph clone, unsigned flags, struct ct_context *c,
                     struct ct_event_cache *cache, enum ct_replica_loss *why);

/*
 * Gives a child graph's node of the body the work of `graph`, which is the caller's: its nodes have
 * the event nodes that those before had. The program's thread. False: it is not known, or refused.
 */
bool ct_replica_set_child(struct ct_replica_body *b, CUgraphNode node, CUgraph graph,
                          struct ct_context *c, uint32_t launch);

/* Destroys the driver's graph, and gives its events back. In the context. */
void ct_replica_unmake(struct ct_replica_body *b, struct ct_context *c,
                       struct ct_event_cache *cache);

/* Forgets a replica without a driver call: the context has gone, and its events with it. */
void ct_replica_forget(struct ct_replica_body *b, const struct ct_context *c);

#endif
