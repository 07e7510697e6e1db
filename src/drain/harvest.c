/* SPDX-License-Identifier: MIT */
#include "drain/harvest.h"

#include "base/count.h"
#include "counts/pass.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "drain/activity.h"
#include "drain/anchor.h"
#include "drain/calibrate.h"
#include "drain/end_poll.h"
#include "drain/settle.h"
#include "drain/shared_stream.h"
#include "drain/stamps.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"
#include "system/mem.h"
#include "time/lead.h"
#include "time/occupancy.h"
#include "work/collective.h"

#define SLAB 512

#define START_ASK_NS 100000000u

#define EVENTS_MOST 3 /* events that one bracket gives back: start, reference, anchor */

#define CLOCK_GOOD_NS 20000000 /* the clocks drift apart by less than 10 ns in it */

/* Limits of an H200, driver 580: "Copies and sets" in doc/accuracy.md. */
#define INLINE_BYTES 1025
#define SET_KERNEL_BYTES 16384

static CT_PROCESS struct ct_pending *free_pending;
static CT_PROCESS struct ct_stream
    *active; /* streams with something pending or a reference event held */
static CT_PROCESS struct ct_stream
    *alone; /* the stream that was measured last, if no other is active */
static uint32_t alone_context;
static CT_PROCESS uint64_t pending;
static CT_PROCESS uint64_t polled; /* pending ones whose end is found by asking */
static uint64_t looked_ticks;      /* when an event was last asked for */
static unsigned added;             /* polled ones this round, past ct_settle() */
static CT_PROCESS uint64_t added_ever;
static CT_PROCESS uint64_t dealt_ever, unfinished;
static CT_PROCESS struct ct_fault fault;

CT_PROCESS atomic_bool ct_harvest_asks_starts;

static struct ct_pending *take_pending(void)
{
    if (!free_pending) {
        struct ct_pending *slab = ct_map(sizeof(*slab) * SLAB);
        for (unsigned i = 0; slab && i < SLAB; i++) {
            slab[i].next = free_pending;
            free_pending = &slab[i];
        }
    }
    struct ct_pending *p = free_pending;
    if (p)
        free_pending = p->next;
    return p;
}

static void give_pending(struct ct_pending *p)
{
    polled -= p->op.flags & CT_OP_POLLED ? 1 : 0;
    dealt_ever++;
    p->next = free_pending;
    free_pending = p;
    pending--;
}

static bool is_gone(const struct ct_context *c)
{
    return atomic_load_explicit(&c->state, memory_order_acquire) == CT_CONTEXT_GONE;
}

/*
 * A context that has gone took its events along. At the end of the process nobody needs them, and a
 * drain thread that hangs may be in the midst of making some.
 */
static bool has_event(uint32_t context, uint32_t event)
{
    return event != CT_EVENT_NONE && !is_gone(ct_context(context)) && !ct_is_taken_over();
}

static void give_event(uint32_t context, uint32_t event)
{
    if (has_event(context, event))
        ct_event_give(ct_context(context), event);
}

/* Gives back an event whose stamp is known: it may be the next anchor. */
static void give_stamp(uint32_t context, uint32_t event, uint64_t ns)
{
    if (has_event(context, event))
        ct_anchor_give(ct_context(context), event, ns);
}

static void drop_reference(struct ct_stream *s)
{
    if (s->last_stop_sequence)
        give_stamp(s->last_stop_context, s->last_stop, s->last_stop_ns);
    s->last_stop_sequence = 0;
}

/* After this the stream's entry may serve another one, and the context may be forgotten. */
static void tell(struct ct_stream *s)
{
    atomic_store_explicit(&s->done, s->dealt, memory_order_release);
}

/*
 * Each launch reads `done`: a store for each bracket would take it out of the launching thread's
 * cache as often. But whoever can take an event from the pool must see that it was given back.
 */
static void let_go(struct ct_stream *s, const struct ct_op *op)
{
    ct_count_bump(&s->settled, op->operations);
    s->dealt++;
    if (ct_events_will_flush(ct_context(op->context), EVENTS_MOST))
        tell(s);
}

static void lose(struct ct_stream *s, const struct ct_op *op, enum ct_loss loss)
{
    ct_row_lose(op->row, loss, op->operations, op->bytes);
    ct_cell_lose(op->cell);
    if (ct_unlikely(op->batch))
        ct_collective_lost(op->batch);
    give_event(op->context, op->start_event);
    give_event(op->context, op->stop_event);
    drop_reference(s);
    ct_shared_stream_lost(s, op);
    let_go(s, op);
    tell(s);
}

static void activate(struct ct_stream *s)
{
    if (s->active)
        return;
    s->active = true;
    s->next_active = active;
    active = s;
}

/*
 * Threads that share a stream hand their brackets over in another order than recorded, one thread's
 * one after the other: the search for the next place begins at the last one.
 */
static void insert(struct ct_stream *s, struct ct_pending *p)
{
    struct ct_pending **at = &s->first_pending;
    if (s->last_pending && s->last_pending->op.sequence < p->op.sequence)
        at = &s->last_pending->next;
    else if (s->last_inserted && s->last_inserted->op.sequence < p->op.sequence)
        at = &s->last_inserted->next;
    while (*at && (*at)->op.sequence < p->op.sequence)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
    if (!p->next)
        s->last_pending = p;
    s->last_inserted = p;
}

static void collect_one(const struct ct_thread *t, const struct ct_op *op)
{
    struct ct_stream *s = ct_stream(op->stream);
    struct ct_pending *p = take_pending();
    if (!p) {
        lose(s, op, CT_LOSS_RING_FULL);
        return;
    }
    pending++;
    polled += op->flags & CT_OP_POLLED ? 1 : 0;
    p->op = *op;
    p->asked_ticks = p->head_ticks = p->start_ticks = 0;
    p->is_started = !ct_op_has_start_record(op);
    p->thread = t;
    insert(s, p);
    activate(s);
}

bool ct_harvest_collect(struct ct_thread *t)
{
    uint32_t first;
    uint32_t n = ct_ring_waiting(&t->op_ring, CT_THREAD_OPS, &first);
    for (uint32_t i = 0; i < n; i++)
        collect_one(t, &t->ops[(first + i) % CT_THREAD_OPS]);
    ct_ring_consume(&t->op_ring, n);
    return n != 0;
}

uint64_t ct_harvest_pending(void)
{
    return pending;
}

bool ct_harvest_polls(void)
{
    return polled;
}

uint64_t ct_harvest_polled(void)
{
    return added_ever;
}

/* Small sets are a class of their own; larger ones and copies within a device are kernels. */
static enum ct_work_class class_of(const struct ct_row *r, const struct ct_op *op)
{
    if (r->kind == CT_ROW_SET)
        return op->bytes < SET_KERNEL_BYTES ? CT_CLASS_SET : CT_CLASS_KERNEL;
    if (r->kind == CT_ROW_PREFETCH)
        return CT_CLASS_COPY;
    if (r->kind != CT_ROW_COPY || r->detail == CT_DTOD)
        return CT_CLASS_KERNEL;
    return op->flags & CT_OP_WAITED_FOR ? CT_CLASS_WAIT : CT_CLASS_COPY;
}

/* A copy below INLINE_BYTES travels with the command, and the compute engine puts it there. */
static enum ct_engine engine_of(const struct ct_row *r, const struct ct_op *op)
{
    enum ct_work_class work = class_of(r, op);
    if (work == CT_CLASS_KERNEL || work == CT_CLASS_SET)
        return CT_ENGINE_COMPUTE;
    if (r->detail == CT_DTOH)
        return CT_ENGINE_TO_HOST;
    return op->bytes < INLINE_BYTES ? CT_ENGINE_COMPUTE : CT_ENGINE_TO_DEVICE;
}

/* 0: the driver did not say. */
static uint32_t attribute(const _Atomic uint32_t *a)
{
    uint32_t value = atomic_load_explicit(a, memory_order_relaxed);
    return value == UINT32_MAX ? 0 : value;
}

static uint32_t block_registers(const struct ct_row *r, const struct ct_op *op)
{
    return attribute(&r->registers) * ct_shape_threads(&op->shape);
}

static bool fills_device(const struct ct_row *r, const struct ct_measured *m)
{
    return r->kind == CT_ROW_KERNEL &&
           ct_fills_device(ct_device(m->device)->sm_count, &m->op.shape, m->times.block_registers,
                           attribute(&r->static_shared_bytes));
}

static bool has_hopped(const struct ct_stream *s, const struct ct_op *op, enum ct_engine engine)
{
    return s->last_engine != CT_ENGINE_NONE && s->last_engine != engine &&
           !(op->flags & CT_OP_AFTER_BREAK);
}

/* The stop event stays as reference for the next bracket's gap; the one before goes back. */
static void keep_reference(struct ct_stream *s, const struct ct_op *op, uint64_t stop_ns)
{
    drop_reference(s);
    bool goes_on = s->last_stop_context == op->context;
    s->latest_stop_ns = goes_on ? ct_max(s->latest_stop_ns, stop_ns) : stop_ns;
    s->last_stop = op->stop_event;
    s->last_stop_ns = stop_ns;
    s->last_stop_context = op->context;
    s->last_stop_sequence = op->sequence;
}

/*
 * With no other stream at work, the host's clock tells for a while after a pin where starts would
 * be, if its rate is known. Not on a device whose brackets tell nothing of the host's time.
 */
static void allow_clock(struct ct_stream *s, const struct ct_context *context)
{
    const struct ct_gpu_clock *clock = &context->clock;
    if (ct_tells_host(ct_device(context->device)->calibration) && clock->pinned &&
        clock->ns_per_tick > 0)
        atomic_store_explicit(&s->clock_until,
                              ct_gpu_clock_newest(clock)->ticks + ct_ns_to_ticks(CLOCK_GOOD_NS),
                              memory_order_relaxed);
}

/* A polled bracket's stop event has no stamp, so it is no reference for the next bracket. */
static void measure_polled(struct ct_stream *s, const struct ct_pending *p)
{
    const struct ct_op *op = &p->op;
    struct ct_context *c = ct_context(op->context);
    struct ct_measured m = {.op = *op, .device = c->device};
    struct ct_estimate e;
    uint64_t start_doubt_ns;
    m.stream_id = atomic_load_explicit(&s->id, memory_order_relaxed);
    m.priority = atomic_load_explicit(&s->priority, memory_order_relaxed);
    m.times = ct_lead_host_times(op);
    m.times.work = class_of(ct_row(op->row), op);
    enum ct_loss loss = ct_end_poll_start(s, &m, &start_doubt_ns);
    if (loss == CT_LOSS_COUNT)
        loss = ct_end_poll_duration(&m, p, looked_ticks, &e);
    if (loss != CT_LOSS_COUNT) {
        lose(s, op, loss);
        return;
    }
    ct_settle_as(&m, e.time_ns, e.doubt_ns + start_doubt_ns);
    added++;
    added_ever++;
    s->polled_sequence = op->sequence;
    s->polled_stop_ns = m.stop_ns;
    s->polled_doubt_ns = e.doubt_ns;
    give_stamp(op->context, op->start_event, m.start_ns);
    give_event(op->context, op->stop_event);
    drop_reference(s);
    s->last_engine = engine_of(ct_row(op->row), op);
    let_go(s, op);
}

/* The bracket stays in its stream: a driver call that does not return must not lose it. */
static void measure(struct ct_stream *s, const struct ct_pending *p)
{
    const struct ct_op *op = &p->op;
    if (ct_unlikely(op->flags & CT_OP_POLLED)) {
        measure_polled(s, p);
        return;
    }
    const struct ct_gpu_clock *clock = &ct_context(op->context)->clock;
    const struct ct_row *r = ct_row(op->row);
    bool is_overlapped = op->flags & CT_OP_OVERLAPPED;
    if (!is_overlapped)
        ct_shared_stream_end(s, op);
    struct ct_measured *m = ct_settle_next();
    enum ct_engine engine = engine_of(r, op);
    m->op = *op;
    m->is_placed = false;
    m->device = ct_context(op->context)->device;
    m->priority = atomic_load_explicit(&s->priority, memory_order_relaxed);
    m->stream_id = atomic_load_explicit(&s->id, memory_order_relaxed);
    m->times = ct_lead_host_times(op);
    m->times.work = class_of(r, op);
    m->times.block_registers = block_registers(r, op);
    m->times.parameter_bytes = atomic_load_explicit(&r->parameter_bytes, memory_order_relaxed);
    m->times.hopped = has_hopped(s, op, engine);
    m->fills_device = fills_device(r, m);
    m->long_ticks = ct_lead_long_ticks(p->next);
    enum ct_loss loss = ct_stamps_read(s, op, m);
    if (loss != CT_LOSS_COUNT) {
        lose(s, op, loss);
        return;
    }
    m->times.met_intake = ct_lead_met_intake(clock, m->stop_ns, p->next);
    uint64_t start_ns = m->start_ns, stop_ns = m->stop_ns;
    if (!is_overlapped || !ct_shared_stream_hold(s, m))
        ct_settle_keep();
    alone = active == s && !s->next_active ? s : NULL;
    alone_context = op->context;
    give_stamp(op->context, op->start_event, start_ns);
    keep_reference(s, op, stop_ns);
    if (!is_overlapped) {
        s->alone_stop_ns = stop_ns;
        s->alone_context = op->context;
    }
    s->last_engine = engine;
    let_go(s, op);
}

static struct ct_pending *unlink_first(struct ct_stream *s)
{
    struct ct_pending *p = s->first_pending;
    s->first_pending = p->next;
    if (!p->next)
        s->last_pending = NULL;
    if (s->last_inserted == p)
        s->last_inserted = NULL;
    return p;
}

static void lose_first(struct ct_stream *s, enum ct_loss loss)
{
    struct ct_pending *p = unlink_first(s);
    lose(s, &p->op, loss);
    give_pending(p);
}

static void lose_all(struct ct_stream *s, enum ct_loss loss)
{
    while (s->first_pending)
        lose_first(s, loss);
}

static uint32_t state_of(const struct ct_op *op)
{
    return atomic_load_explicit(&ct_context(op->context)->state, memory_order_acquire);
}

/*
 * Whether the first bracket can be dealt with now. Another thread may begin a capture between our
 * question and our record, which then is in the capture: such a bracket alone is lost. A context
 * whose events fail otherwise is left alone.
 */
static bool is_complete(struct ct_stream *s)
{
    const struct ct_op *op = &s->first_pending->op;
    struct ct_context *c = ct_context(op->context);
    uint64_t ticks = ct_ticks();
    CUresult r = CT_ASK_IN(c, cuEventQuery, ct_event(c, op->stop_event));
    if (r == CUDA_ERROR_NOT_READY) {
        s->first_pending->asked_ticks = ticks;
        if (!s->first_pending->head_ticks)
            s->first_pending->head_ticks = ticks;
    }
    looked_ticks = ct_ticks();
    if (ct_context_is_barred(c)) {
        if (is_gone(c))
            lose_all(s, CT_LOSS_CONTEXT_GONE);
        return false;
    }
    if (r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_READY)
        return r == CUDA_SUCCESS;
    if (r == CUDA_ERROR_CAPTURED_EVENT) {
        lose_first(s, CT_LOSS_UNSAFE);
        return false;
    }
    uint32_t live = CT_CONTEXT_LIVE;
    if (atomic_compare_exchange_strong(&c->state, &live, CT_CONTEXT_BROKEN)) {
        if (!fault.result)
            fault = (struct ct_fault){r, true, *op, ticks};
        ct_pass_renew();
    }
    lose_all(s, CT_LOSS_EVENT_ERROR);
    return false;
}

/*
 * One question for all of a stream's brackets: the last is complete last, but for brackets that
 * were open at once, whose numbers are not always in the order of their stop records.
 */
static bool is_all_complete(const struct ct_stream *s)
{
    if (s->first_pending == s->last_pending)
        return false;
    const struct ct_op *op = &s->last_pending->op;
    const struct ct_context *c = ct_context(op->context);
    bool is = CT_ASK_IN(c, cuEventQuery, ct_event(c, op->stop_event)) == CUDA_SUCCESS;
    looked_ticks = ct_ticks();
    return is;
}

/* The bracket before may still be in another thread's ring, and end where this one begins. */
static bool is_next(const struct ct_stream *s)
{
    return s->first_pending && s->first_pending->op.sequence <= s->dealt + 1;
}

static bool is_overlapped(const struct ct_stream *s)
{
    return s->first_pending->op.flags & CT_OP_OVERLAPPED;
}

/* A bracket that is the first of its stream for long: does it run, or does something hold it up? */
static void ask_start(struct ct_pending *p)
{
    const struct ct_op *op = &p->op;
    struct ct_context *c = ct_context(op->context);
    uint64_t ticks = ct_ticks(), long_ticks = ct_ns_to_ticks(START_ASK_NS);
    if (p->is_started || !p->head_ticks || ticks - p->head_ticks < long_ticks ||
        ticks - p->start_ticks < long_ticks || op->start_event == CT_EVENT_NONE)
        return;
    p->start_ticks = ticks;
    p->is_started = CT_ASK_IN(c, cuEventQuery, ct_event(c, op->start_event)) == CUDA_SUCCESS;
}

static void harvest_stream(struct ct_stream *s)
{
    bool all = s->first_pending && is_all_complete(s);
    while (is_next(s) && ((all && !is_overlapped(s)) || is_complete(s))) {
        measure(s, s->first_pending);
        give_pending(unlink_first(s));
    }
    if (s->first_pending && atomic_load_explicit(&ct_harvest_asks_starts, memory_order_relaxed))
        ask_start(s->first_pending);
    tell(s);
}

/*
 * Gives the reference event back when nothing is pending and nobody can be about to share it: the
 * launching thread counts a bracket as opened before it reads `released`; here the count is read
 * behind the store. All are sequentially consistent: one of the two sees the other.
 */
static void rest(struct ct_stream *s)
{
    if (!s->last_stop_sequence)
        return;
    atomic_store(&s->released, s->last_stop_sequence);
    if (!ct_stream_has_open(s) &&
        atomic_load_explicit(&s->sequence, memory_order_acquire) == s->last_stop_sequence)
        drop_reference(s);
}

/* Asking an event wants its context current; streams of one context tend to follow each other. */
static void harvest_with_context(struct ct_stream *s)
{
    struct ct_context *c = ct_context(s->first_pending->op.context);
    uint32_t state = state_of(&s->first_pending->op);
    if (state == CT_CONTEXT_PAUSED)
        return;
    if (ct_calibrate_holds(c->device))
        return;
    if (state != CT_CONTEXT_LIVE) {
        lose_all(s, state == CT_CONTEXT_BROKEN ? CT_LOSS_EVENT_ERROR : CT_LOSS_CONTEXT_GONE);
        return;
    }
    CUcontext before;
    if (!ct_context_enter(c, &before))
        return;
    harvest_stream(s);
    ct_context_leave(c, before);
}

static unsigned settle(bool all)
{
    if (all)
        ct_shared_streams_end();
    else
        ct_shared_streams_step();
    unsigned n = ct_settle(all) + added;
    added = 0;
    if (alone)
        allow_clock(alone, ct_context(alone_context));
    alone = NULL;
    return n;
}

uint64_t ct_harvest(bool all)
{
    struct ct_stream **at = &active;
    ct_settle_begin();
    while (*at) {
        struct ct_stream *s = *at;
        if (s->first_pending)
            harvest_with_context(s);
        if (!s->first_pending)
            rest(s);
        if (s->first_pending || s->last_stop_sequence) {
            at = &s->next_active;
        } else {
            *at = s->next_active;
            s->active = false;
        }
    }
    return settle(all);
}

void ct_harvest_give_up(void)
{
    unfinished += pending;
    for (struct ct_stream *s = active; s; s = s->next_active)
        lose_all(s, CT_LOSS_UNFINISHED);
    ct_shared_streams_end();
    ct_settle(true);
}

static bool is_in(const struct ct_stream *s, const struct ct_context *c)
{
    return s->first_pending && s->first_pending->op.context == ct_context_index(c);
}

void ct_harvest_context(struct ct_context *c)
{
    CUcontext before;
    if (!ct_context_enter(c, &before))
        return;
    for (struct ct_stream *s = active; s; s = s->next_active)
        if (is_in(s, c))
            harvest_stream(s);
    ct_context_leave(c, before);
    settle(true);
}

void ct_harvest_lose_context(struct ct_context *c)
{
    if (!fault.has_op || fault.op.context == ct_context_index(c))
        fault.result = CUDA_SUCCESS; /* the program begins anew */
    ct_shared_streams_end();
    for (struct ct_stream *s = active; s; s = s->next_active) {
        if (is_in(s, c))
            lose_all(s, CT_LOSS_CONTEXT_GONE);
        if (s->last_stop_sequence && s->last_stop_context == ct_context_index(c))
            s->last_stop_sequence = 0;
    }
    atomic_store_explicit(&c->is_forgotten, true, memory_order_release);
}

void ct_harvest_see(void (*see)(const struct ct_stream *s, const struct ct_pending *p, void *arg),
                    void *arg)
{
    for (const struct ct_stream *s = active; s; s = s->next_active)
        if (s->first_pending)
            see(s, s->first_pending, arg);
}

const struct ct_fault *ct_harvest_fault(void)
{
    return fault.result ? &fault : NULL;
}

uint64_t ct_harvest_dealt(void)
{
    return dealt_ever;
}

uint64_t ct_harvest_unfinished(void)
{
    return unfinished;
}

void ct_harvest_refused(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (fault.result || !atomic_load_explicit(&ct_harvest_asks_starts, memory_order_relaxed))
        return;
    CUresult r = CT_ASK(cuThreadExchangeStreamCaptureMode, &mode);
    if (r == CUDA_SUCCESS) {
        ct_relaxed_leave(mode);
        return;
    }
    fault = (struct ct_fault){.result = r, .ticks = ct_ticks()};
    for (const struct ct_stream *s = active; s && !fault.has_op; s = s->next_active)
        if ((fault.has_op = s->first_pending))
            fault.op = s->first_pending->op;
}
