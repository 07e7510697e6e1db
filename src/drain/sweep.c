/* SPDX-License-Identifier: MIT */
#include "drain/sweep.h"

/* ---- operations that wait ---- */

/* An operation that takes no time comes before one that begins at the same moment. */
static bool is_later(const struct ct_sweep_op *a, const struct ct_sweep_op *b)
{
    return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->end_ns > b->end_ns;
}

static void push(struct ct_sweep *s, const struct ct_sweep_op *op)
{
    unsigned at = s->waiting_count++;
    for (unsigned up; at && is_later(&s->waiting[up = (at - 1) / 2], op); at = up)
        s->waiting[at] = s->waiting[up];
    s->waiting[at] = *op;
}

static struct ct_sweep_op pop(struct ct_sweep *s)
{
    struct ct_sweep_op first = s->waiting[0];
    unsigned n = --s->waiting_count, at = 0;
    const struct ct_sweep_op *last = &s->waiting[n];
    for (unsigned down; (down = 2 * at + 1) < n; at = down) {
        if (down + 1 < n && is_later(&s->waiting[down], &s->waiting[down + 1]))
            down++;
        if (!is_later(last, &s->waiting[down]))
            break;
        s->waiting[at] = s->waiting[down];
    }
    s->waiting[at] = *last;
    return first;
}

/* ---- operations that run ---- */

/* Time goes on to `ns` with the operations that run. */
static void pass(struct ct_sweep *s, uint64_t ns)
{
    struct ct_file_activity *a = &s->figures.sum;
    if (ns <= a->last_ns)
        return;
    uint64_t took_ns = ns - a->last_ns;
    a->last_ns = ns;
    a->busy_ns += took_ns;
    if (s->copies)
        a->copy_ns += took_ns;
    if (s->copies < s->running_count)
        a->compute_ns += took_ns;
    if (s->copies && s->copies < s->running_count)
        a->both_ns += took_ns;
    if (s->running_count > 1)
        a->beside_ns += took_ns;
}

/* The entry may have become another stream's meanwhile. */
static struct ct_stream_activity *stream_of(const struct ct_sweep *s, const struct ct_sweep_op *op)
{
    struct ct_stream_activity *stream = &s->streams[op->stream];
    return op->stream != CT_SWEEP_NO_STREAM && stream->stream_id == op->stream_id ? stream : NULL;
}

static void retire(struct ct_sweep *s, unsigned i)
{
    const struct ct_sweep_running *r = &s->running[i];
    struct ct_stream_activity *stream = stream_of(s, &r->op);
    if (stream) {
        stream->busy_ns += s->figures.sum.last_ns - r->op.start_ns;
        stream->beside_ns += s->figures.sum.beside_ns - r->beside_ns;
        stream->last_ns = s->figures.sum.last_ns;
    }
    s->copies -= r->op.is_copy;
    s->running[i] = s->running[--s->running_count];
}

static unsigned first_to_end(const struct ct_sweep *s)
{
    unsigned first = 0;
    for (unsigned i = 1; i < s->running_count; i++)
        if (s->running[i].op.end_ns < s->running[first].op.end_ns)
            first = i;
    return first;
}

static void run_until(struct ct_sweep *s, uint64_t ns)
{
    while (s->running_count) {
        unsigned i = first_to_end(s);
        uint64_t end_ns = s->running[i].op.end_ns;
        if (end_ns > ns) {
            pass(s, ns);
            return;
        }
        pass(s, end_ns);
        retire(s, i);
    }
}

/* ---- gaps ---- */

/*
 * The part of a gap before the GPU was told is the host's, less the bracket's time on the host; in
 * the rest the operation was queued, less the bracket's time on the GPU.
 */
static void explain(const struct ct_sweep_op *op, uint64_t from_ns, uint64_t idle_ns[])
{
    uint64_t gap_ns = op->start_ns - from_ns;
    if (op->told_ns == CT_SWEEP_UNKNOWN) {
        idle_ns[CT_IDLE_MEASURING] = ct_min(gap_ns, op->gpu_cost_ns);
        idle_ns[CT_IDLE_UNKNOWN] = gap_ns - idle_ns[CT_IDLE_MEASURING];
        return;
    }
    uint64_t late_ns = op->told_ns > from_ns ? ct_min(op->told_ns - from_ns, gap_ns) : 0;
    uint64_t queued_ns = gap_ns - late_ns;
    uint64_t host_cost_ns = ct_min(late_ns, op->host_cost_ns);
    uint64_t gpu_cost_ns = ct_min(queued_ns, op->gpu_cost_ns);
    bool had_waited = op->waited_ns > from_ns;
    idle_ns[had_waited ? CT_IDLE_SYNC : CT_IDLE_HOST] = late_ns - host_cost_ns;
    idle_ns[CT_IDLE_QUEUED] = queued_ns - gpu_cost_ns;
    idle_ns[CT_IDLE_MEASURING] = host_cost_ns + gpu_cost_ns;
}

static void add_gap(struct ct_sweep *s, const struct ct_sweep_op *op, bool was_off)
{
    struct ct_file_activity *a = &s->figures.sum;
    uint64_t gap_ns = op->start_ns - a->last_ns, idle_ns[CT_FILE_IDLES] = {0};
    struct ct_file_gap *g = &s->figures.gap[ct_octave(gap_ns)];
    if (was_off)
        idle_ns[CT_IDLE_OFF] = gap_ns;
    else
        explain(op, a->last_ns, idle_ns);
    for (unsigned i = 0; i < CT_IDLE_COUNT; i++) {
        a->idle_ns[i] += idle_ns[i];
        g->idle_ns[i] += idle_ns[i];
    }
    g->count++;
    a->gaps++;
    a->longest_gap_ns = ct_max(a->longest_gap_ns, gap_ns);
    a->last_ns = op->start_ns;
}

static void begin_in_stream(struct ct_sweep *s, const struct ct_sweep_op *op)
{
    struct ct_stream_activity *stream = stream_of(s, op);
    if (!stream)
        return;
    if (!stream->timed) {
        stream->first_ns = stream->last_ns = op->start_ns;
    } else if (op->start_ns > stream->last_ns) {
        stream->gaps++;
        stream->longest_gap_ns = ct_max(stream->longest_gap_ns, op->start_ns - stream->last_ns);
    }
    stream->timed += op->operations;
}

/* ---- from one to the next ---- */

/* A stream runs one operation at a time: where estimates overlap, the one before ends here. */
static void end_before(struct ct_sweep *s, const struct ct_sweep_op *op)
{
    for (unsigned i = 0; i < s->running_count; i++)
        if (s->running[i].op.stream_id == op->stream_id) {
            retire(s, i);
            return;
        }
}

/* An operation that comes too late begins where the others are; its time before that is lost. */
static void put_in_place(struct ct_sweep *s, struct ct_sweep_op *op)
{
    uint64_t now_ns = s->figures.sum.last_ns, late_ns;
    if (op->start_ns >= now_ns)
        return;
    late_ns = ct_min(op->end_ns, now_ns) - op->start_ns;
    s->figures.sum.misplaced_ns += late_ns;
    op->start_ns = now_ns;
    op->end_ns = ct_max(op->end_ns, now_ns);
}

static void begin(struct ct_sweep *s, struct ct_sweep_op op)
{
    run_until(s, op.start_ns);
    end_before(s, &op);
    if (!s->figures.sum.operations)
        s->figures.sum.first_ns = s->figures.sum.last_ns = op.start_ns;
    put_in_place(s, &op);
    if (op.start_ns > s->figures.sum.last_ns)
        add_gap(s, &op, op.period > s->period);
    s->period = ct_max(s->period, op.period);
    s->figures.sum.operations++;
    begin_in_stream(s, &op);
    if (s->running_count == CT_SWEEP_RUNNING) {
        s->figures.sum.misplaced_ns += op.end_ns - op.start_ns;
        return;
    }
    s->copies += op.is_copy;
    s->running[s->running_count++] = (struct ct_sweep_running){op, s->figures.sum.beside_ns};
}

void ct_sweep_add(struct ct_sweep *s, const struct ct_sweep_op *op)
{
    if (s->waiting_count == CT_SWEEP_WAITING)
        begin(s, pop(s));
    push(s, op);
}

void ct_sweep_finish(struct ct_sweep *s)
{
    while (s->waiting_count)
        begin(s, pop(s));
    run_until(s, UINT64_MAX);
}
