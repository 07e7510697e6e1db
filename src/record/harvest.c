/* SPDX-License-Identifier: MIT */
#include "record/harvest.h"

#include "base/clock.h"
#include "base/mem.h"
#include "record/calibrate.h"
#include "record/lead.h"
#include "record/row.h"
#include "record/sample.h"
#include "record/settle.h"
#include "record/stream.h"
#include "record/thread.h"

#define SLAB 512

#define CLOCK_GOOD_NS 20000000 /* in which the clocks drift apart by less than 10 ns */

#define SET_KERNEL_BYTES 32768 /* an H200: 4 KiB by the copy engine, 64 KiB by a kernel */

struct ct_pending {
    struct ct_pending *next;
    struct ct_op op;
};

static struct ct_pending *free_pending;
static struct ct_stream *active; /* streams with something pending or a reference event held */
static uint64_t pending;

void ct_harvest_forget(void)
{
    free_pending = NULL;
    active = NULL;
    pending = 0;
}

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
    p->next = free_pending;
    free_pending = p;
    pending--;
}

/* A context that has gone took its events along. */
static bool has_event(uint32_t context, uint32_t event)
{
    uint32_t state = atomic_load_explicit(&ct_context(context)->state, memory_order_acquire);
    return event != CT_EVENT_NONE && state != CT_CONTEXT_GONE;
}

static void give_event(uint32_t context, uint32_t event)
{
    if (has_event(context, event))
        ct_event_give(ct_context(context), event);
}

/* The same of an event whose stamp is known. */
static void give_stamp(uint32_t context, uint32_t event, uint64_t ns)
{
    if (has_event(context, event))
        ct_gpu_clock_give(ct_context(context), event, ns);
}

static void drop_reference(struct ct_stream *s)
{
    if (s->last_stop_sequence)
        give_stamp(s->last_stop_context, s->last_stop, s->last_stop_ns);
    s->last_stop_sequence = 0;
}

/* After this the entry may serve another stream, and the context may be forgotten. */
static void let_go(struct ct_stream *s, const struct ct_op *op)
{
    uint64_t done = atomic_load_explicit(&s->done, memory_order_relaxed);
    ct_count_bump(&s->settled, op->operations);
    atomic_store_explicit(&s->done, done + 1, memory_order_release);
}

static void lose(struct ct_stream *s, const struct ct_op *op, enum ct_loss loss)
{
    ct_row_lose(op->row, loss, op->operations, op->bytes);
    ct_cell_lose(op->cell);
    give_event(op->context, op->start_event);
    give_event(op->context, op->stop_event);
    drop_reference(s);
    let_go(s, op);
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
 * Threads that share a stream hand their brackets over in another order than recorded, those of a
 * thread one after the other: the next place is looked for from the last one on.
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

static void collect_one(const struct ct_op *op)
{
    struct ct_stream *s = ct_stream(op->stream);
    struct ct_pending *p = take_pending();
    if (!p) {
        lose(s, op, CT_LOSS_RING_FULL);
        return;
    }
    pending++;
    p->op = *op;
    insert(s, p);
    activate(s);
}

bool ct_harvest_collect(struct ct_thread *t)
{
    uint32_t first;
    uint32_t n = ct_ring_waiting(&t->op_ring, CT_THREAD_OPS, &first);
    for (uint32_t i = 0; i < n; i++)
        collect_one(&t->ops[(first + i) % CT_THREAD_OPS]);
    ct_ring_consume(&t->op_ring, n);
    return n != 0;
}

uint64_t ct_harvest_pending(void)
{
    return pending;
}

/* Small sets are the copy engine's, larger ones and copies within a device are kernels. */
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

/* Kernels and copies; a kernel after a small set does not show it. */
static bool has_hopped(const struct ct_stream *s, const struct ct_op *op, enum ct_work_class work)
{
    if (op->flags & CT_OP_AFTER_BREAK)
        return false;
    if (work == CT_CLASS_KERNEL)
        return s->last_work == CT_CLASS_COPY || s->last_work == CT_CLASS_WAIT;
    return s->last_work == CT_CLASS_KERNEL;
}

/* The bracket with which so much is behind the one just taken that the queue is long. */
static const struct ct_op *long_from(const struct ct_stream *s)
{
    unsigned behind = 0;
    for (const struct ct_pending *p = s->first_pending; p; p = p->next) {
        behind += ct_lead_entries(&p->op);
        if (behind >= CT_LONG_QUEUE)
            return &p->op;
    }
    return NULL;
}

/* The stop event stays as reference for the next bracket's gap; the one before goes back. */
static void keep_reference(struct ct_stream *s, const struct ct_op *op, uint64_t stop_ns)
{
    drop_reference(s);
    s->last_stop = op->stop_event;
    s->last_stop_ns = stop_ns;
    s->last_stop_context = op->context;
    s->last_stop_sequence = op->sequence;
}

/*
 * Without a start record: where it would have been stamped, on an idle stream, had it been made just
 * before the call; behind the bracket before in any case.
 */
static bool work_out_start(const struct ct_stream *s, const struct ct_op *op, bool has_reference,
                           struct ct_measured *m)
{
    struct ct_context *c = ct_context(op->context);
    if (!ct_gpu_clock_read(c, op->stop_event, &m->stop_ns))
        return false;
    bool is_tied = ct_gpu_clock_at(&c->clock, op->call_ticks, &m->start_ns);
    if (!is_tied && !has_reference)
        return false;
    if (has_reference && (!is_tied || m->start_ns < s->last_stop_ns))
        m->start_ns = s->last_stop_ns;
    m->start_ns = ct_min(m->start_ns, m->stop_ns);
    m->times.raw_ns = m->stop_ns - m->start_ns;
    return true;
}

static bool read_raw(const struct ct_context *c, uint32_t start, uint32_t stop,
                     struct ct_measured *m)
{
    int64_t raw_ns;
    if (!ct_elapsed_ns(c, start, stop, &raw_ns))
        return false;
    m->times.raw_ns = raw_ns > 0 ? (uint64_t)raw_ns : 0;
    m->stop_ns = m->start_ns + m->times.raw_ns;
    return true;
}

static bool read_stamps(struct ct_stream *s, const struct ct_op *op, struct ct_measured *m)
{
    struct ct_context *c = ct_context(op->context);
    bool ok, has_reference = s->last_stop_sequence && s->last_stop_context == op->context;
    bool follows = has_reference && s->last_stop_sequence + 1 == op->sequence;
    if (op->flags & CT_OP_TOLD_START) {
        ok = work_out_start(s, op, follows, m);
    } else if (op->flags & CT_OP_SHARED_START) {
        m->start_ns = s->last_stop_ns;
        ok = follows && read_raw(c, s->last_stop, op->stop_event, m);
    } else {
        ok = ct_gpu_clock_read(c, op->start_event, &m->start_ns) &&
             read_raw(c, op->start_event, op->stop_event, m);
    }
    m->times.gap_ns = !has_reference                  ? CT_GAP_UNKNOWN
                      : m->start_ns > s->last_stop_ns ? m->start_ns - s->last_stop_ns
                                                      : 0;
    return ok;
}

/*
 * A pin, with no other stream at work: for a while the host's clock tells where starts would be, if
 * it is known how fast it goes. Not on a device whose brackets know nothing of the host's time.
 */
static void allow_clock(struct ct_stream *s, const struct ct_measured *m)
{
    struct ct_gpu_clock *clock = &ct_context(m->op.context)->clock;
    bool is_alone = active == s && !s->next_active;
    const struct ct_calibration *c = ct_device(m->device)->calibration;
    bool is_known = c->source != CT_CALIBRATION_NONE && c->submit_ns != UINT32_MAX;
    if (is_alone && is_known && clock->ns_per_tick > 0)
        atomic_store_explicit(&s->clock_until, m->op.closed_ticks + ct_ns_to_ticks(CLOCK_GOOD_NS),
                              memory_order_relaxed);
}

static void measure(struct ct_stream *s, const struct ct_op *op)
{
    struct ct_measured *m = ct_settle_next();
    enum ct_work_class work = class_of(ct_row(op->row), op);
    m->op = *op;
    m->device = ct_context(op->context)->device;
    m->times = ct_lead_host_times(op);
    m->times.work = work;
    m->times.hopped = has_hopped(s, op, work);
    if (!read_stamps(s, op, m)) {
        ct_settle_cancel();
        lose(s, op, CT_LOSS_EVENT_ERROR);
        return;
    }
    if (ct_lead_find(&ct_context(op->context)->clock, m, long_from(s)))
        allow_clock(s, m);
    give_stamp(op->context, op->start_event, m->start_ns);
    keep_reference(s, op, m->stop_ns);
    s->last_work = work;
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

static void lose_all(struct ct_stream *s, enum ct_loss loss)
{
    while (s->first_pending) {
        struct ct_pending *p = unlink_first(s);
        lose(s, &p->op, loss);
        give_pending(p);
    }
}

static uint32_t state_of(const struct ct_op *op)
{
    return atomic_load_explicit(&ct_context(op->context)->state, memory_order_acquire);
}

/* Whether the first bracket can be dealt with now. A context whose events fail is left alone. */
static bool is_complete(struct ct_stream *s)
{
    const struct ct_op *op = &s->first_pending->op;
    CUresult r = CT_REAL(cuEventQuery)(ct_event(ct_context(op->context), op->stop_event));
    if (r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_READY)
        return r == CUDA_SUCCESS;
    uint32_t live = CT_CONTEXT_LIVE;
    atomic_compare_exchange_strong(&ct_context(op->context)->state, &live, CT_CONTEXT_BROKEN);
    lose_all(s, CT_LOSS_EVENT_ERROR);
    return false;
}

/* One question for all that waits: what comes last in a stream is complete last. */
static bool is_all_complete(const struct ct_stream *s)
{
    if (s->first_pending == s->last_pending)
        return false;
    const struct ct_op *op = &s->last_pending->op;
    CUevent last = ct_event(ct_context(op->context), op->stop_event);
    return CT_REAL(cuEventQuery)(last) == CUDA_SUCCESS;
}

/* The one before may still be in another thread's queue, and be where this one begins. */
static bool is_next(const struct ct_stream *s)
{
    uint64_t done = atomic_load_explicit(&s->done, memory_order_relaxed);
    return s->first_pending && s->first_pending->op.sequence <= done + 1;
}

static uint64_t harvest_stream(struct ct_stream *s)
{
    uint64_t n = 0;
    bool all = s->first_pending && is_all_complete(s);
    while (is_next(s) && (all || is_complete(s))) {
        struct ct_pending *p = unlink_first(s);
        measure(s, &p->op);
        give_pending(p);
        n++;
    }
    const struct ct_op *head = s->first_pending ? &s->first_pending->op : NULL;
    atomic_store_explicit(&s->head, head ? head->sequence << 32 | head->stop_event : 0,
                          memory_order_release);
    return n;
}

/*
 * Gives the reference event back when nothing is pending and nobody can be about to share it: the
 * launching thread counts a bracket as opened before it looks at `released`, and here it is the
 * other way round, both sequentially consistent: one of the two sees the other.
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

static bool push(struct ct_context *c)
{
    return CT_REAL(cuCtxPushCurrent_v2)(c->handle) == CUDA_SUCCESS;
}

/* Asking an event wants its context current; streams of one context tend to follow each other. */
static uint64_t harvest_with_context(struct ct_stream *s)
{
    struct ct_context *c = ct_context(s->first_pending->op.context);
    uint32_t state = state_of(&s->first_pending->op);
    if (state == CT_CONTEXT_PAUSED)
        return 0;
    if (ct_calibrate_holds(c->device))
        return 0;
    if (state != CT_CONTEXT_LIVE) {
        lose_all(s, state == CT_CONTEXT_BROKEN ? CT_LOSS_EVENT_ERROR : CT_LOSS_CONTEXT_GONE);
        return 0;
    }
    if (!push(c))
        return 0;
    uint64_t n = harvest_stream(s);
    CUcontext popped;
    CT_REAL(cuCtxPopCurrent_v2)(&popped);
    return n;
}

static void settle(void)
{
    uint64_t start_ns;
    for (struct ct_stream *s = active; s; s = s->next_active) {
        if (!s->first_pending)
            continue;
        const struct ct_op *op = &s->first_pending->op;
        if (ct_gpu_clock_at(&ct_context(op->context)->clock, op->call_ticks, &start_ns))
            ct_settle_running(op->stream, op->context, start_ns);
    }
    ct_settle();
}

uint64_t ct_harvest(void)
{
    uint64_t n = 0;
    struct ct_stream **at = &active;
    while (*at) {
        struct ct_stream *s = *at;
        if (s->first_pending)
            n += harvest_with_context(s);
        if (!s->first_pending)
            rest(s);
        if (s->first_pending || s->last_stop_sequence) {
            at = &s->next_active;
        } else {
            *at = s->next_active;
            s->active = false;
        }
    }
    settle();
    return n;
}

void ct_harvest_give_up(void)
{
    for (struct ct_stream *s = active; s; s = s->next_active)
        lose_all(s, CT_LOSS_UNFINISHED);
}

static bool is_in(const struct ct_stream *s, const struct ct_context *c)
{
    return s->first_pending && s->first_pending->op.context == ct_context_index(c);
}

void ct_harvest_context(struct ct_context *c)
{
    CUcontext popped;
    if (!push(c))
        return;
    for (struct ct_stream *s = active; s; s = s->next_active)
        if (is_in(s, c))
            harvest_stream(s);
    CT_REAL(cuCtxPopCurrent_v2)(&popped);
    settle();
}

void ct_harvest_lose_context(struct ct_context *c)
{
    for (struct ct_stream *s = active; s; s = s->next_active) {
        if (is_in(s, c))
            lose_all(s, CT_LOSS_CONTEXT_GONE);
        if (s->last_stop_sequence && s->last_stop_context == ct_context_index(c))
            s->last_stop_sequence = 0;
    }
}
