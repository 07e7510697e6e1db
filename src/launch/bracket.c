/* SPDX-License-Identifier: MIT */
#include "launch/bracket.h"

#include <errno.h>

#include "base/random.h"
#include "counts/filter.h"
#include "counts/pass.h"
#include "counts/range.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "counts/tally.h"
#include "launch/calibration.h"
#include "launch/depth.h"
#include "launch/replica.h"
#include "stacks/stacks.h"
#include "state/capture.h"
#include "state/connections.h"
#include "state/nap.h"
#include "system/clock.h"
#include "work/collective.h"
#include "work/graph.h"
#include "work/kernel.h"
#include "work/node_stack.h"

/* Operations between wake-ups: a burst after a pause fills the ring within the longest nap. */
#define WAKE_EVERY (CT_THREAD_OPS / 4)

#define AHEAD 3 /* launches: the entry of the ring is prefetched so far ahead */

#define MEASURE_EVERY 17
#define ROOM_NS 2000 /* a bracket that takes the host less did not wait for room in the queue */

static const struct ct_choice not_chosen = {.cell = CT_CELL_NONE, .weight = 1};

/* An operation that was counted as seen has failed, or gets no time for another reason. */
static void take_back(struct ct_bracket *b)
{
    if (b->choice.counted)
        ct_sample_take_back(b->thread->sampler, &b->choice);
    b->choice = not_chosen;
}

static void lose(struct ct_bracket *b, enum ct_loss loss)
{
    if (!ct_loss_is_drawn(loss))
        take_back(b);
    b->state = CT_BRACKET_LOST;
    b->loss = loss;
}

/* Launches of programmatic rows never go by: their chance depends on how many were seen. */
static bool may_go_by(const struct ct_bracket *b, const struct ct_work *w)
{
    return w->kind == CT_ROW_GRAPH || (w->kind == CT_ROW_KERNEL && !ct_row_is_programmatic(b->row));
}

/* The stream's `last_row` after this operation. */
static uint32_t last_row(const struct ct_bracket *b, const struct ct_work *w)
{
    return w->kind == CT_ROW_KERNEL ? b->row : CT_ROW_NONE;
}

/* The finding about a launch that may go by (pass.h). */
static struct ct_pass_finding finding(const struct ct_bracket *b, const struct ct_work *w)
{
    return (struct ct_pass_finding){
        .handle = w->kind == CT_ROW_GRAPH ? (const void *)w->graph : (const void *)w->function,
        .stream = w->stream,
        .shape = &w->shape,
        .known_stream = b->stream,
        .context = b->context,
        .row = b->row,
        .last_row = last_row(b, w),
        .cell = b->choice.cell,
        .loss = b->state == CT_BRACKET_LOST ? b->loss : CT_LOSS_SAMPLED,
        .generation = b->pass_generation,
    };
}

static void mark_programmatic(uint32_t row)
{
    if (row != CT_ROW_NONE && !ct_row_is_programmatic(row)) {
        atomic_store_explicit(&ct_row(row)->programmatic, true, memory_order_relaxed);
        ct_pass_renew();
    }
}

/*
 * A record between two kernels takes their overlap away if the second is launched programmatically.
 * The first such launch shows which two rows these are.
 */
static void look_for_programmatic(const struct ct_bracket *b, const struct ct_work *w)
{
    if (ct_likely(!w->programmatic) || !ct_sample_policy()->apart)
        return;
    mark_programmatic(atomic_load_explicit(&b->stream->last_row, memory_order_relaxed));
    mark_programmatic(b->row);
}

/* Where programmatic rows alone are sampled, all shapes of a kernel share one cell. */
static const struct ct_shape any_shape;

/* The first launch of a kernel is timed: its row is not known yet. See publish(). */
static bool is_sampled_out(struct ct_bracket *b, const struct ct_work *w)
{
    struct ct_drawn drawn = {1, true};
    uint32_t every = ct_unlikely(b->is_polled) ? ct_connections_every(b->context) : 1;
    if (b->row == CT_ROW_NONE ||
        ct_likely(!ct_sample_is_on && every == 1 && !ct_row_is_programmatic(b->row)))
        return false;
    if (ct_unlikely(w->kind == CT_WORK_WITNESS))
        return false;
    if (may_go_by(b, w)) {
        struct ct_pass_finding f = finding(b, w);
        drawn = ct_pass_candidate(b->thread->passes, &f);
    }
    if (ct_unlikely(every > drawn.every))
        drawn = (struct ct_drawn){every, ct_random(&b->thread->sampler->random) % every == 0};
    const struct ct_shape *shape = ct_sample_is_on ? &w->shape : &any_shape;
    uint64_t key = ct_sample_key(shape, w->bytes, w->operations);
    return !ct_sample_choose(b->thread->sampler, &b->thread->passes->cluster, b->row, key,
                             w->operations, drawn, &b->choice);
}

/* Only "success, not capturing" makes it safe to touch the stream. */
static bool is_untouchable(struct ct_bracket *b, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    b->captures = ct_captures_now();
    if (!CT_HAS(cuStreamIsCapturing))
        return false; /* a driver before 10.0 has no captures */
    CUresult r = CT_REAL(cuStreamIsCapturing)(stream, &status);
    if (ct_likely(r == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE))
        return false;
    bool captured = r == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    lose(b, captured ? CT_LOSS_CAPTURED : CT_LOSS_UNSAFE);
    b->context = ct_context_current();
    return true;
}

static uint32_t find_row(const struct ct_bracket *b, const struct ct_work *w)
{
    uint32_t device = b->context->device;
    if (w->kind == CT_ROW_KERNEL)
        return ct_kernel_find(w->function, device);
    if (w->kind == CT_ROW_GRAPH)
        return ct_graph_row(w->graph, device);
    if (ct_unlikely(w->kind == CT_WORK_WITNESS))
        return CT_ROW_WITNESS;
    return ct_row_get(w->kind, w->detail, device, NULL);
}

/*
 * First work in a context: now its device can be calibrated. No kernel of ours is loaded if
 * operations went by while recording was off: these may wait on the GPU for this thread.
 */
static CT_COLD bool begin_context(struct ct_bracket *b, uint32_t state)
{
    struct ct_context *c = b->context;
    if (state != CT_CONTEXT_NEW)
        return false;
    if (atomic_compare_exchange_strong(&c->state, &state, CT_CONTEXT_LIVE)) {
        if (ct_filter_takes(c->device, NULL))
            ct_calibrate_prepare(c, b->stream, ct_thread_events(b->thread, c),
                                 !ct_recording_off_operations());
        ct_drain_wake();
        ct_calibrate_await(c);
    }
    return true;
}

/*
 * A start record before a kernel holds nobody up, as the kernel waits for the one before it anyway;
 * before a copy it would. Such operations begin where the bracket before ended, or in an idle
 * stream. A call that waits for its copy makes the stop record when the copy is done.
 */
static bool can_be_polled(struct ct_bracket *b, const struct ct_work *w)
{
    if (w->kind == CT_ROW_KERNEL)
        return true;
    if (w->kind == CT_WORK_WITNESS)
        return false;
    bool is_idle = ct_stream_is_dealt_with(b->stream) && ct_stream_is_idle(b->stream);
    if (is_idle && w->op_flags & CT_OP_WAITED_FOR)
        b->is_polled = false;
    if (!is_idle && ct_stream_follows(b->stream, b->thread))
        b->flags |= CT_OP_SHARED_START;
    b->open_ticks = ct_ticks();
    return is_idle || b->flags & CT_OP_SHARED_START;
}

static bool has_to_share(const struct ct_bracket *b)
{
    uint32_t streams = atomic_load_explicit(&b->context->connections.streams, memory_order_relaxed);
    return ct_unlikely(streams > ct_connections_count) &&
           ct_connections_are_short(b->context, b->stream);
}

static bool is_unwanted(struct ct_bracket *b, const struct ct_work *w)
{
    uint32_t slot; /* publish() takes it; only this thread fills its ring */
    uint32_t state = atomic_load_explicit(&b->context->state, memory_order_relaxed);
    if (ct_unlikely(state != CT_CONTEXT_LIVE && state != CT_CONTEXT_PAUSED) &&
        !begin_context(b, state))
        lose(b, state == CT_CONTEXT_BROKEN ? CT_LOSS_EVENT_ERROR : CT_LOSS_CONTEXT_GONE);
    else if (b->row != CT_ROW_NONE && ct_row(b->row)->excluded)
        lose(b, CT_LOSS_EXCLUDED);
    else if (w->mixed)
        lose(b, CT_LOSS_MIXED_BATCH);
    else if (is_sampled_out(b, w))
        lose(b, ct_sample_loss(b->row));
    else if (b->is_polled && !can_be_polled(b, w))
        lose(b, CT_LOSS_SHARED);
    else if (ct_depth_is_reached(b->stream))
        lose(b, CT_LOSS_DEEP_QUEUE);
    else if (!ct_ring_reserve(&b->thread->op_ring, CT_THREAD_OPS, &slot))
        lose(b, CT_LOSS_RING_FULL);
    return b->state == CT_BRACKET_LOST;
}

static void give_events(struct ct_bracket *b)
{
    struct ct_event_cache *cache = ct_thread_events(b->thread, b->context);
    if (b->start_event != CT_EVENT_NONE)
        ct_cache_give(b->context, cache, b->start_event);
    if (b->stop_event != CT_EVENT_NONE)
        ct_cache_give(b->context, cache, b->stop_event);
}

/* Ends an open bracket that will not be published. */
static void drop(struct ct_bracket *b)
{
    give_events(b);
    atomic_fetch_add_explicit(&b->stream->abandoned, 1, memory_order_release);
}

static void abandon(struct ct_bracket *b, enum ct_loss loss)
{
    drop(b);
    lose(b, loss);
}

static bool record(const struct ct_bracket *b, uint32_t event)
{
    return CT_REAL(cuEventRecord)(ct_event(b->context, event), b->stream->handle) == CUDA_SUCCESS;
}

/* A question for count_cost() alone: its own time is taken out of the cost. */
static bool is_idle_beside(struct ct_bracket *b)
{
    uint64_t from = ct_ticks();
    bool is_idle = ct_stream_is_idle(b->stream);
    b->begin_ticks += ct_ticks() - from;
    return is_idle;
}

/* `opened` is sequentially consistent: see ct_stream_spares_start() and rest() of harvest.c. */
static void record_start(struct ct_bracket *b)
{
    struct ct_stream *s = b->stream;
    struct ct_event_cache *cache = ct_thread_events(b->thread, b->context);
    b->opened = atomic_fetch_add(&s->opened, 1) + 1;
    b->breaks = ct_stream_breaks(s);
    b->start_event = b->stop_event = CT_EVENT_NONE;
    if (b->opened - 1 != ct_stream_closed(s))
        b->flags |= CT_OP_OVERLAPPED;

    bool is_broken = ct_stream_is_broken(s);
    b->found_idle = is_broken ? ct_stream_is_idle(s) : b->begin_ticks && is_idle_beside(b);
    if (is_broken)
        b->flags |= CT_OP_AFTER_BREAK | (b->found_idle ? CT_OP_FOUND_IDLE : 0);
    if (b->is_polled)
        b->flags |= CT_OP_POLLED;
    if (!b->flags)
        b->flags |= ct_stream_spares_start(s, b->thread, &b->open_ticks);
    bool spared = b->flags & (CT_OP_SHARED_START | CT_OP_TOLD_START);
    if (!spared && (b->start_event = ct_cache_take(b->context, cache)) == CT_EVENT_NONE)
        return abandon(b, CT_LOSS_NO_EVENT);
    b->stop_event = ct_unlikely(b->is_polled) ? ct_cache_take_plain(b->context, cache)
                                              : ct_cache_take(b->context, cache);
    if (b->stop_event == CT_EVENT_NONE)
        return abandon(b, CT_LOSS_NO_EVENT);
    if (b->start_event != CT_EVENT_NONE) {
        b->open_ticks = ct_ticks();
        if (!record(b, b->start_event))
            return abandon(b, CT_LOSS_EVENT_ERROR);
        ct_stream_start_recorded(s, b->open_ticks);
    }
    b->state = CT_BRACKET_OPEN;
}

/*
 * A graph that would be timed as a whole may be timed kernel by kernel instead, unless the event
 * nodes could hold up other streams.
 */
static bool is_replayed(struct ct_bracket *b, const struct ct_work *w)
{
    if (ct_likely(w->kind != CT_ROW_GRAPH) || b->is_polled ||
        !ct_replica_is_due(w->graph, b->stream))
        return false;
    lose(b, CT_LOSS_INSIDE);
    return true;
}

/* With a budget, the host's time for one operation in MEASURE_EVERY is measured. */
static bool is_measured(struct ct_thread *t)
{
    if (ct_likely(!ct_sample_is_on) || ++t->sampler->unmeasured < MEASURE_EVERY)
        return false;
    t->sampler->unmeasured = 0;
    return ct_sample_policy()->budget_ppm;
}

/*
 * While no capture is open, only operations that are timed have the thread's last stream asked
 * whether it captures: the question is a good part of the cost of the others.
 */
static bool may_ask_later(const struct ct_thread *t, CUstream stream)
{
    return ct_sample_is_on && t->last_stream && t->last_stream->handle == stream &&
           !ct_captures_are_open();
}

/* `asked`: the stream is known not to capture; else it is asked for an operation that is timed. */
static void open_in_stream(struct ct_bracket *b, const struct ct_work *w, bool asked)
{
    b->stream = ct_stream_get(b->thread, w->stream);
    if (!b->stream) {
        lose(b, CT_LOSS_UNSAFE);
        return;
    }
    b->context = ct_context(b->stream->context);
    b->row = find_row(b, w);
    b->is_polled = has_to_share(b);
    b->turns = ct_stream_take_turn(b->stream);
    if (!is_unwanted(b, w) && (asked || !is_untouchable(b, w->stream)) && !is_replayed(b, w))
        record_start(b);
}

bool ct_bracket_open(struct ct_bracket *b, const struct ct_work *w, struct ct_thread *t)
{
    b->state = CT_BRACKET_OFF;
    if (!w->kind)
        return false;
    b->pass_generation = ct_pass_generation_now();
    b->stream = NULL;
    if (ct_unlikely(!ct_recording())) {
        ct_recording_missed(t, w->operations);
        if (ct_unlikely(ct_node_stacks_are_on) && ct_captures_are_open())
            b->state = CT_BRACKET_KEPT;
        return false;
    }
    b->saved_errno = errno;
    b->thread = t;
    b->context = NULL;
    b->row = CT_ROW_NONE;
    b->flags = 0;
    b->is_polled = false;
    b->choice = not_chosen;
    b->begin_ticks = is_measured(t) ? ct_ticks() : 0;
    bool asked = !may_ask_later(t, w->stream);
    if (!asked || !is_untouchable(b, w->stream))
        open_in_stream(b, w, asked);
    errno = b->saved_errno;
    return b->state == CT_BRACKET_OPEN || b->begin_ticks;
}

/* A context has no entry where the table is full: then the driver is asked for the device. */
static uint32_t device_of(struct ct_bracket *b)
{
    if (!b->context)
        b->context = ct_context_current();
    return b->context ? b->context->device : ct_device_current();
}

/* The call has succeeded: now the driver can be asked for a kernel's name. */
static uint32_t settle_row(struct ct_bracket *b, const struct ct_work *w)
{
    if (b->row != CT_ROW_NONE)
        return b->row;
    uint32_t device = device_of(b);
    if (w->kind == CT_ROW_KERNEL) {
        uint32_t known = ct_kernel_find(w->function, device);
        if (known != CT_ROW_NONE)
            return known;
        return ct_kernel_resolve(w->function, device,
                                 b->state == CT_BRACKET_LOST && b->loss == CT_LOSS_CAPTURED);
    }
    if (w->kind == CT_ROW_GRAPH)
        return ct_graph_row(w->graph, device);
    return ct_row_get(w->kind, w->detail, device, NULL);
}

/* Kernels alone belong to a collective: NCCL copies and sets to connect its ranks. */
static bool is_of_nccl(const struct ct_bracket *b, const struct ct_work *w)
{
    return ct_unlikely(b->thread->nccl_depth) && w->kind == CT_ROW_KERNEL;
}

/*
 * The stack of a launch into a capture stays with its nodes. A graph that is launched becomes a
 * copy, whose nodes nobody else tells of. A call that does nothing has no node.
 */
static CT_NOINLINE void keep_stack(const struct ct_work *w)
{
    const CUgraphNode *nodes;
    bool has_node = w->bytes || w->kind == CT_ROW_KERNEL || w->kind == CT_ROW_GRAPH;
    size_t count = has_node ? ct_capture_nodes(w->stream, &nodes) : 0;
    uint32_t stack = count ? ct_stack_take() : CT_STACK_NONE;
    for (size_t i = 0; i < count; i++) {
        ct_node_stack_put(nodes[i], stack);
        if (w->kind == CT_ROW_GRAPH)
            ct_graph_copied(w->graph, ct_graph_child(nodes[i]), stack);
    }
}

/* Operations that were sampled out are in their cells' counts as well: ct_sample_choose(). */
static void count_untimed(struct ct_bracket *b, const struct ct_work *w)
{
    ct_tally_lose(b->thread->tallies, b->row, b->loss, w->operations, w->bytes);
    if (ct_loss_is_in_stack(b->loss))
        ct_stack_launched(b->row, w->operations, 1);
    else if (ct_unlikely(ct_node_stacks_are_on) && b->loss == CT_LOSS_CAPTURED)
        keep_stack(w);
    if (b->stream)
        ct_stream_untimed(b->stream, w->operations);
    if (is_of_nccl(b, w))
        ct_collective_untimed(b->thread, w->stream, b->loss == CT_LOSS_CAPTURED);
}

/*
 * From here on launches like this one may go by, unless their stream has to be asked whether it
 * captures, or the first ones of the cell are being timed.
 */
static void arm(const struct ct_bracket *b, const struct ct_work *w)
{
    bool is_timed = b->state == CT_BRACKET_OPEN;
    bool is_excluded = !is_timed && b->loss == CT_LOSS_EXCLUDED;
    bool is_sampled = b->choice.cell != CT_CELL_NONE;
    if (!may_go_by(b, w) || !b->stream || !(is_excluded || is_sampled) || ct_captures_are_open())
        return;
    if (is_timed && ct_cell_is_sure(b->choice.cell))
        return;
    struct ct_pass_finding f = finding(b, w);
    ct_pass_arm(b->thread->passes, &f, &b->thread->sampler->random);
}

/*
 * The entry's lines are in the cache of the drain thread's processor, which read them last. At the
 * ring's end the lines behind the ring are fetched, in vain.
 */
static void ask_for(const struct ct_op *op)
{
    for (unsigned i = 0; i < sizeof(*op); i += CT_CACHE_LINE)
        __builtin_prefetch((const char *)op + i, 1);
}

static void publish(struct ct_bracket *b, const struct ct_work *w, uint64_t call_ticks,
                    uint64_t done_ticks, uint64_t closed_ticks)
{
    struct ct_stream *s = b->stream;
    uint32_t slot;
    if (!ct_ring_reserve(&b->thread->op_ring, CT_THREAD_OPS, &slot)) {
        abandon(b, CT_LOSS_RING_FULL); /* several brackets were open in one call */
        count_untimed(b, w);
        return;
    }
    if (b->opened != atomic_load_explicit(&s->opened, memory_order_acquire))
        b->flags |= CT_OP_OVERLAPPED;
    if (b->breaks != ct_stream_breaks(s))
        b->flags |= CT_OP_OVERLAPPED | CT_OP_BROKEN;
    if (b->turns != ct_stream_turn(s))
        b->flags |= CT_OP_LEGACY_WAIT;
    uint32_t range = ct_thread_range(b->thread);
    if (ct_unlikely(ct_sample_is_on) && !b->choice.counted && b->row != CT_ROW_WITNESS)
        ct_sample_add_sure(b->thread->sampler, b->row,
                           ct_sample_key(&w->shape, w->bytes, w->operations), w->operations,
                           &b->choice);
    struct ct_op *op = &b->thread->ops[slot];
    ask_for(op + AHEAD);
    *op = (struct ct_op){
        .row = b->row,
        .stream = ct_stream_index(s),
        .context = s->context,
        .flags = b->flags | w->op_flags,
        .start_event = b->start_event,
        .stop_event = b->stop_event,
        .sequence = ct_stream_recorded(s, b->thread, b->stop_event, b->start_event == CT_EVENT_NONE,
                                       b->is_polled),
        .opened = b->opened,
        .open_ticks = b->open_ticks,
        .call_ticks = call_ticks,
        .done_ticks = done_ticks,
        .closed_ticks = closed_ticks,
        .waited_ticks = b->thread->waited_ticks,
        .correlation = b->thread->correlation,
        .bytes = w->bytes,
        .operations = w->operations,
        .shape = w->shape,
        .cell = b->choice.cell,
        .weight = b->choice.weight,
        .cluster = b->choice.cluster,
        .range = range,
        .batch = is_of_nccl(b, w) ? ct_collective_launched(b->thread, w->stream) : 0,
        .stack = ct_stack_launched(b->row, w->operations, b->choice.weight),
    };
    if (ct_unlikely(b->flags & CT_OP_OVERLAPPED))
        ct_stream_disown(s);
    ct_ring_publish(&b->thread->op_ring);
    if (ct_unlikely(slot % WAKE_EVERY == 0))
        ct_drain_wake();
}

/*
 * Whether the stream came into a capture after it was asked: the records may then be in the
 * capture, and a question about such an event would end it.
 */
static bool may_be_captured(const struct ct_bracket *b)
{
    return ct_captures_since(b->captures) && ct_stream_is_capturing(b->stream->handle);
}

static void count_error(struct ct_bracket *b)
{
    if (b->row != CT_ROW_NONE)
        atomic_fetch_add_explicit(&ct_row(b->row)->errors, 1, memory_order_relaxed);
    take_back(b);
    if (b->state == CT_BRACKET_OPEN)
        drop(b);
}

/*
 * In an idle stream a bracket costs the program all of its time, cold caches included. Elsewhere a
 * long time says nothing: the records may have waited for room in the queue, as the next launch
 * would have.
 */
static void count_cost(const struct ct_bracket *b, bool timed, uint64_t ticks)
{
    bool is_alone = !b->choice.follows && b->flags & CT_OP_AFTER_BREAK;
    enum ct_cost cost = is_alone ? CT_COST_BRACKET : CT_COST_NEXT;
    if (!timed || b->found_idle || ticks < ct_ns_to_ticks(ROOM_NS))
        ct_sample_measured(timed ? cost : CT_COST_PASSED, ticks);
}

void ct_bracket_close(struct ct_bracket *b, const struct ct_work *w, CUresult result,
                      uint64_t call_ticks, uint64_t done_ticks)
{
    if (b->state == CT_BRACKET_OFF)
        return;
    b->saved_errno = errno;
    if (ct_unlikely(b->state == CT_BRACKET_KEPT)) {
        if (result == CUDA_SUCCESS)
            keep_stack(w);
        errno = b->saved_errno;
        return;
    }
    if (ct_unlikely(result != CUDA_SUCCESS)) {
        count_error(b);
    } else {
        /* The stop record comes first: finding a name takes time. */
        bool timed = b->state == CT_BRACKET_OPEN;
        if (timed && !record(b, b->stop_event)) {
            abandon(b, CT_LOSS_EVENT_ERROR);
            timed = false;
        } else if (timed && ct_unlikely(may_be_captured(b))) {
            abandon(b, CT_LOSS_UNSAFE);
            timed = false;
        }
        uint64_t closed_ticks = timed ? ct_ticks() : 0;
        b->row = settle_row(b, w);
        if (timed && ct_unlikely(ct_row(b->row)->excluded)) {
            abandon(b, CT_LOSS_EXCLUDED);
            timed = false;
        }
        if (timed)
            publish(b, w, call_ticks, done_ticks, closed_ticks);
        else
            count_untimed(b, w);
        if (w->op_flags & CT_OP_WAITED_FOR)
            b->thread->waited_ticks = done_ticks ? done_ticks : ct_ticks();
        if (b->stream) {
            look_for_programmatic(b, w);
            atomic_store_explicit(&b->stream->last_row, last_row(b, w), memory_order_relaxed);
        }
        if (ct_unlikely(ct_pass_is_on))
            arm(b, w);
        if (ct_unlikely(b->begin_ticks))
            count_cost(b, timed, call_ticks - b->begin_ticks + ct_ticks() - done_ticks);
    }
    errno = b->saved_errno;
}
