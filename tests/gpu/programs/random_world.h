/* SPDX-License-Identifier: MIT */
/* The world of a random program: what is in it, what of it is picked, and what is sound as far as
 * we know. */
#ifndef RANDOM_WORLD_H
#define RANDOM_WORLD_H

#include "graph_dump.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    LEGACY,
    PER_THREAD,
    BLOCKING,
    OTHER_BLOCKING,
    APART,
    OTHER_APART,
    SPARE,
    TRAFFIC_STREAM,
    STREAMS
};
#define THREADS_IN_TURN 3
#define EVENTS 5
#define GRAPHS 4
#define EXECS 3
#define STEPS 128
#define CAREFUL                                                                                    \
    90 /* per cent of the steps of three programs in four are sound as far as we know              \
        */
#define TRAFFIC 20
#define PART 64u /* elements that a step has to itself: what they are depends on no order */

enum { COUNT_ONE, COUNT_TWO, BESIDE, SET, COPY, GRAPH, KINDS };
static const char *const kinds[KINDS] = {"count_one", "count_two", "beside",
                                         "set",       "copy",      "graph"};

static struct driver driver;
static CUfunction function[3];
static _Atomic unsigned long submitted[KINDS], captured[KINDS];
static atomic_ulong host_calls;

struct slot {
    CUgraph graph;
    int captured_by; /* stream that captures to it, or -1 */
    unsigned long generation;
};

struct exec {
    CUgraphExec exec;
    int source;
    unsigned long generation; /* of the source when it was instantiated */
};

struct world {
    uint64_t random;
    unsigned step, care;
    int self; /* the thread whose turn it is */
    CUstream stream[STREAMS];
    CUevent event[EVENTS], last_graph;
    struct slot slot[GRAPHS];
    struct exec exec[EXECS];
    unsigned long generations;
    /* What we believe. A capture is 1 and the place of the stream it began in. */
    int in[STREAMS][THREADS_IN_TURN], event_in[EVENTS], owner[STREAMS][THREADS_IN_TURN];
};

static unsigned pick(struct world *w, unsigned below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (unsigned)(w->random >> 33) % below;
}

/* ---- what is sound ---- */

/* Each thread has a per-thread stream of its own. */
static int *of(struct world *w, int table[STREAMS][THREADS_IN_TURN], int s)
{
    return &table[s][s == PER_THREAD ? w->self : 0];
}

static int origin(struct world *w, int s)
{
    return 1 + s * THREADS_IN_TURN + (s == PER_THREAD ? w->self : 0);
}

static bool blocking_captures(const struct world *w)
{
    for (int s = PER_THREAD; s <= OTHER_BLOCKING; s++)
        for (int t = 0; t < THREADS_IN_TURN; t++)
            if (w->in[s][t])
                return true;
    return false;
}

enum use { WORK, BEGIN, END };

static bool is_sound(struct world *w, int s, enum use use)
{
    if (use == BEGIN)
        return s != LEGACY && !*of(w, w->in, s);
    if (use == END)
        return *of(w, w->in, s) == origin(w, s) && *of(w, w->owner, s) == w->self + 1;
    return s != LEGACY || !blocking_captures(w);
}

static int pick_stream(struct world *w, enum use use)
{
    static const int often[] = {LEGACY,         PER_THREAD, BLOCKING, BLOCKING,
                                OTHER_BLOCKING, APART,      APART,    OTHER_APART};
    bool careful = pick(w, 100) < w->care, within = use == WORK && pick(w, 3);
    int s = LEGACY;

    for (int tries = 0; tries < 16; tries++) {
        s = often[pick(w, sizeof(often) / sizeof(often[0]))];
        if (!careful || (is_sound(w, s, use) && (!within || *of(w, w->in, s))))
            break;
    }
    return s;
}

/* A stream and an event that it may wait for. */
static int pick_wait(struct world *w, int *event)
{
    bool careful = pick(w, 100) < w->care;
    int s = LEGACY;

    for (int tries = 0; tries < 8; tries++) {
        s = pick_stream(w, WORK);
        *event = (int)pick(w, EVENTS);
        int there = *of(w, w->in, s), other = w->event_in[*event];
        if (!careful || there == other || (other && !there && s != LEGACY))
            break;
    }
    return s;
}

static void forget(struct world *w, int capture)
{
    for (int s = 0; s < STREAMS; s++)
        for (int t = 0; t < THREADS_IN_TURN; t++)
            if (w->in[s][t] == capture)
                w->in[s][t] = 0;
}

static CUresult say(const struct world *w, const char *what, int where, CUresult result)
{
    printf("%u thread %d %s %d = %d\n", w->step, w->self, what, where, (int)result);
    return result;
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

    return cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS ? status
                                                                : CU_STREAM_CAPTURE_STATUS_NONE;
}

static void count(int kind, CUresult result, bool capturing)
{
    if (result == CUDA_SUCCESS)
        atomic_fetch_add(capturing ? &captured[kind] : &submitted[kind], 1);
}

static CUdeviceptr part(const struct world *w)
{
    return driver.data + (w->step % STEPS) * PART * sizeof(int);
}

#endif
