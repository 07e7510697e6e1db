/* SPDX-License-Identifier: MIT */
#include "drain/replica_step.h"

#include "base/config.h"
#include "counts/row.h"
#include "drain/harvest.h"
#include "drain/node_time.h"
#include "launch/replica_entry.h"
#include "system/clock.h"

/* With auto, graphs that take less of the GPU's time than one part in so many have no replica. */
#define MATTERS_ONE_IN 100
/* The cost of event nodes for each kernel, on a device whose figure no table has. */
#define UNKNOWN_NODE_NS 4000

#define LONG_RUN_NS 100000000u /* from then on it is asked which kernel a replica is in */

static CT_PROCESS uint32_t running; /* replicas, after the last round */

/* No replica is launched until there is room for as much as the event nodes of this one cost. */
static void rest(const struct ct_replica *r)
{
    uint32_t bias_ns = ct_device(r->context->device)->calibration->node.bias_ns;
    size_t count;
    ct_replica_nodes(&r->body, &count);
    ct_replicas_rest(count * (bias_ns ? bias_ns : UNKNOWN_NODE_NS));
}

static bool elapsed(const struct ct_replica *r, uint32_t from, uint32_t to, uint64_t *ns)
{
    int64_t elapsed_ns;
    if (!ct_elapsed_ns(r->context, from, to, &elapsed_ns))
        return false;
    *ns = elapsed_ns > 0 ? (uint64_t)elapsed_ns : 0;
    return true;
}

/* Whether the node's event nodes stood around work of that name in this launch. */
static bool is_known(const struct ct_replica *r, const struct ct_replica_node *n)
{
    uint32_t launch = atomic_load_explicit(&r->replayed, memory_order_relaxed);
    return n->name && !n->off && n->changed < launch;
}

/* When each node was through, after the first event; UINT64_MAX: not known. The caller's. */
static bool read_stops(const struct ct_replica *r, struct ct_buffer *stops)
{
    size_t count;
    const struct ct_replica_node *node = ct_replica_nodes(&r->body, &count);
    for (size_t k = 0; k < count; k++) {
        uint64_t *ns = ct_buffer_add(stops, sizeof(*ns));
        if (!ns || !elapsed(r, r->body.first_event, node[k].stop_event, ns))
            return false;
    }
    return true;
}

/* The last of these nodes to be through; NO_NODE: there are none. */
static uint32_t last_of(const uint64_t *stop_ns, const struct ct_replica_span *span, size_t spans)
{
    uint32_t last = CT_REPLICA_NO_NODE;
    for (size_t i = 0; i < spans; i++)
        for (uint32_t k = span[i].first; k < span[i].end; k++)
            if (last == CT_REPLICA_NO_NODE || stop_ns[k] > stop_ns[last])
                last = k;
    return last;
}

/* Event nodes on the way from node to node that the end had to wait for; 0: it is not known. */
static uint64_t count_way(const struct ct_replica *r, const uint64_t *stop_ns)
{
    size_t count;
    const struct ct_replica_node *node = ct_replica_nodes(&r->body, &count);
    const struct ct_replica_span *spans = (const void *)r->body.spans.data;
    const struct ct_replica_span all = {0, (uint32_t)count};
    uint64_t on_way = r->body.own_end;
    uint32_t at = last_of(stop_ns, &all, 1);
    while (at != CT_REPLICA_NO_NODE && !node[at].before.is_untold) {
        on_way += 1 + node[at].own_start;
        if (!node[at].before.count)
            return on_way;
        at = last_of(stop_ns, spans + node[at].before.span, node[at].before.count);
    }
    return 0;
}

static uint64_t critical_way(const struct ct_replica *r)
{
    struct ct_buffer stops = {0};
    uint64_t on_way = 0;
    if (read_stops(r, &stops))
        on_way = count_way(r, (const uint64_t *)(const void *)stops.data);
    ct_unmap(stops.data, stops.size_bytes);
    return on_way;
}

/*
 * The whole of the graph, where all of its event nodes were there. Launches in changing streams
 * wait for each other: what they take tells nothing.
 */
static void read_whole(const struct ct_replica *r, uint64_t alone, uint64_t beside)
{
    if (!r->steady)
        return;
    size_t count;
    uint64_t ns, more = r->body.own_end, on_way = 0;
    const struct ct_replica_node *node = ct_replica_nodes(&r->body, &count);
    if (!elapsed(r, r->body.first_event, r->body.done_event, &ns))
        return;
    for (size_t k = 0; k < count; k++)
        more += node[k].own_start;
    if (beside)
        on_way = critical_way(r);
    if (on_way)
        ct_node_time_add_graph(r->row, ns, on_way, on_way);
    else
        ct_node_time_add_graph(r->row, ns, beside ? alone : alone + more, alone + beside + more);
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
    if (known == count)
        read_whole(r, count - beside, beside);
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

static bool is_through(const struct ct_replica *r, uint32_t event)
{
    return CT_ASK_IN(r->context, cuEventQuery, ct_event(r->context, event)) == CUDA_SUCCESS;
}

/* The kernel that a run is in: of several branches one that is not through. */
static uint32_t find_node(const struct ct_replica *r)
{
    size_t count, low = 0, high;
    const struct ct_replica_node *node = ct_replica_nodes(&r->body, &count);
    for (high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (is_through(r, node[middle].stop_event))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && is_through(r, node[low].start_event) ? (uint32_t)low + 1 : 0;
}

static void look_at_run(struct ct_replica *r)
{
    uint64_t ticks = ct_ticks(), long_ticks = ct_ns_to_ticks(LONG_RUN_NS);
    uint32_t launch = atomic_load_explicit(&r->replayed, memory_order_relaxed);
    if (r->run.launch != launch || !r->run.since_ticks)
        r->run = (struct ct_replica_run){.launch = launch, .since_ticks = ticks};
    if (!atomic_load_explicit(&ct_harvest_asks_starts, memory_order_relaxed) ||
        ticks - r->run.since_ticks < long_ticks || ticks - r->run.asked_ticks < long_ticks)
        return;
    r->run.asked_ticks = ticks;
    r->run.node = find_node(r);
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
        look_at_run(r);
        ct_replica_set_phase(i, CT_REPLICA_RUNNING);
    } else {
        if (!ct_replica_is_dropped(i))
            ct_replica_lose(CT_REPLICA_LOST_REFUSED);
        forget(i);
    }
    return result != CUDA_ERROR_NOT_READY;
}

/* Timed operations alone are known so far. */
static bool matters(uint32_t i)
{
    if (!ct_config.graph_nodes_auto)
        return true;
    uint64_t all_ns = 0;
    const struct ct_row *row =
        ct_row(atomic_load_explicit(&ct_replicas->replica[i].row, memory_order_relaxed));
    for (uint32_t k = 0; k < ct_rows_count(); k++)
        all_ns += ct_row(k)->device == row->device ? ct_row(k)->time.total_ns : 0;
    return row->time.total_ns && row->time.total_ns >= all_ns / MATTERS_ONE_IN;
}

/* Gives an entry back, which needs no context. Whether there is work in the context. */
static bool tidy(uint32_t i, enum ct_replica_phase p)
{
    if (p == CT_REPLICA_OVER && !atomic_load_explicit(&ct_replicas->exec[i], memory_order_acquire))
        ct_replica_give_back(i);
    bool goes = ct_replica_is_dropped(i) || ct_replica_is_outdated(i) || ct_replicas_are_stopped();
    return p == CT_REPLICA_WANTED ? matters(i)
                                  : ct_replica_runs_in(p) || (p == CT_REPLICA_READY && goes);
}

static void unmake(uint32_t i)
{
    ct_replica_end(i, &ct_replicas->replica[i].context->events.returned);
}

/* In the context. Whether the replica has new times. */
static bool work_on(uint32_t i, enum ct_replica_phase p)
{
    if (p == CT_REPLICA_WANTED)
        ct_replica_build(i, &ct_replicas->replica[i].context->events.returned);
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

void ct_replicas_see(void (*see)(const struct ct_replica *r, void *arg), void *arg)
{
    for (uint32_t i = 0; ct_replicas_are_on && i < CT_REPLICAS; i++) {
        const struct ct_replica *r = &ct_replicas->replica[i];
        if (ct_replica_may_run(i) && r->run.since_ticks &&
            r->run.launch == atomic_load_explicit(&r->replayed, memory_order_relaxed))
            see(r, arg);
    }
}
