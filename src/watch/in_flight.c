/* SPDX-License-Identifier: MIT */
#include "watch/in_flight.h"

#include "counts/row.h"
#include "drain/harvest.h"
#include "drain/replica_step.h"
#include "launch/replica_entry.h"
#include "state/ask.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"
#include "work/collective.h"

/* First halves of keys; second halves tell things of a kind apart. */
enum { OF_STREAM, OF_GATE, OF_REPLICA, OF_THREAD, OF_COMMUNICATOR, OF_FAULT };

static struct ct_in_flight entries[CT_IN_FLIGHT];
static uint32_t entries_count;
static uint64_t look_ns;

static struct ct_in_flight *add(uint32_t kind, uint64_t which, uint64_t key)
{
    if (entries_count == CT_IN_FLIGHT)
        return NULL;
    struct ct_in_flight *e = &entries[entries_count++];
    *e = (struct ct_in_flight){.f = {.kind = kind, .since_ns = look_ns},
                               .key = {which, key},
                               .seen_ns = look_ns,
                               .device = UINT32_MAX};
    return e;
}

/* ---- rows ---- */

static uint64_t percentile(const struct ct_row *r, uint64_t rank)
{
    uint32_t last = ct_hist_bucket(r->time.max_ns);
    uint64_t seen = 0;
    for (uint32_t b = ct_hist_bucket(r->time.min_ns); b <= last; b++)
        if ((seen += ct_buckets_count(r->time.buckets, b)) >= rank)
            return ct_max(r->time.min_ns, ct_min(ct_hist_middle(b), r->time.max_ns));
    return r->time.max_ns;
}

struct ct_usual ct_usual_of_row(uint32_t row)
{
    const struct ct_row *r = ct_row(row);
    struct ct_usual u = {.count = r->timed, .max_ns = r->timed ? r->time.max_ns : 0};
    if (!r->timed)
        return u;
    uint64_t all = 0;
    uint32_t last = ct_hist_bucket(r->time.max_ns);
    for (uint32_t b = ct_hist_bucket(r->time.min_ns); b <= last; b++)
        all += ct_buckets_count(r->time.buckets, b);
    u.p50_ns = all ? percentile(r, (all + 1) / 2) : u.max_ns;
    u.p99_ns = all ? percentile(r, all - all / 100) : u.max_ns;
    return u;
}

static void set_row(struct ct_in_flight *e, uint32_t row)
{
    if (row >= ct_rows_count())
        return;
    e->usual = ct_usual_of_row(row);
    e->device = ct_row(row)->device;
    e->f.row = row + 1;
    e->f.timed = e->usual.count;
    e->f.p50_ns = e->usual.p50_ns;
    e->f.p99_ns = e->usual.p99_ns;
}

static void set_place(struct ct_in_flight *e, struct ct_collective_place p)
{
    e->f.communicator = p.communicator;
    e->f.ranks = p.ranks;
    e->f.rank = p.rank;
    e->f.collective = p.collective + 1;
    e->f.sequence = p.sequence;
    e->f.bytes = p.bytes;
}

static uint64_t id_of(uint32_t stream_number)
{
    return stream_number
               ? atomic_load_explicit(&ct_stream(stream_number - 1)->id, memory_order_relaxed)
               : 0;
}

/* ---- streams ---- */

static void set_stop(struct ct_in_flight *e, struct ct_stop stop)
{
    e->f.gate = stop.kind;
    e->f.waits_for = id_of(stop.stream);
}
_Static_assert((int)CT_STUCK_GATE_SEMAPHORE == (int)CT_STOP_SEMAPHORE &&
                   (int)CT_STUCK_GATE_EVENT == (int)CT_STOP_EVENT,
               "gates in the file are stops of streams");

static bool is_gate(const struct ct_pending *p)
{
    return p->start_ticks && !p->is_started;
}

static void see(const struct ct_stream *s, const struct ct_pending *p, void *unused)
{
    (void)unused;
    const struct ct_op *op = &p->op;
    uint64_t key = (uint64_t)op->stream << 40 ^ op->sequence;
    if (op->row == CT_ROW_WITNESS)
        return;
    struct ct_in_flight *e =
        is_gate(p) ? add(CT_STUCK_GATE, OF_GATE, key) : add(CT_STUCK_OPERATION, OF_STREAM, key);
    if (!e)
        return;
    set_row(e, op->row);
    e->f.stream = atomic_load_explicit(&s->id, memory_order_relaxed);
    e->f.since_ns = ct_clock_at_ns(p->head_ticks ? p->head_ticks : op->done_ticks);
    if (p->asked_ticks)
        e->seen_ns = ct_clock_at_ns(p->asked_ticks);
    e->runs = !is_gate(p);
    if (is_gate(p))
        set_stop(e, ct_stream_stop_behind(ct_stream(op->stream), op->sequence - 1));
    else
        e->stack = op->stack;
    if (op->batch)
        set_place(e, ct_collective_place_of(op->batch));
    for (const struct ct_pending *next = p->next; next; next = next->next)
        e->f.behind++;
    if (ct_stream_has_open(s))
        e->f.flags |= CT_STUCK_SUBMITTING;
}

/* A drain thread that is inside the driver has not taken what came since: it is in the rings. */
static void see_ring(struct ct_thread *t)
{
    uint32_t first, n = ct_ring_waiting(&t->op_ring, CT_THREAD_OPS, &first);
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_op *op = &t->ops[(first + i) % CT_THREAD_OPS];
        if (op->row == CT_ROW_WITNESS)
            continue;
        const struct ct_stream *s = ct_stream(op->stream);
        uint64_t id = atomic_load_explicit(&s->id, memory_order_relaxed);
        uint32_t at = ct_in_flight_of_stream(entries, entries_count, id);
        if (at < entries_count) {
            entries[at].f.behind++;
            continue;
        }
        struct ct_pending alone = {.op = *op, .is_started = true};
        see(s, &alone, NULL);
    }
}

static void see_replica(const struct ct_replica *r, void *unused)
{
    (void)unused;
    struct ct_in_flight *e = add(CT_STUCK_OPERATION, OF_REPLICA,
                                 (uint64_t)(r - ct_replicas->replica) << 32 | r->run.launch);
    size_t count;
    const struct ct_replica_node *node = ct_replica_nodes(&r->body, &count);
    if (!e)
        return;
    set_row(e, r->row);
    e->f.stream = r->launched_in;
    e->f.since_ns = ct_clock_at_ns(r->run.since_ticks);
    e->runs = true;
    if (!r->run.node || r->run.node > count)
        return;
    e->node = node[r->run.node - 1].name;
    e->stack = node[r->run.node - 1].stack;
}

/* ---- threads ---- */

/* A stream that has nothing in flight that is known stands at its last stop, or in work untimed. */
static void set_stream(struct ct_in_flight *e, uint32_t number)
{
    if (!number)
        return;
    struct ct_stream *s = ct_stream(number - 1);
    e->f.stream = id_of(number);
    if (ct_in_flight_of_stream(entries, entries_count - 1, e->f.stream) < entries_count - 1)
        return;
    set_stop(e, ct_stream_stop_behind(s, atomic_load_explicit(&s->sequence, memory_order_relaxed)));
    if (!e->f.gate)
        set_row(e, atomic_load_explicit(&s->last_row, memory_order_relaxed));
    e->device = atomic_load_explicit(&s->device, memory_order_relaxed);
}

static void see_thread(const struct ct_thread *t)
{
    uint32_t call = atomic_load_explicit(&t->waiting.call, memory_order_acquire);
    uint64_t since = atomic_load_explicit(&t->waiting.since_ticks, memory_order_relaxed);
    bool is_live = atomic_load_explicit(&t->state, memory_order_relaxed) == CT_THREAD_LIVE;
    struct ct_in_flight *e =
        call && is_live ? add(CT_STUCK_CALL, OF_THREAD, t->number << 48 ^ since) : NULL;
    if (!e)
        return;
    e->f.thread = atomic_load_explicit(&t->tid, memory_order_relaxed);
    e->f.since_ns = ct_clock_at_ns(since);
    e->call = ct_api_names[call - 1];
    set_stream(e, atomic_load_explicit(&t->waiting.stream, memory_order_relaxed));
}

/* ---- all ---- */

static void see_fault(void)
{
    const struct ct_fault *fault = ct_harvest_fault();
    struct ct_in_flight *e = fault ? add(CT_STUCK_FAULT, OF_FAULT, fault->ticks) : NULL;
    if (!e)
        return;
    e->f.error = (int32_t)fault->result;
    e->f.since_ns = ct_clock_at_ns(fault->ticks);
    if (!fault->has_op)
        return;
    set_row(e, fault->op.row);
    e->f.stream = id_of(fault->op.stream + 1);
    e->stack = fault->op.stack;
}

static void see_communicators(void)
{
    for (uint32_t i = 0; i < ct_communicators(); i++) {
        struct ct_in_flight *e = add(CT_STUCK_COMMUNICATOR, OF_COMMUNICATOR, i);
        if (e)
            set_place(e, ct_communicator_newest(i));
    }
}

uint32_t ct_in_flight_of_stream(const struct ct_in_flight *all, uint32_t count, uint64_t stream)
{
    uint32_t i = 0;
    while (i < count && (all[i].f.stream != stream ||
                         (all[i].f.kind != CT_STUCK_OPERATION && all[i].f.kind != CT_STUCK_GATE)))
        i++;
    return i;
}

uint32_t ct_in_flight_look(struct ct_in_flight **all)
{
    look_ns = ct_clock_monotonic_ns();
    entries_count = 0;
    ct_harvest_see(see, NULL);
    ct_replicas_see(see_replica, NULL);
    for (struct ct_thread *t = ct_threads_first(); t; t = t->next)
        see_ring(t);
    for (struct ct_thread *t = ct_threads_first(); t; t = t->next)
        see_thread(t);
    see_fault();
    see_communicators();
    for (uint32_t i = 0; i < entries_count; i++)
        entries[i].f.for_ns = look_ns - ct_min(entries[i].f.since_ns, look_ns);
    *all = entries;
    return entries_count;
}
