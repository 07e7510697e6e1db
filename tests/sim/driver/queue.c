/* SPDX-License-Identifier: MIT */
/*
 * Streams as queues, and virtual time. An operation's place in virtual time is known when it is
 * submitted; when it completes (becomes visible, and has its effect) is another matter: at once,
 * unless it stands behind a gate.
 */
#include "driver/sim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As measured on an H200: a bracket of two events reads the kernel and 2.91 us. */
#define LAUNCH_NS 1630
/* So many operations a stream takes behind the running one before the next call blocks. */
#define DEPTH 1021

static CUstream active; /* streams with operations pending */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- virtual time ---- */

static uint64_t machine_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Before that nothing of this thread's can begin. */
static int64_t submitted_ns(void)
{
    return sim_settings.host_clock ? (int64_t)machine_ns() : sim_self.host_ns;
}

/* Every other slice is another process's. */
static int64_t with_the_device(int64_t t)
{
    int64_t ns = sim_settings.slice_ns, slice = ns ? t / ns : 0;
    return slice % 2 ? (slice + 1) * ns : t;
}

static int64_t start_ns(CUstream s)
{
    int64_t t = later(s->tail_ns, submitted_ns());
    if (s->kind == SIM_STREAM_LEGACY) {
        for (CUstream o = s->context->streams; o; o = o->next)
            if (sim_stream_blocking(o))
                t = later(t, o->tail_ns);
    } else if (sim_stream_blocking(s) && s->context->legacy) {
        t = later(t, s->context->legacy->tail_ns);
    }
    return with_the_device(t);
}

static void record(CUstream s, CUevent e, int64_t t)
{
    e->recorded = true;
    e->captured = false;
    e->stamp_ns = t;
    e->mark = (struct sim_mark){s, s->id, s->submitted + 1};
}

/* Events in a graph: it begins behind all it waits for, and its records are where it passes them.
 */
static int64_t graph_start_ns(const struct sim_plan *p, int64_t t)
{
    for (size_t i = 0; p->has_events && i < p->count; i++)
        if (p->works[i].kind == SIM_WORK_WAIT)
            t = later(t, p->works[i].event->stamp_ns);
    return t + LAUNCH_NS;
}

static void graph_records(CUstream s, const struct sim_plan *p, int64_t t)
{
    for (size_t i = 0; p->has_events && i < p->count; i++)
        if (p->works[i].kind == SIM_WORK_RECORD)
            record(s, p->works[i].event, t + p->works[i].graph_offset_ns);
}

/* Where there are engines, copies of one direction are one engine's of the device. */
static int64_t *engine_of(CUstream s, const struct sim_work *w)
{
    static int64_t to_device_ns[SIM_DEVICES], to_host_ns[SIM_DEVICES], others_ns;
    bool is_one = sim_settings.copy_engines && w->kind == SIM_WORK_COPY;
    others_ns = 0;
    if (is_one && !strcmp(w->name, "HtoD"))
        return &to_device_ns[s->context->device];
    return is_one && !strcmp(w->name, "DtoH") ? &to_host_ns[s->context->device] : &others_ns;
}

/* The time it takes in its stream. */
static int64_t set_times(CUstream s, const struct sim_work *w)
{
    int64_t start = sim_connection_begin(s, w, start_ns(s)), t = start, *engine = engine_of(s, w);
    switch (w->kind) {
    case SIM_WORK_GRAPH:
        t = graph_start_ns(w->plan, later(t, w->after_ns));
        graph_records(s, w->plan, t);
        t += w->duration_ns;
        break;
    case SIM_WORK_KERNEL:
    case SIM_WORK_COPY:
    case SIM_WORK_SET:
    case SIM_WORK_PREFETCH:
    case SIM_WORK_BATCH:
        t = later(t, *engine) + LAUNCH_NS + w->duration_ns;
        *engine = t;
        break;
    case SIM_WORK_RECORD:
        if (!(w->event->flags & CU_EVENT_DISABLE_TIMING))
            t += sim_settings.event_ns;
        record(s, w->event, t);
        break;
    case SIM_WORK_WAIT:
        t = later(t, w->event->stamp_ns);
        break;
    default:
        break;
    }
    sim_connection_end(s, w, start, t);
    s->tail_ns = t;
    return t - start;
}

/* ---- what an operation waits for ---- */

struct sim_mark sim_mark_of(CUstream s)
{
    return (struct sim_mark){s, s->id, s->submitted};
}

/* A stream of another id has taken the place of the one meant, which had to drain for that. */
bool sim_reached(const struct sim_mark *m)
{
    return !m->stream || m->stream->id != m->stream_id || m->stream->done >= m->position;
}

static void add_wait(struct sim_op *op, struct sim_mark m)
{
    if (sim_reached(&m))
        return;
    op->waits = realloc(op->waits, (op->wait_count + 1) * sizeof(m));
    op->waits[op->wait_count++] = m;
}

static void add_waits_of_plan(struct sim_op *op)
{
    const struct sim_plan *p = op->work.plan;
    for (size_t i = 0; i < p->count; i++)
        if (p->works[i].kind == SIM_WORK_WAIT)
            add_wait(op, p->works[i].event->mark);
}

static void add_waits(CUstream s, struct sim_op *op)
{
    if (op->work.kind == SIM_WORK_WAIT)
        add_wait(op, op->work.event->mark);
    if (op->work.kind == SIM_WORK_GRAPH)
        add_wait(op, op->work.after);
    if (op->work.kind == SIM_WORK_GRAPH && op->work.plan->has_events)
        add_waits_of_plan(op);
    if (!active)
        return;
    if (s->kind == SIM_STREAM_LEGACY) {
        for (CUstream o = s->context->streams; o; o = o->next)
            if (sim_stream_blocking(o))
                add_wait(op, sim_mark_of(o));
    } else if (sim_stream_blocking(s) && s->context->legacy) {
        add_wait(op, sim_mark_of(s->context->legacy));
    }
}

static bool can_begin(const struct sim_op *op)
{
    for (size_t i = 0; i < op->wait_count; i++)
        if (!sim_reached(&op->waits[i]))
            return false;
    return true;
}

/* ---- the clock by which operations complete ---- */

static uint64_t host_clock_ns = 1; /* with CUDASIM_HOST_NS */

static uint64_t real_ns(void)
{
    return sim_settings.host_ns ? host_clock_ns : machine_ns();
}

bool sim_skip_wait(void)
{
    uint64_t next_ns = UINT64_MAX;
    for (CUstream s = active; s && sim_settings.host_ns; s = s->next_active)
        if (s->first->visible_real_ns > host_clock_ns && s->first->visible_real_ns < next_ns)
            next_ns = s->first->visible_real_ns;
    if (next_ns == UINT64_MAX)
        return false;
    host_clock_ns = next_ns;
    return true;
}

/* ---- completion ---- */

static bool can_finish(struct sim_op *op)
{
    if (!can_begin(op) || (op->visible_real_ns && real_ns() < op->visible_real_ns))
        return false;
    if (op->worker_done)
        return true;
    if (!sim_work_gate_open(&op->work))
        return false;
    if (op->with_worker && !op->handed) {
        op->handed = true;
        sim_worker_take(op);
    }
    return !op->with_worker;
}

/* A record inside a graph that has begun is passed if no closed gate is before it there. */
bool sim_graph_has_passed(CUevent e)
{
    CUstream s = e->mark.stream;
    struct sim_op *op = sim_reached(&e->mark) ? NULL : s->first;
    if (!op || s->done + 1 != e->mark.position || op->work.kind != SIM_WORK_GRAPH ||
        op->visible_real_ns || !can_begin(op))
        return false;
    const struct sim_plan *p = op->work.plan;
    for (size_t i = 0; i < p->count && sim_work_gate_open(&p->works[i]); i++)
        if (p->works[i].kind == SIM_WORK_RECORD && p->works[i].event == e)
            return true;
    return false;
}

static void finish_first(CUstream s)
{
    struct sim_op *op = s->first;
    s->first = op->next;
    if (!s->first)
        s->last = NULL;
    sim_work_perform(&op->work);
    sim_work_drop(&op->work);
    free(op->waits);
    free(op);
    s->done++;
}

static bool advance(CUstream s)
{
    bool moved = false;
    while (s->first && can_finish(s->first)) {
        finish_first(s);
        moved = true;
    }
    return moved;
}

static void remove_drained(void)
{
    for (CUstream *at = &active; *at;) {
        CUstream s = *at;
        if (s->first) {
            at = &s->next_active;
            continue;
        }
        *at = s->next_active;
        s->next_active = NULL;
        if (s->doomed)
            sim_stream_end(s);
    }
}

bool sim_progress(void)
{
    bool moved = false, again;
    if (!active)
        return false;
    do {
        again = false;
        for (CUstream s = active; s; s = s->next_active)
            again |= advance(s);
        moved |= again;
    } while (again);
    if (moved) {
        remove_drained();
        sim_wake();
    }
    return moved;
}

/* ---- submission ---- */

static bool needs_worker(const struct sim_work *w)
{
    return w->kind == SIM_WORK_HOST || w->kind == SIM_WORK_CALLBACK ||
           (w->kind == SIM_WORK_GRAPH && w->plan->has_host_work);
}

/* When it may be seen to be complete, by the program's clock; 0: at once. */
static uint64_t visible_at(CUstream s, int64_t took_ns)
{
    if (sim_settings.host_clock)
        return (uint64_t)s->tail_ns;
    if (sim_settings.real_time) {
        uint64_t now_ns = real_ns();
        s->due_real_ns = (s->due_real_ns > now_ns ? s->due_real_ns : now_ns) + (uint64_t)took_ns;
        return s->due_real_ns;
    }
    return sim_settings.latency_ns ? real_ns() + sim_settings.latency_ns : 0;
}

static void enqueue(CUstream s, const struct sim_op *op)
{
    struct sim_op *queued = malloc(sizeof(*queued));
    *queued = *op;
    if (op->with_worker)
        sim_worker_start();
    sim_wake();
    if (s->last) {
        s->last->next = queued;
    } else {
        s->first = queued;
        s->next_active = active;
        active = s;
    }
    s->last = queued;
}

static bool has_room(void *stream)
{
    CUstream s = stream;
    uint64_t pending = s->submitted - s->done;
    if (s->first && can_begin(s->first))
        pending--;
    return pending < DEPTH;
}

static void note_owner(CUstream s, struct sim_work *w)
{
    bool is_selftimed = w->kind == SIM_WORK_KERNEL && sim_is_selftimed(w->name);
    if (is_selftimed) {
        s->is_profilers |= !s->submitted;
        sim_selftimed_submit(w);
    }
    w->is_profilers = is_selftimed || s->is_profilers;
}

static void put(CUstream s, struct sim_work *w)
{
    if (s->first)
        sim_wait_until(has_room, s);
    note_owner(s, w);
    struct sim_op op = {.work = *w, .with_worker = needs_worker(w)};
    add_waits(s, &op);
    if (w->kind != SIM_WORK_RECORD)
        host_clock_ns += sim_settings.host_ns;
    op.visible_real_ns = visible_at(s, set_times(s, w));
    op.work.end_ns = w->end_ns = s->tail_ns;
    sim_truth_span(w, s->id, s->tail_ns);
    s->submitted++;
    if (s->first || op.wait_count || op.with_worker || op.visible_real_ns ||
        !sim_work_gate_open(w)) {
        enqueue(s, &op);
        sim_progress();
        return;
    }
    sim_work_perform(w);
    sim_work_drop(w);
    s->done++;
}

static CUgraphNodeType node_type(const struct sim_work *w)
{
    switch (w->kind) {
    case SIM_WORK_KERNEL:
        return CU_GRAPH_NODE_TYPE_KERNEL;
    case SIM_WORK_COPY:
        return CU_GRAPH_NODE_TYPE_MEMCPY;
    case SIM_WORK_SET:
        return CU_GRAPH_NODE_TYPE_MEMSET;
    case SIM_WORK_HOST:
    case SIM_WORK_CALLBACK:
        return CU_GRAPH_NODE_TYPE_HOST;
    case SIM_WORK_WAIT_VALUE:
    case SIM_WORK_WRITE_VALUE:
        return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case SIM_WORK_RECORD:
        return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case SIM_WORK_WAIT:
        return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    default:
        return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

/* What may not be captured. */
static bool uncapturable(const struct sim_work *w)
{
    return w->kind == SIM_WORK_PREFETCH;
}

CUresult sim_submit(CUstream s, struct sim_work *w)
{
    CUresult r = CUDA_SUCCESS;
    if (!s->context->active)
        r = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    else if (s->capture && uncapturable(w))
        r = sim_capture_forbid(s);
    else if (s->capture)
        r = sim_capture_add(s, w, node_type(w));
    else if (s->kind == SIM_STREAM_LEGACY)
        r = sim_legacy_use(s->context, true);
    if (r == CUDA_SUCCESS && !s->capture)
        put(s, w);
    else
        sim_work_drop(w);
    return r;
}

CUresult sim_submit_to(CUstream handle, struct sim_work *w)
{
    CUstream s;
    CUresult r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS)
        return sim_submit(s, w);
    sim_work_drop(w);
    return r;
}

CUresult sim_submit_and_wait(CUstream handle, struct sim_work *w)
{
    CUstream s = NULL;
    CUresult r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS && s->kind == SIM_STREAM_LEGACY)
        r = sim_legacy_use(s->context, true);
    if (r == CUDA_SUCCESS)
        r = sim_unsafe();
    if (r != CUDA_SUCCESS) {
        sim_work_drop(w);
        return r;
    }
    if (s->capture) {
        sim_work_drop(w);
        return sim_capture_forbid(s);
    }
    r = sim_submit(s, w);
    if (r == CUDA_SUCCESS)
        sim_wait_stream(s);
    return r;
}

/* ---- waiting ---- */

static bool mark_reached(void *mark)
{
    return sim_reached(mark);
}

void sim_wait_stream(CUstream s)
{
    struct sim_mark m = sim_mark_of(s);
    int64_t tail = s->tail_ns;
    sim_wait_until(mark_reached, &m);
    sim_self.host_ns = later(sim_self.host_ns, tail);
}

static bool context_idle(void *context)
{
    for (CUstream s = ((CUcontext)context)->streams; s; s = s->next)
        if (s->done < s->submitted)
            return false;
    return true;
}

void sim_wait_context(CUcontext c)
{
    sim_wait_until(context_idle, c);
    for (CUstream s = c->streams; s; s = s->next)
        sim_self.host_ns = later(sim_self.host_ns, s->tail_ns);
}

bool sim_idle(void)
{
    return !active;
}

uint64_t sim_pending(void)
{
    uint64_t n = 0;
    sim_progress();
    for (CUstream s = active; s; s = s->next_active)
        n += s->submitted - s->done;
    return n;
}
