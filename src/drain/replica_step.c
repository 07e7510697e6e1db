/* SPDX-License-Identifier: MIT */
#include "drain/replica_step.h"

#include "base/config.h"
#include "drain/node_time.h"
#include "launch/replica_entry.h"
#include "system/clock.h"

/* Event nodes may have one part in so many of a budget. */
#define BUDGET_SHARE 4
/* The cost of event nodes for each kernel, on a device whose figure no table has. */
#define UNKNOWN_NODE_NS 4000

static CT_PROCESS uint32_t running; /* replicas, after the last round */

static void end(uint32_t i, enum ct_replica_loss why, enum ct_replica_phase phase)
{
    if (!ct_replica_is_dropped(i))
        ct_replica_lose(why);
    ct_replica_set_phase(i, phase);
}

static void make(uint32_t i)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    enum ct_replica_loss why = CT_REPLICA_LOSS_COUNT;
    bool made = false;
    if (!atomic_load(&ct_replicas->dropped[i]))
        made = ct_replica_make(&r->body, r->clone, r->flags, r->context, &why);
    if (!made)
        ct_replica_end_clone(i);
    end(i, why, made ? CT_REPLICA_READY : CT_REPLICA_OVER);
}

/* No replica is launched until the budget has as much as the event nodes of this one have cost. */
static void rest(const struct ct_replica *r)
{
    if (!ct_config.budget_ppm)
        return;
    uint32_t bias_ns = ct_device(r->context->device)->calibration->node.bias_ns;
    size_t count;
    ct_replica_nodes(&r->body, &count);
    uint64_t cost_ns = count * (bias_ns ? bias_ns : UNKNOWN_NODE_NS);
    uint64_t rest_ns = cost_ns * BUDGET_SHARE * 1000000 / ct_config.budget_ppm;
    uint64_t until = atomic_load_explicit(&ct_replicas->rest_until, memory_order_relaxed);
    atomic_store_explicit(&ct_replicas->rest_until,
                          ct_max(ct_ticks(), until) + ct_ns_to_ticks(rest_ns),
                          memory_order_relaxed);
}

static bool elapsed(const struct ct_replica *r, uint32_t from, uint32_t to, uint64_t *ns)
{
    int64_t elapsed_ns;
    if (!ct_elapsed_ns(r->context, from, to, &elapsed_ns))
        return false;
    *ns = elapsed_ns > 0 ? (uint64_t)elapsed_ns : 0;
    return true;
}

/* Whether the node's event nodes stood around the kernel of that name in this launch. */
static bool is_known(const struct ct_replica *r, const struct ct_replica_node *n)
{
    uint32_t launch = atomic_load_explicit(&r->replayed, memory_order_relaxed);
    return n->name && !n->off && n->changed < launch;
}

static void read(const struct ct_replica *r)
{
    size_t count, beside = 0, known = 0, alone = 0;
    uint64_t ns, line_ns = 0;
    const struct ct_replica_node *node = ct_replica_nodes(&r->body, &count);
    for (size_t k = 0; k < count; k++) {
        if (!is_known(r, &node[k]))
            continue;
        known++;
        beside += node[k].beside;
        if (!elapsed(r, node[k].start_event, node[k].stop_event, &ns))
            continue;
        ct_node_time_add(r->row, node[k].name, node[k].stack, ns, node[k].beside);
        alone += !node[k].beside;
        line_ns += node[k].beside ? 0 : ns;
    }
    ct_node_time_add_line(r->row, line_ns, alone);
    if (known == count && r->body.first_event != CT_EVENT_NONE &&
        elapsed(r, r->body.first_event, r->body.done_event, &ns))
        ct_node_time_add_graph(r->row, ns, count - beside, beside);
    rest(r);
}

static void forget(uint32_t i)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    r->clone = NULL;
    atomic_store_explicit(&r->next, NULL, memory_order_relaxed);
    ct_replica_forget(&r->body, r->context);
    ct_replica_set_phase(i, CT_REPLICA_OVER);
}

/* READING already: another thread was at it, which has been taken over from. */
static bool begin_reading(uint32_t i)
{
    return ct_replica_go_on(i, CT_REPLICA_RUNNING, CT_REPLICA_READING) ||
           ct_replica_phase_of(i) == CT_REPLICA_READING;
}

/* Reads a replica that is through. One whose events fail is not touched again. False: it runs. */
static bool look_at_running(uint32_t i)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    struct ct_context *c = r->context;
    CUresult result = CT_ASK_IN(c, cuEventQuery, ct_event(c, r->body.done_event));
    if (result == CUDA_SUCCESS) {
        read(r);
        ct_replica_set_phase(i, CT_REPLICA_READY);
    } else if (result == CUDA_ERROR_NOT_READY || ct_context_is_barred(c)) {
        ct_replica_set_phase(i, CT_REPLICA_RUNNING);
    } else {
        if (!ct_replica_is_dropped(i))
            ct_replica_lose(CT_REPLICA_LOST_REFUSED);
        forget(i);
    }
    return result != CUDA_ERROR_NOT_READY;
}

/* Gives an entry back, which needs no context. Whether there is work in the context. */
static bool tidy(uint32_t i, enum ct_replica_phase p)
{
    if (p == CT_REPLICA_OVER && !atomic_load_explicit(&ct_replicas->exec[i], memory_order_acquire))
        ct_replica_give_back(i);
    return p == CT_REPLICA_WANTED || ct_replica_runs_in(p) ||
           (p == CT_REPLICA_READY && (ct_replica_is_dropped(i) || ct_replica_is_outdated(i)));
}

static void unmake(uint32_t i)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    ct_replica_end_clone(i);
    ct_replica_unmake(&r->body, r->context);
    bool goes_on = ct_replica_take_next(i) && !ct_replica_is_dropped(i);
    if (!goes_on)
        ct_replica_end_clone(i);
    ct_replica_set_phase(i, goes_on ? CT_REPLICA_CLONED : CT_REPLICA_OVER);
}

/* In the context. Whether the replica has new times. */
static bool work_on(uint32_t i, enum ct_replica_phase p)
{
    if (p == CT_REPLICA_WANTED)
        make(i);
    else if (p == CT_REPLICA_READY)
        unmake(i);
    else
        return look_at_running(i);
    return false;
}

/* Takes the entry first: the program's threads may change or drop it otherwise. */
static bool begin_work(uint32_t i, enum ct_replica_phase p)
{
    if (p == CT_REPLICA_RUNNING)
        return begin_reading(i);
    return ct_replica_go_on(i, p, p == CT_REPLICA_WANTED ? CT_REPLICA_MAKING : CT_REPLICA_ENDING);
}

/* A replica may be made before there is any work in the context. */
static bool may_work_in(uint32_t state, enum ct_replica_phase p)
{
    return state == CT_CONTEXT_LIVE || (state == CT_CONTEXT_NEW && p == CT_REPLICA_WANTED);
}

static bool work_in_context(uint32_t i, enum ct_replica_phase p)
{
    CUcontext before;
    if (!begin_work(i, p))
        return false;
    struct ct_context *c = ct_replicas->replica[i].context;
    uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);
    if (state == CT_CONTEXT_BROKEN) {
        ct_replica_lose(CT_REPLICA_LOST_REFUSED);
        forget(i);
        return false;
    }
    if (!may_work_in(state, p) || !ct_context_enter(c, &before)) {
        ct_replica_set_phase(i, p);
        return false;
    }
    bool any = work_on(i, p);
    ct_context_leave(c, before);
    return any;
}

bool ct_replicas_step(void)
{
    bool any = false, made = false;
    running = 0;
    if (!ct_replicas_are_on || !atomic_load_explicit(&ct_replicas->used, memory_order_relaxed))
        return false;
    for (uint32_t i = 0; i < CT_REPLICAS; i++) {
        enum ct_replica_phase p = ct_replica_phase_of(i);
        if (p == CT_REPLICA_FREE || !tidy(i, p) || (p == CT_REPLICA_WANTED && made))
            continue;
        made |= p == CT_REPLICA_WANTED;
        any |= work_in_context(i, p == CT_REPLICA_READING ? CT_REPLICA_RUNNING : p);
        running += ct_replica_may_run(i);
    }
    return any;
}

void ct_replicas_finish(void)
{
    for (uint32_t i = 0; ct_replicas_are_on && i < CT_REPLICAS; i++) {
        enum ct_replica_phase p = ct_replica_phase_of(i);
        if (p != CT_REPLICA_FREE && p != CT_REPLICA_OVER && !ct_replica_is_dropped(i) &&
            !ct_replica_was_replayed(i))
            ct_replica_lose(CT_REPLICA_LOST_SELDOM);
    }
}

bool ct_replicas_are_running(void)
{
    return running != 0;
}

/* Takes a replica of that context, the caller's from then on. */
static bool take(uint32_t i, const struct ct_context *c)
{
    enum ct_replica_phase p = ct_replica_phase_of(i);
    bool may_run = ct_replica_runs_in(p);
    if (may_run && ct_replicas->replica[i].context != c)
        return false; /* a thread that launches looks at the phase whether it is running */
    if ((p != CT_REPLICA_WANTED && p != CT_REPLICA_READY && !may_run) ||
        !ct_replica_go_on(i, p, CT_REPLICA_ENDING))
        return false;
    if (ct_replicas->replica[i].context == c)
        return true;
    ct_replica_set_phase(i, p);
    return false;
}

void ct_replicas_leave(struct ct_context *c)
{
    CUcontext before;
    if (!ct_replicas_are_on || !ct_context_enter(c, &before))
        return;
    for (uint32_t i = 0; i < CT_REPLICAS; i++) {
        if (ct_replica_may_run(i) && ct_replicas->replica[i].context == c && begin_reading(i))
            look_at_running(i);
        if (take(i, c))
            unmake(i);
    }
    ct_context_leave(c, before);
}

void ct_replicas_lose_context(const struct ct_context *c)
{
    for (uint32_t i = 0; ct_replicas_are_on && i < CT_REPLICAS; i++)
        if (take(i, c))
            forget(i);
}
