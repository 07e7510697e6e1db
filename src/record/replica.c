/* SPDX-License-Identifier: MIT */
#include "record/replica.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/random.h"
#include "base/spin.h"
#include "record/capture.h"
#include "record/gpu_clock.h"
#include "record/node_time.h"

#define WAYS 8 /* executable graphs whose handles meet in one set */
#define SETS (CT_REPLICAS / WAYS)

/* A graph that is launched only once or twice is not worth a replica. */
#define LAUNCHES_BEFORE 2
/* So many of the first launches are the replica's, every other one; from then on one in N. */
#define FIRST_ONES 16
#define FIRST_DISTANCE 2

/* Of a budget, event nodes may have one part in so many. */
#define BUDGET_SHARE 4
/* What they cost for each kernel, on a device that no table has the figure of. */
#define UNKNOWN_NODE_NS 4000

#define MAKING_NAP_NS 1000000
#define MAKING_NAPS 1000

enum phase {
    FREE,
    CLONED, /* there is a clone; the program's threads' */
    WANTED, /* a replica is, of the drain thread. Either's: who changes it first has it */
    MAKING,
    READY, /* either's, likewise */
    LAUNCHING,
    RUNNING, /* the drain thread waits for its end */
    ENDING,  /* whoever brought it here ends it */
    OVER,    /* there is none any more, and will be none */
};

struct replica {
    /* Of the launching thread. */
    uint64_t launches;
    uint64_t due;              /* the launch that may be the replica's */
    _Atomic uint32_t replayed; /* launches that were */
    uint64_t stream_id;        /* of the launch before; 0: not known */
    uint64_t random;
    uint32_t row; /* of the graph */

    struct ct_context *context; /* known from WANTED on */
    CUgraph clone;
    unsigned flags; /* of the instantiation */
    struct ct_replica_body body;
};

struct replicas {
    _Atomic(CUgraphExec) exec[CT_REPLICAS]; /* of the program's; NULL: it has gone, or is none */
    _Atomic uint32_t phase[CT_REPLICAS];
    atomic_bool dropped[CT_REPLICAS]; /* by the program's threads: never launched again */
    struct replica replica[CT_REPLICAS];
    struct ct_spin lock;         /* for taking a free one */
    _Atomic uint32_t used;       /* not FREE */
    _Atomic uint64_t rest_until; /* ticks: the budget is used up till then */
    _Atomic uint64_t lost[CT_REPLICA_LOSS_COUNT];
};

static struct replicas *all;
static uint32_t running; /* after the last round; of the drain thread */
CT_READ_MOSTLY bool ct_replicas_are_on;

static bool can_replicate(void)
{
    return CT_HAS(cuGraphClone) && CT_HAS(cuGraphDestroy) && CT_HAS(cuGraphExecGetFlags) &&
           CT_HAS(cuGraphInstantiateWithFlags) && CT_HAS(cuGraphExecDestroy) &&
           CT_HAS(cuGraphAddEventRecordNode) && CT_HAS(cuGraphNodeGetDependencies_v2) &&
           CT_HAS(cuGraphNodeGetDependentNodes_v2) && CT_HAS(cuGraphAddDependencies_v2) &&
           CT_HAS(cuGraphRemoveDependencies_v2) && CT_HAS(cuGraphGetRootNodes) &&
           CT_HAS(cuGraphKernelNodeGetParams_v2);
}

bool ct_replicas_init(void)
{
    ct_replicas_are_on = false;
    if (!ct_config.graph_nodes)
        return true;
    all = ct_map(sizeof(*all));
    ct_replicas_are_on = all && ct_node_times_init();
    return ct_replicas_are_on;
}

void ct_replicas_forget(void)
{
    ct_replicas_are_on = false;
    all = NULL;
    running = 0;
    ct_node_times_forget();
}

uint64_t ct_replicas_lost(enum ct_replica_loss why)
{
    return all ? atomic_load_explicit(&all->lost[why], memory_order_relaxed) : 0;
}

static void lose(enum ct_replica_loss why)
{
    if (why != CT_REPLICA_LOSS_COUNT)
        atomic_fetch_add_explicit(&all->lost[why], 1, memory_order_relaxed);
}

/* ---- finding ---- */

static uint32_t first_way(CUgraphExec exec)
{
    return (uint32_t)((uint64_t)(uintptr_t)exec * 0x9e3779b97f4a7c15u >> 40) % SETS * WAYS;
}

/* CT_REPLICAS: it has none. */
static uint32_t find(CUgraphExec exec)
{
    uint32_t first = first_way(exec);
    for (uint32_t i = first; exec && i < first + WAYS; i++)
        if (atomic_load_explicit(&all->exec[i], memory_order_acquire) == exec)
            return i;
    return CT_REPLICAS;
}

static enum phase phase_of(uint32_t i)
{
    return (enum phase)atomic_load_explicit(&all->phase[i], memory_order_acquire);
}

static void set_phase(uint32_t i, enum phase phase)
{
    atomic_store_explicit(&all->phase[i], phase, memory_order_release);
}

/* False: somebody else was first. */
static bool go_on(uint32_t i, uint32_t from, enum phase to)
{
    return atomic_compare_exchange_strong(&all->phase[i], &from, to);
}

static bool is_dropped(uint32_t i)
{
    return atomic_load_explicit(&all->dropped[i], memory_order_acquire);
}

/* ---- clones ---- */

static uint32_t take_free_locked(CUgraphExec exec)
{
    uint32_t first = first_way(exec);
    for (uint32_t i = first; i < first + WAYS; i++)
        if (phase_of(i) == FREE) {
            atomic_fetch_add_explicit(&all->used, 1, memory_order_relaxed);
            return i;
        }
    return CT_REPLICAS;
}

static bool keep(CUgraphExec exec, CUgraph clone, unsigned flags)
{
    ct_spin_lock(&all->lock);
    uint32_t i = take_free_locked(exec);
    if (i < CT_REPLICAS) {
        all->replica[i] = (struct replica){
            .clone = clone, .flags = flags, .random = (uint64_t)(uintptr_t)exec | 1};
        atomic_store_explicit(&all->dropped[i], false, memory_order_relaxed);
        set_phase(i, CLONED);
        atomic_store_explicit(&all->exec[i], exec, memory_order_release);
    }
    ct_spin_unlock(&all->lock);
    return i < CT_REPLICAS;
}

static enum ct_replica_loss copy_graph(CUgraphExec exec, CUgraph graph)
{
    CUgraph copy;
    unsigned flags;
    if (!can_replicate())
        return CT_REPLICA_LOST_REFUSED;
    enum ct_replica_loss why = ct_replica_look(exec, graph, &flags);
    if (why != CT_REPLICA_LOSS_COUNT)
        return why;
    if (CT_REAL(cuGraphClone)(&copy, graph) != CUDA_SUCCESS)
        return CT_REPLICA_LOST_REFUSED;
    if (keep(exec, copy, flags))
        return CT_REPLICA_LOSS_COUNT;
    CT_REAL(cuGraphDestroy)(copy);
    return CT_REPLICA_LOST_MANY;
}

void ct_replica_offer(CUgraphExec exec, CUgraph graph)
{
    CUstreamCaptureMode mode;
    if (!ct_replicas_are_on || !exec || !graph)
        return;
    ct_replica_gone(exec); /* of one with the same handle */
    if (!ct_relaxed_enter(&mode))
        return;
    lose(copy_graph(exec, graph));
    ct_relaxed_leave(mode);
}

/* ---- dropping ---- */

/*
 * What is being made has functions of the program's in it, which may go next. A drain thread that
 * does not come out of the driver is waited for once.
 */
static void wait_while_making(uint32_t i)
{
    static _Atomic uint32_t stuck;
    const struct timespec nap = {0, MAKING_NAP_NS};
    int saved_errno = errno;
    for (unsigned naps = 0; phase_of(i) == MAKING && atomic_load(&stuck) != i + 1; naps++) {
        nanosleep(&nap, NULL);
        if (naps == MAKING_NAPS)
            atomic_store(&stuck, i + 1);
    }
    errno = saved_errno;
}

static void end_clone(uint32_t i)
{
    struct replica *r = &all->replica[i];
    CUgraph copy = r->clone;
    r->clone = NULL;
    if (copy)
        CT_ASK(cuGraphDestroy, copy);
}

/* First it is dropped, then looked at; who makes it does that the other way round. */
static void drop(uint32_t i, enum ct_replica_loss why)
{
    if (atomic_exchange(&all->dropped[i], true))
        return;
    if (phase_of(i) != OVER)
        lose(why);
    wait_while_making(i);
    if (!go_on(i, CLONED, ENDING) && !go_on(i, WANTED, ENDING))
        return;
    end_clone(i);
    set_phase(i, OVER);
}

static bool was_replayed(uint32_t i)
{
    return atomic_load_explicit(&all->replica[i].replayed, memory_order_relaxed);
}

/* One that is over, and whose executable graph has gone. */
static void give_back(uint32_t i)
{
    if (go_on(i, OVER, FREE))
        atomic_fetch_sub_explicit(&all->used, 1, memory_order_relaxed);
}

void ct_replica_changed(CUgraphExec exec)
{
    uint32_t i = ct_replicas_are_on ? find(exec) : CT_REPLICAS;
    if (i < CT_REPLICAS)
        drop(i, CT_REPLICA_LOST_CHANGED);
}

void ct_replica_gone(CUgraphExec exec)
{
    uint32_t i = ct_replicas_are_on ? find(exec) : CT_REPLICAS;
    if (i == CT_REPLICAS)
        return;
    drop(i, was_replayed(i) ? CT_REPLICA_LOSS_COUNT : CT_REPLICA_LOST_SELDOM);
    atomic_store_explicit(&all->exec[i], NULL, memory_order_release);
    give_back(i);
}

void ct_replicas_unloaded(void)
{
    if (!ct_replicas_are_on || !atomic_load_explicit(&all->used, memory_order_relaxed))
        return;
    for (uint32_t i = 0; i < CT_REPLICAS; i++) {
        enum phase p = phase_of(i);
        if (p == MAKING)
            wait_while_making(i);
        else if (p == CLONED || p == WANTED)
            drop(i, CT_REPLICA_LOST_UNLOADED);
    }
}

/* ---- launching ---- */

/* At random distances: no period of the program's is met in step. */
static uint64_t distance(struct replica *r)
{
    uint32_t n = ct_config.graph_nodes;
    if (n == 1)
        return 1;
    if (atomic_load_explicit(&r->replayed, memory_order_relaxed) <= FIRST_ONES)
        return FIRST_DISTANCE;
    return FIRST_DISTANCE + n / 2 + ct_random(&r->random) % n;
}

static bool is_resting(void)
{
    return ct_config.budget_ppm &&
           ct_ticks() < atomic_load_explicit(&all->rest_until, memory_order_relaxed);
}

bool ct_replica_is_due(CUgraphExec exec, const struct ct_stream *s)
{
    uint32_t i = ct_replicas_are_on ? find(exec) : CT_REPLICAS;
    if (i == CT_REPLICAS || phase_of(i) != READY || is_dropped(i))
        return false;
    const struct replica *r = &all->replica[i];
    return r->launches >= r->due && s->id == r->stream_id && ct_context(s->context) == r->context &&
           !is_resting();
}

static uint64_t stream_id_of(const struct ct_bracket *b)
{
    return b->state != CT_BRACKET_OFF && b->stream ? b->stream->id : 0;
}

/* A launch into a capture runs nothing. */
static void wait_for_replica(const struct replica *r, uint64_t id, CUstream s)
{
    CUevent done = ct_event(r->context, r->body.done_event);
    if ((id && id == r->stream_id) || ct_stream_is_capturing(s))
        return;
    for (unsigned i = 0; i < CT_RESTORE_TRIES; i++)
        if (CT_REAL(cuStreamWaitEvent)(s, done, 0) == CUDA_SUCCESS)
            return;
}

static bool is_captured(const struct ct_bracket *b)
{
    return b->state == CT_BRACKET_LOST && b->loss == CT_LOSS_CAPTURED;
}

static void count_launch(uint32_t i, const struct ct_bracket *b)
{
    struct replica *r = &all->replica[i];
    r->stream_id = stream_id_of(b);
    if (++r->launches < LAUNCHES_BEFORE || !r->stream_id || phase_of(i) != CLONED)
        return;
    r->context = ct_context(b->stream->context);
    go_on(i, CLONED, WANTED);
}

static bool replay(uint32_t i, const struct ct_bracket *b, CUstream s)
{
    struct replica *r = &all->replica[i];
    if (!go_on(i, READY, LAUNCHING))
        return false;
    if (CT_REAL(cuGraphLaunch)(r->body.exec, s) != CUDA_SUCCESS) {
        drop(i, CT_REPLICA_LOST_REFUSED);
        set_phase(i, READY);
        return false;
    }
    r->row = b->row;
    atomic_fetch_add_explicit(&r->replayed, 1, memory_order_relaxed);
    r->due = r->launches + distance(r);
    set_phase(i, RUNNING);
    return true;
}

bool ct_replica_launch(struct ct_bracket *b, const struct ct_work *w)
{
    uint32_t i = ct_replicas_are_on ? find(w->graph) : CT_REPLICAS;
    if (i == CT_REPLICAS || is_captured(b))
        return false;
    bool made = b->state == CT_BRACKET_LOST && b->loss == CT_LOSS_INSIDE;
    if (made && !(made = replay(i, b, w->stream)))
        b->loss = CT_LOSS_EVENT_ERROR;
    if (!made && phase_of(i) == RUNNING)
        wait_for_replica(&all->replica[i], stream_id_of(b), w->stream);
    count_launch(i, b);
    return made;
}

void ct_replica_unseen_launch(CUgraphExec exec, CUstream s)
{
    uint32_t i = ct_replicas_are_on ? find(exec) : CT_REPLICAS;
    if (i == CT_REPLICAS)
        return;
    if (phase_of(i) == RUNNING)
        wait_for_replica(&all->replica[i], 0, s);
    all->replica[i].stream_id = 0;
}

/* ---- the drain thread ---- */

static void end(uint32_t i, enum ct_replica_loss why, enum phase phase)
{
    if (!is_dropped(i))
        lose(why);
    set_phase(i, phase);
}

static void make(uint32_t i)
{
    struct replica *r = &all->replica[i];
    enum ct_replica_loss why = CT_REPLICA_LOSS_COUNT;
    bool made = false;
    if (!atomic_load(&all->dropped[i]))
        made = ct_replica_make(&r->body, r->clone, r->flags, r->context, &why);
    end_clone(i);
    end(i, why, made ? READY : OVER);
}

/* What its event nodes have cost the GPU is not spent again before the budget has as much. */
static void rest(const struct replica *r)
{
    if (!ct_config.budget_ppm)
        return;
    uint32_t bias_ns = ct_device(r->context->device)->calibration->node.bias_ns;
    size_t count;
    ct_replica_nodes(&r->body, &count);
    uint64_t cost_ns = count * (bias_ns ? bias_ns : UNKNOWN_NODE_NS);
    uint64_t rest_ns = cost_ns * BUDGET_SHARE * 1000000 / ct_config.budget_ppm;
    uint64_t until = atomic_load_explicit(&all->rest_until, memory_order_relaxed);
    atomic_store_explicit(&all->rest_until, ct_max(ct_ticks(), until) + ct_ns_to_ticks(rest_ns),
                          memory_order_relaxed);
}

static bool elapsed(const struct replica *r, uint32_t from, uint32_t to, uint64_t *ns)
{
    int64_t elapsed_ns;
    if (!ct_elapsed_ns(r->context, from, to, &elapsed_ns))
        return false;
    *ns = elapsed_ns > 0 ? (uint64_t)elapsed_ns : 0;
    return true;
}

static void read(const struct replica *r)
{
    size_t count, beside = 0;
    uint64_t ns;
    const struct ct_replica_node *node = ct_replica_nodes(&r->body, &count);
    for (size_t k = 0; k < count; k++) {
        beside += node[k].beside;
        if (elapsed(r, node[k].start_event, node[k].stop_event, &ns))
            ct_node_time_add(r->row, node[k].name, ns, node[k].beside);
    }
    if (r->body.first_event != CT_EVENT_NONE &&
        elapsed(r, r->body.first_event, r->body.done_event, &ns))
        ct_node_time_add_graph(r->row, ns, count - beside, beside);
    rest(r);
}

/* Whether it is through, and has been read. One whose events fail is not touched again. */
static bool look_at_running(uint32_t i)
{
    struct replica *r = &all->replica[i];
    struct ct_context *c = r->context;
    CUresult result = CT_ASK_IN(c, cuEventQuery, ct_event(c, r->body.done_event));
    if (result == CUDA_ERROR_NOT_READY)
        return false;
    if (result == CUDA_SUCCESS) {
        read(r);
        set_phase(i, READY);
    } else if (!ct_context_is_barred(c)) {
        ct_replica_forget(&r->body, c);
        end(i, CT_REPLICA_LOST_REFUSED, OVER);
    }
    return true;
}

/* What the drain thread has to do where it need not be in the context. */
static bool tidy(uint32_t i, enum phase p)
{
    if (p == OVER && !atomic_load_explicit(&all->exec[i], memory_order_acquire))
        give_back(i);
    return p == WANTED || p == RUNNING || (p == READY && is_dropped(i));
}

static void unmake(uint32_t i)
{
    struct replica *r = &all->replica[i];
    end_clone(i);
    ct_replica_unmake(&r->body, r->context);
    set_phase(i, OVER);
}

static void forget(uint32_t i)
{
    struct replica *r = &all->replica[i];
    r->clone = NULL;
    ct_replica_forget(&r->body, r->context);
    set_phase(i, OVER);
}

/* In the context. Whether there are new times. */
static bool work_on(uint32_t i, enum phase p)
{
    if (p == WANTED)
        make(i);
    else if (p == READY)
        unmake(i);
    return p == RUNNING && look_at_running(i);
}

/* First it is ours: the program may make another one of it else. */
static bool work_in_context(uint32_t i, enum phase p)
{
    CUcontext before;
    if (p != RUNNING && !go_on(i, p, p == WANTED ? MAKING : ENDING))
        return false;
    struct ct_context *c = all->replica[i].context;
    uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);
    if (state == CT_CONTEXT_BROKEN) {
        lose(CT_REPLICA_LOST_REFUSED);
        forget(i);
        return false;
    }
    if (state != CT_CONTEXT_LIVE || !ct_context_enter(c, &before)) {
        set_phase(i, p);
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
    if (!ct_replicas_are_on || !atomic_load_explicit(&all->used, memory_order_relaxed))
        return false;
    for (uint32_t i = 0; i < CT_REPLICAS; i++) {
        enum phase p = phase_of(i);
        if (p == FREE || !tidy(i, p) || (p == WANTED && made))
            continue;
        made |= p == WANTED;
        any |= work_in_context(i, p);
        running += phase_of(i) == RUNNING;
    }
    return any;
}

void ct_replicas_finish(void)
{
    for (uint32_t i = 0; ct_replicas_are_on && i < CT_REPLICAS; i++) {
        enum phase p = phase_of(i);
        if (p != FREE && p != OVER && !is_dropped(i) && !was_replayed(i))
            lose(CT_REPLICA_LOST_SELDOM);
    }
}

bool ct_replicas_are_running(void)
{
    return running != 0;
}

/* Of a context, ours from then on. */
static bool take(uint32_t i, const struct ct_context *c)
{
    enum phase p = phase_of(i);
    if (p == RUNNING && all->replica[i].context != c)
        return false; /* who launches looks whether it is running */
    if ((p != WANTED && p != READY && p != RUNNING) || !go_on(i, p, ENDING))
        return false;
    if (all->replica[i].context == c)
        return true;
    set_phase(i, p);
    return false;
}

void ct_replicas_leave(struct ct_context *c)
{
    CUcontext before;
    if (!ct_replicas_are_on || !ct_context_enter(c, &before))
        return;
    for (uint32_t i = 0; i < CT_REPLICAS; i++) {
        if (phase_of(i) == RUNNING && all->replica[i].context == c)
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
