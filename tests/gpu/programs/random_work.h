/* SPDX-License-Identifier: MIT */
/* Steps that work in streams, and that begin and end captures. */
#ifndef RANDOM_WORK_H
#define RANDOM_WORK_H

#include "random_world.h"

/* ---- work ---- */

static CUresult launch_at(int kind, CUdeviceptr data, CUstream stream)
{
    unsigned elements = PART;
    void *arguments[] = {&data, &elements};

    return cuLaunchKernel(function[kind], 1, 1, 1, PART, 1, 1, 0, stream, arguments, NULL);
}

static void op_launch(struct world *w)
{
    int s = pick_stream(w, WORK), kind = (int)pick(w, 2);
    bool capturing = status_of(w->stream[s]) == CU_STREAM_CAPTURE_STATUS_ACTIVE;

    count(kind, say(w, "launch", s, launch_at(kind, part(w), w->stream[s])), capturing);
}

/* It fails by itself, and no capture may suffer from it. */
static void op_bad_launch(struct world *w)
{
    static const int streams[] = {LEGACY, PER_THREAD, BLOCKING, APART};
    int s = streams[pick(w, 4)];

    say(w, "bad launch", s,
        cuLaunchKernel(function[COUNT_ONE], 0, 1, 1, PART, 1, 1, 0, w->stream[s], NULL, NULL));
}

static void op_set(struct world *w)
{
    int s = pick_stream(w, WORK);
    bool capturing = status_of(w->stream[s]) == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUresult r = cuMemsetD32Async(part(w), w->step + 1, PART, w->stream[s]);

    count(SET, say(w, "set", s, r), capturing);
}

static void op_copy(struct world *w)
{
    int s = pick_stream(w, WORK);
    bool capturing = status_of(w->stream[s]) == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUresult r = cuMemcpyDtoDAsync(part(w), driver.other, PART * sizeof(int), w->stream[s]);

    count(COPY, say(w, "copy", s, r), capturing);
}

static void CUDA_CB call_host(void *unused)
{
    (void)unused;
    atomic_fetch_add(&host_calls, 1);
}

static void op_host(struct world *w)
{
    int s = pick_stream(w, WORK);

    say(w, "host function", s, cuLaunchHostFunc(w->stream[s], call_host, NULL));
}

static void op_record(struct world *w)
{
    int s = pick_stream(w, WORK), e = (int)pick(w, EVENTS);

    if (say(w, "record", s, cuEventRecord(w->event[e], w->stream[s])) == CUDA_SUCCESS)
        w->event_in[e] = *of(w, w->in, s);
}

static void op_record_node(struct world *w)
{
    int s = pick_stream(w, WORK), e = (int)pick(w, EVENTS);

    say(w, "record outside", s,
        cuEventRecordWithFlags(w->event[e], w->stream[s], CU_EVENT_RECORD_EXTERNAL));
}

static void op_wait(struct world *w)
{
    int e, s = pick_wait(w, &e);

    if (say(w, "wait", s, cuStreamWaitEvent(w->stream[s], w->event[e], 0)) == CUDA_SUCCESS &&
        w->event_in[e])
        *of(w, w->in, s) = w->event_in[e];
}

static void op_fork(struct world *w)
{
    int s = pick_stream(w, WORK), t = pick_stream(w, BEGIN), e = (int)pick(w, EVENTS);

    if (say(w, "fork from", s, cuEventRecord(w->event[e], w->stream[s])) != CUDA_SUCCESS)
        return;
    w->event_in[e] = *of(w, w->in, s);
    if (say(w, "fork to", t, cuStreamWaitEvent(w->stream[t], w->event[e], 0)) == CUDA_SUCCESS &&
        w->event_in[e])
        *of(w, w->in, t) = w->event_in[e];
}

/* ---- captures ---- */

static CUstreamCaptureMode pick_mode(struct world *w)
{
    return (CUstreamCaptureMode)pick(w, 3);
}

static void begun(struct world *w, int s)
{
    *of(w, w->owner, s) = w->self + 1;
    *of(w, w->in, s) = origin(w, s);
}

static void op_begin(struct world *w)
{
    int s = pick_stream(w, BEGIN);

    if (say(w, "begin", s, cuStreamBeginCapture(w->stream[s], pick_mode(w))) == CUDA_SUCCESS)
        begun(w, s);
}

/* A graph that is captured to is left alone; when its capture fails, for good. */
static void let_go(struct world *w, struct slot *slot)
{
    if (slot->captured_by < 0 ||
        status_of(w->stream[slot->captured_by]) != CU_STREAM_CAPTURE_STATUS_NONE)
        return;
    slot->captured_by = -1;
    slot->graph = NULL;
    slot->generation = ++w->generations;
}

static struct slot *pick_slot(struct world *w)
{
    struct slot *slot = &w->slot[pick(w, GRAPHS)];

    let_go(w, slot);
    return slot->captured_by < 0 ? slot : NULL;
}

static void put(struct world *w, struct slot *slot, CUgraph graph)
{
    if (slot->graph)
        CHECK(cuGraphDestroy(slot->graph));
    slot->graph = graph;
    slot->generation = ++w->generations;
}

static void op_begin_to_graph(struct world *w)
{
    struct slot *slot = pick_slot(w);
    int s = BLOCKING + (int)pick(w, 4);
    CUgraphNode node = NULL;
    size_t nodes = 1;

    if (!slot || !slot->graph)
        return;
    CHECK(cuGraphGetNodes(slot->graph, &node, &nodes));
    if (say(w, "begin to a graph", s,
            cuStreamBeginCaptureToGraph(w->stream[s], slot->graph, nodes ? &node : NULL, NULL,
                                        nodes ? 1 : 0, pick_mode(w))) != CUDA_SUCCESS)
        return;
    begun(w, s);
    slot->captured_by = s;
}

/* What a careful program does before the end; not where another thread's stream is in it. */
static void join(struct world *w, int s)
{
    for (int t = PER_THREAD; t < SPARE; t++)
        if (t != s && *of(w, w->in, t) == origin(w, s)) {
            say(w, "join from", t, cuEventRecord(w->event[0], w->stream[t]));
            say(w, "join to", s, cuStreamWaitEvent(w->stream[s], w->event[0], 0));
            w->event_in[0] = origin(w, s);
        }
}

/* A graph that was captured to is in its slot already. */
static void end_capture(struct world *w, int s)
{
    CUgraph graph = NULL;
    struct slot *free = &w->slot[0];
    CUresult r;

    if (pick(w, 100) < w->care)
        join(w, s);
    r = say(w, "end", s, cuStreamEndCapture(w->stream[s], &graph));
    if (*of(w, w->in, s) && r != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        forget(w, *of(w, w->in, s));
    if (r != CUDA_SUCCESS)
        return;
    graph_print("  captured", graph);
    for (int i = 0; i < GRAPHS; i++) {
        if (w->slot[i].graph == graph) {
            w->slot[i].captured_by = -1;
            return;
        }
        if (w->slot[i].captured_by < 0 && w->slot[i].generation < free->generation)
            free = &w->slot[i];
    }
    if (free->captured_by < 0)
        put(w, free, graph);
    else
        CHECK(cuGraphDestroy(graph));
}

static void op_end(struct world *w)
{
    end_capture(w, pick_stream(w, END));
}

static void op_mode(struct world *w)
{
    CUstreamCaptureMode mode = pick_mode(w);

    say(w, "mode", (int)mode, cuThreadExchangeStreamCaptureMode(&mode));
    printf("  was %d\n", (int)mode);
}

static void op_ask(struct world *w)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *from;
    const CUgraphEdgeData *edges;
    CUgraph graph;
    cuuint64_t id;
    size_t nodes = 0;
    int s = pick_stream(w, WORK);

    if (say(w, "ask", s,
            cuStreamGetCaptureInfo(w->stream[s], &status, &id, &graph, &from, &edges, &nodes)) ==
        CUDA_SUCCESS)
        printf("  status %d, %zu leaves\n", (int)status,
               status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? nodes : 0);
}

#endif
