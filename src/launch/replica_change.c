/* SPDX-License-Identifier: MIT */
/* Replicas follow the program as it makes, changes and destroys executable graphs. */
#include <errno.h>
#include <time.h>

#include "launch/replica_entry.h"
#include "launch/replica_sync.h"
#include "state/thread.h"
#include "system/cancel.h"
#include "system/clock.h"
#include "work/graph.h"
#include "work/node_stack.h"

#define NAP_NS 1000000
#define NAPS 1000

static bool can_replicate(void)
{
    return CT_HAS(cuGraphClone) && CT_HAS(cuGraphDestroy) && CT_HAS(cuGraphExecGetFlags) &&
           CT_HAS(cuGraphInstantiateWithFlags) && CT_HAS(cuGraphExecDestroy) &&
           CT_HAS(cuGraphAddEventRecordNode) && CT_HAS(cuGraphNodeGetDependencies_v2) &&
           CT_HAS(cuGraphNodeGetDependentNodes_v2) && CT_HAS(cuGraphAddDependencies_v2) &&
           CT_HAS(cuGraphRemoveDependencies_v2) && CT_HAS(cuGraphGetRootNodes) &&
           CT_HAS(cuGraphKernelNodeGetParams_v2);
}

/* ---- clones ---- */

static uint32_t take_free_locked(CUgraphExec exec)
{
    uint32_t first = ct_replica_first_way(exec);
    for (uint32_t i = first; i < first + CT_REPLICA_WAYS; i++)
        if (ct_replica_phase_of(i) == CT_REPLICA_FREE) {
            atomic_fetch_add_explicit(&ct_replicas->used, 1, memory_order_relaxed);
            return i;
        }
    return CT_REPLICAS;
}

static bool keep(CUgraphExec exec, CUgraph clone, unsigned flags)
{
    ct_spin_lock(&ct_replicas->lock);
    uint32_t i = take_free_locked(exec);
    if (i < CT_REPLICAS) {
        ct_replicas->replica[i] = (struct ct_replica){
            .clone = clone, .flags = flags, .random = (uint64_t)(uintptr_t)exec | 1};
        atomic_store_explicit(&ct_replicas->dropped[i], false, memory_order_relaxed);
        ct_replica_set_phase(i, CT_REPLICA_CLONED);
        atomic_store_explicit(&ct_replicas->exec[i], exec, memory_order_release);
    }
    ct_spin_unlock(&ct_replicas->lock);
    return i < CT_REPLICAS;
}

static enum ct_replica_loss copy_graph(CUgraphExec exec, CUgraph graph, CUgraph *copy,
                                       unsigned *flags)
{
    if (!can_replicate())
        return CT_REPLICA_LOST_REFUSED;
    enum ct_replica_loss why = ct_replica_look(exec, graph, flags);
    if (why != CT_REPLICA_LOSS_COUNT)
        return why;
    if (CT_REAL(cuGraphClone)(copy, graph) != CUDA_SUCCESS)
        return CT_REPLICA_LOST_REFUSED;
    ct_node_stacks_copied(*copy, graph, 0);
    return why;
}

static void end_copy(CUgraph copy)
{
    ct_node_stacks_forget(copy);
    CT_ASK(cuGraphDestroy, copy);
}

static enum ct_replica_loss offer(CUgraphExec exec, CUgraph graph)
{
    CUgraph copy;
    unsigned flags;
    enum ct_replica_loss why = copy_graph(exec, graph, &copy, &flags);
    if (why != CT_REPLICA_LOSS_COUNT || keep(exec, copy, flags))
        return why;
    end_copy(copy);
    return CT_REPLICA_LOST_MANY;
}

/* ---- dropping ---- */

#define BIT(phase) (1u << CT_REPLICA_##phase)
/* Phases in which another thread works on the entry, and is soon done. */
#define AT_WORK (BIT(MAKING) | BIT(CHANGING) | BIT(ENDING))

/*
 * A replica in the making holds functions of the program's, which may go next. A drain thread that
 * does not come out of the driver is waited for once.
 */
static void wait_while(uint32_t i, unsigned phases)
{
    static _Atomic uint32_t stuck;
    const struct timespec nap = {0, NAP_NS};
    int saved_errno = errno, cancel = ct_cancel_disable();
    for (unsigned naps = 0; 1u << ct_replica_phase_of(i) & phases && atomic_load(&stuck) != i + 1;
         naps++) {
        nanosleep(&nap, NULL);
        if (naps == NAPS)
            atomic_store(&stuck, i + 1);
    }
    ct_cancel_restore(cancel);
    errno = saved_errno;
}

/* ---- making ---- */

static void end_clone(uint32_t i)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    CUgraph copy = r->clone;
    r->clone = NULL;
    if (copy)
        end_copy(copy);
}

void ct_replica_build(uint32_t i, struct ct_event_cache *cache)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    enum ct_replica_loss why = CT_REPLICA_LOSS_COUNT;
    bool made = false;
    if (!atomic_load(&ct_replicas->dropped[i]) && !ct_replicas_are_stopped())
        made = ct_replica_make(&r->body, r->clone, r->flags, r->context, cache, &why);
    if (!made)
        end_clone(i);
    if (!ct_replica_is_dropped(i))
        ct_replica_lose(why);
    ct_replica_set_phase(i, made ? CT_REPLICA_READY : CT_REPLICA_OVER);
}

/*
 * A program that queues many launches before the first is through has queued all of them before a
 * replica could be made: the first graphs of a process get theirs when they are instantiated, by
 * the thread that does that and in a part of the time that takes anyway. Later graphs may be many
 * and launched seldom: they first have to be launched.
 */
#define MADE_AT_ONCE 16
#define AT_ONCE_NS 50000000

/* The graph will be launched in the only context; with several, a launch tells in which. */
static bool is_only_context(const struct ct_context *c)
{
    for (uint32_t i = 0; i < CT_CONTEXTS; i++) {
        const struct ct_context *other = ct_context(i);
        uint32_t state = atomic_load_explicit(&other->state, memory_order_acquire);
        if (other != c && state != CT_CONTEXT_FREE && state != CT_CONTEXT_GONE)
            return false;
    }
    return c != NULL;
}

static bool may_make_at_once(void)
{
    return atomic_load_explicit(&ct_replicas->at_once, memory_order_relaxed) < MADE_AT_ONCE &&
           atomic_load_explicit(&ct_replicas->at_once_ns, memory_order_relaxed) < AT_ONCE_NS;
}

/* With the thread's capture mode relaxed. */
static void make_at_once(CUgraphExec exec)
{
    uint32_t i = ct_replica_find(exec);
    struct ct_context *c = ct_context_current();
    struct ct_thread *t = ct_thread_self();
    if (i == CT_REPLICAS || !t || !is_only_context(c) || !may_make_at_once())
        return;
    uint64_t begin = ct_ticks();
    ct_replicas->replica[i].context = c;
    if (!ct_replica_go_on(i, CT_REPLICA_CLONED, CT_REPLICA_MAKING))
        return;
    ct_replica_build(i, ct_thread_events(t, c));
    atomic_fetch_add_explicit(&ct_replicas->at_once, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&ct_replicas->at_once_ns, ct_ticks_to_ns(ct_ticks() - begin),
                              memory_order_relaxed);
}

void ct_replica_offer(CUgraphExec exec, CUgraph graph)
{
    CUstreamCaptureMode mode;
    if (!ct_replicas_are_on || !exec || !graph || ct_replicas_are_stopped())
        return;
    ct_replica_gone(exec); /* an older executable graph with this handle */
    if (!ct_relaxed_enter(&mode))
        return;
    ct_replica_lose(offer(exec, graph));
    make_at_once(exec);
    ct_relaxed_leave(mode);
}

void ct_replica_end(uint32_t i, struct ct_event_cache *cache)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    end_clone(i);
    ct_replica_unmake(&r->body, r->context, cache);
    r->clone = atomic_exchange_explicit(&r->next, NULL, memory_order_relaxed);
    bool goes_on = r->clone && !ct_replica_is_dropped(i);
    if (!goes_on)
        end_clone(i);
    ct_replica_set_phase(i, goes_on ? CT_REPLICA_CLONED : CT_REPLICA_OVER);
}

/* Marks the entry, then looks at its phase; the drain thread does that the other way round. */
void ct_replica_drop(uint32_t i, enum ct_replica_loss why)
{
    if (atomic_exchange(&ct_replicas->dropped[i], true))
        return;
    if (ct_replica_phase_of(i) != CT_REPLICA_OVER)
        ct_replica_lose(why);
    wait_while(i, AT_WORK);
    if (!ct_replica_go_on(i, CT_REPLICA_CLONED, CT_REPLICA_ENDING) &&
        !ct_replica_go_on(i, CT_REPLICA_WANTED, CT_REPLICA_ENDING))
        return;
    end_clone(i);
    ct_replica_set_phase(i, CT_REPLICA_OVER);
}

void ct_replica_give_back(uint32_t i)
{
    if (ct_replica_go_on(i, CT_REPLICA_OVER, CT_REPLICA_FREE))
        atomic_fetch_sub_explicit(&ct_replicas->used, 1, memory_order_relaxed);
}

void ct_replica_changed(CUgraphExec exec)
{
    uint32_t i = ct_replica_find(exec);
    if (i < CT_REPLICAS)
        ct_replica_drop(i, CT_REPLICA_LOST_CHANGED);
}

/* One that is not running, where its context is the thread's: the entry is free at once. */
static void end_at_once(uint32_t i)
{
    CUstreamCaptureMode mode;
    struct ct_thread *t = ct_thread_self();
    if (!t || ct_replica_phase_of(i) != CT_REPLICA_READY ||
        ct_replicas->replica[i].context != ct_context_current() || !ct_relaxed_enter(&mode))
        return;
    if (ct_replica_go_on(i, CT_REPLICA_READY, CT_REPLICA_ENDING))
        ct_replica_end(i, ct_thread_events(t, ct_replicas->replica[i].context));
    ct_relaxed_leave(mode);
}

void ct_replica_gone(CUgraphExec exec)
{
    uint32_t i = ct_replica_find(exec);
    if (i == CT_REPLICAS)
        return;
    ct_replica_drop(i, ct_replica_was_replayed(i) ? CT_REPLICA_LOSS_COUNT : CT_REPLICA_LOST_SELDOM);
    end_at_once(i);
    atomic_store_explicit(&ct_replicas->exec[i], NULL, memory_order_release);
    ct_replica_give_back(i);
}

void ct_replicas_unloaded(void)
{
    if (!ct_replicas_are_on || !atomic_load_explicit(&ct_replicas->used, memory_order_relaxed))
        return;
    for (uint32_t i = 0; i < CT_REPLICAS; i++) {
        wait_while(i, AT_WORK);
        enum ct_replica_phase p = ct_replica_phase_of(i);
        bool is_there = p != CT_REPLICA_FREE && p != CT_REPLICA_OVER;
        if (p == CT_REPLICA_CLONED || p == CT_REPLICA_WANTED ||
            (is_there && ct_replica_is_outdated(i)))
            ct_replica_drop(i, CT_REPLICA_LOST_UNLOADED);
    }
}

/* ---- changes of nodes ---- */

/* A change of a node by the program: parameters, a child graph, or else a switch on or off. */
struct change {
    CUgraphNode node; /* of the program's graph */
    CUgraphNodeParams *params;
    CUgraph child;
    bool on;
};

/* The entry is the caller's until it sets the phase to *phase again. False: it cannot be had. */
static bool take(uint32_t i, enum ct_replica_phase *phase)
{
    const unsigned kept = BIT(CLONED) | BIT(WANTED) | BIT(READY) | BIT(RUNNING);
    do {
        wait_while(i, AT_WORK | BIT(READING));
        *phase = ct_replica_phase_of(i);
        if (!(1u << *phase & kept))
            return false;
    } while (!ct_replica_go_on(i, *phase, CT_REPLICA_CHANGING));
    return true;
}

static bool find_in_clone(CUgraph clone, const struct change *c, CUgraphNode *mine)
{
    return CT_HAS(cuGraphNodeFindInClone) &&
           CT_REAL(cuGraphNodeFindInClone)(mine, c->node, clone) == CUDA_SUCCESS;
}

/* A clone is no executable graph: all of its nodes are on. */
static bool change_clone(CUgraph clone, const struct change *c)
{
    CUgraphNode mine;
    if (c->child)
        return false;
    if (!c->params)
        return c->on;
    return find_in_clone(clone, c, &mine) && CT_HAS(cuGraphNodeSetParams) &&
           CT_REAL(cuGraphNodeSetParams)(mine, c->params) == CUDA_SUCCESS;
}

static bool change_exec(CUgraphExec exec, CUgraphNode mine, const struct change *c)
{
    if (!c->params)
        return CT_HAS(cuGraphNodeSetEnabled) &&
               CT_REAL(cuGraphNodeSetEnabled)(exec, mine, c->on) == CUDA_SUCCESS;
    return CT_HAS(cuGraphExecNodeSetParams) &&
           CT_REAL(cuGraphExecNodeSetParams)(exec, mine, c->params) == CUDA_SUCCESS;
}

/* A launch under way is not affected: it runs the kernel that was there before. */
static void note_change(struct ct_replica *r, CUgraphNode mine, const struct change *c)
{
    struct ct_replica_node *n = ct_replica_node_of(&r->body, mine);
    if (!n)
        return;
    const char *name = n->name;
    if (c->params) {
        struct ct_graph_work w = ct_graph_work_with(c->params);
        name = ct_replica_name(r->context, &w);
    }
    bool off = c->params ? n->off : !c->on;
    if (name == n->name && off == n->off)
        return;
    n->name = name;
    n->off = off;
    n->changed = atomic_load_explicit(&r->replayed, memory_order_relaxed);
}

/* The child graph is the program's: a copy of it has event nodes. */
static bool change_child(struct ct_replica *r, CUgraphNode mine, const struct change *c)
{
    CUgraph copy;
    if (CT_REAL(cuGraphClone)(&copy, c->child) != CUDA_SUCCESS)
        return false;
    ct_node_stacks_copied(copy, c->child, 0);
    bool ok = ct_replica_set_child(&r->body, mine, copy, r->context,
                                   atomic_load_explicit(&r->replayed, memory_order_relaxed));
    end_copy(copy);
    return ok;
}

static bool change_replica(struct ct_replica *r, const struct change *c)
{
    CUgraphNode mine;
    CUgraph next = atomic_load_explicit(&r->next, memory_order_relaxed);
    if (next)
        return change_clone(next, c);
    if (c->child)
        return find_in_clone(r->clone, c, &mine) && change_child(r, mine, c);
    if (!find_in_clone(r->clone, c, &mine) || !change_exec(r->body.exec, mine, c))
        return false;
    note_change(r, mine, c);
    return true;
}

static bool follow(uint32_t i, const struct change *c)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    enum ct_replica_phase phase;
    CUstreamCaptureMode mode;
    if (!take(i, &phase))
        return false;
    bool relaxed = ct_relaxed_enter(&mode), ok = false;
    if (relaxed && 1u << phase & (BIT(CLONED) | BIT(WANTED)))
        ok = change_clone(r->clone, c);
    else if (relaxed)
        ok = change_replica(r, c);
    if (relaxed)
        ct_relaxed_leave(mode);
    ct_replica_set_phase(i, phase);
    return ok;
}

static void change(CUgraphExec exec, const struct change *c)
{
    uint32_t i = ct_replica_find(exec);
    if (i == CT_REPLICAS || ct_replica_is_dropped(i))
        return;
    bool is_switch = !c->params && !c->child;
    ct_replicas->replica[i].was_off |= is_switch && !c->on;
    if (ct_replicas->replica[i].stale || (!is_switch && !ct_replica_sync_set(i, c->node)))
        return;
    if (!follow(i, c))
        ct_replica_drop(i, CT_REPLICA_LOST_CHANGED);
}

void ct_replica_node_set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
        change(exec, &(struct change){.node = node, .params = p});
        break;
    default:
        ct_replica_changed(exec);
    }
}

void ct_replica_child_set(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    change(exec, &(struct change){.node = node, .child = child});
}

void ct_replica_node_switched(CUgraphExec exec, CUgraphNode node, bool on)
{
    change(exec, &(struct change){.node = node, .on = on});
}

/* ---- updates ---- */

/* The drain thread ends a replica that exists before it makes the next: it may be running. */
static bool renew(uint32_t i, CUgraph copy)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    enum ct_replica_phase phase;
    if (!take(i, &phase))
        return false;
    bool is_made = 1u << phase & (BIT(READY) | BIT(RUNNING));
    CUgraph before = is_made ? atomic_load_explicit(&r->next, memory_order_relaxed) : r->clone;
    if (before)
        end_copy(before);
    if (is_made)
        atomic_store_explicit(&r->next, copy, memory_order_relaxed);
    else
        r->clone = copy;
    r->launches = r->due = r->updated = 0;
    r->sync = (struct ct_replica_sync){0};
    ct_replica_set_phase(i, is_made ? phase : CT_REPLICA_CLONED);
    return true;
}

static enum ct_replica_loss update(uint32_t i, CUgraphExec exec, CUgraph graph)
{
    CUgraph copy;
    unsigned flags;
    enum ct_replica_loss why = copy_graph(exec, graph, &copy, &flags);
    if (why != CT_REPLICA_LOSS_COUNT || renew(i, copy))
        return why;
    end_copy(copy);
    return CT_REPLICA_LOST_CHANGED;
}

/* A launch will be in the context that the thread has. The caller has the entry. */
static bool make_anew(uint32_t i, CUgraph copy, enum ct_replica_phase phase, struct ct_thread *t)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    struct ct_event_cache *cache = ct_thread_events(t, r->context);
    if (phase == CT_REPLICA_READY) {
        CUgraph before = atomic_exchange_explicit(&r->next, copy, memory_order_relaxed);
        if (before)
            end_copy(before);
        ct_replica_set_phase(i, CT_REPLICA_ENDING);
        ct_replica_end(i, cache);
    } else {
        end_clone(i);
        r->clone = copy;
        ct_replica_set_phase(i, CT_REPLICA_CLONED);
    }
    if (!ct_replica_go_on(i, CT_REPLICA_CLONED, CT_REPLICA_MAKING))
        return false;
    ct_replica_build(i, cache);
    return ct_replica_phase_of(i) == CT_REPLICA_READY;
}

/* An update in so many times of what the last one has cost makes the replica anew. */
#define ROUND_SHARE 200

/*
 * A program that updates before each launch does not pay for a replica each time. In between there
 * is none for what it launches.
 */
static enum ct_replica_loss update_in_round(uint32_t i, CUgraphExec exec, CUgraph graph)
{
    CUgraph copy;
    unsigned flags;
    enum ct_replica_phase phase;
    struct ct_replica *r = &ct_replicas->replica[i];
    struct ct_thread *t = ct_thread_self();
    struct ct_context *c = ct_context_current();
    uint64_t begin = ct_ticks();
    r->stale = true;
    r->updated = r->launches;
    if (!t || !r->stream_id || begin < r->round_at || ct_replica_may_run(i) || !is_only_context(c))
        return CT_REPLICA_LOSS_COUNT;
    enum ct_replica_loss why = copy_graph(exec, graph, &copy, &flags);
    if (why != CT_REPLICA_LOSS_COUNT)
        return why;
    if (!take(i, &phase) || phase == CT_REPLICA_RUNNING) {
        end_copy(copy);
        return CT_REPLICA_LOST_CHANGED;
    }
    r->context = c;
    r->stale = !make_anew(i, copy, phase, t);
    r->due = r->launches;
    r->sync = (struct ct_replica_sync){0};
    r->round_at = ct_ticks() + ROUND_SHARE * (ct_ticks() - begin);
    return CT_REPLICA_LOSS_COUNT;
}

static enum ct_replica_loss follow_update(uint32_t i, CUgraphExec exec, CUgraph graph)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    if (r->launches - r->updated < CT_REPLICA_LAUNCHES_BEFORE)
        return update_in_round(i, exec, graph);
    r->stale = false;
    return update(i, exec, graph);
}

/* No manual tells whether an update leaves nodes off that were off. */
void ct_replica_updated(CUgraphExec exec, CUgraph graph)
{
    uint32_t i = ct_replica_find(exec);
    CUstreamCaptureMode mode;
    enum ct_replica_loss why = CT_REPLICA_LOST_CHANGED;
    if (i == CT_REPLICAS || ct_replica_is_dropped(i) || ct_replica_phase_of(i) == CT_REPLICA_OVER)
        return;
    if (!ct_replicas->replica[i].was_off && ct_relaxed_enter(&mode)) {
        why = follow_update(i, exec, graph);
        ct_relaxed_leave(mode);
    }
    if (why != CT_REPLICA_LOSS_COUNT)
        ct_replica_drop(i, why);
}
