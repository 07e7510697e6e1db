/* SPDX-License-Identifier: MIT */
#include "record/depth.h"

/*
 * A stream takes about 1,020 entries (an H200, driver 580) and then the launching thread waits; a
 * bracket has one record or two. Records may be made while fewer than ALLOWED are pending, and then
 * as many for each sign that the stream moves. The last sign before a gate is seen behind it, when
 * up to ALLOWED are there already; after that there is one marker in MARKER_EVERY launches, which
 * shows when the stream moves again. 45 + 45 + 2 * 820 / 64 = 116 records leave a program the 900
 * launches that it could queue behind a gate without us.
 */
#define ALLOWED 45
#define MARKER_EVERY 64
#define LOOK_EVERY 4 /* launches in a stream that does not move: asking takes a microsecond */

/* Brackets are complete in the order of their numbers. `newest` is not. */
static uint64_t oldest_incomplete(const struct ct_stream *s, uint64_t through, uint64_t newest)
{
    while (newest - through > 1) {
        uint64_t middle = through + (newest - through) / 2;
        if (ct_stream_is_through(s, middle))
            through = middle;
        else
            newest = middle;
    }
    return newest;
}

/*
 * What is watched is the next bracket to end: a sign comes within the time of one kernel, however
 * many are queued. Only what is incomplete now can be one: a gate may have closed since the others
 * ended. 0: all is through.
 */
static uint64_t next_to_end(const struct ct_stream *s, uint64_t gate, uint64_t newest)
{
    uint64_t done = atomic_load_explicit(&s->done, memory_order_acquire);
    uint64_t forgotten = newest - ct_min(newest, CT_STREAM_TRAIL);
    if (ct_stream_is_through(s, newest))
        return 0;
    return oldest_incomplete(s, ct_max(gate, ct_max(done, forgotten)), newest);
}

/* The ends of what is before a gate are no signs that it will open. */
static bool has_moved(struct ct_stream *s, uint64_t newest)
{
    uint64_t watched = atomic_load_explicit(&s->watched, memory_order_relaxed);
    uint64_t gate = atomic_load_explicit(&s->gate, memory_order_relaxed);
    CUstreamCaptureMode mode;
    if ((gate && gate == newest) || !ct_relaxed_enter(&mode))
        return false;
    if (gate && watched <= gate)
        watched = gate + 1;
    bool moved = !watched || ct_stream_is_through(s, watched);
    if (moved)
        atomic_store_explicit(&s->watched, next_to_end(s, gate, newest), memory_order_relaxed);
    ct_relaxed_leave(mode);
    return moved;
}

static bool allow(struct ct_stream *s, uint64_t records)
{
    atomic_store_explicit(&s->refused, 0, memory_order_relaxed);
    atomic_store_explicit(&s->allowed, records, memory_order_relaxed);
    return false;
}

bool ct_depth_is_reached(struct ct_stream *s)
{
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    uint64_t made = 2 * newest - atomic_load_explicit(&s->shared, memory_order_relaxed);
    if (ct_likely(made < atomic_load_explicit(&s->allowed, memory_order_relaxed)))
        return false;
    uint64_t pending = 2 * (newest - atomic_load_explicit(&s->done, memory_order_relaxed));
    if (pending < ALLOWED) {
        atomic_store_explicit(&s->watched, 0, memory_order_relaxed);
        return allow(s, made + ALLOWED - pending);
    }
    uint32_t refused = atomic_load_explicit(&s->refused, memory_order_relaxed);
    if (refused % LOOK_EVERY == 0 && has_moved(s, newest))
        return allow(s, made + ALLOWED);
    refused = atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed);
    return refused % MARKER_EVERY != MARKER_EVERY - 1;
}
