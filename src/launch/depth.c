/* SPDX-License-Identifier: MIT */
#include "launch/depth.h"

/*
 * A stream takes about 1,020 entries (an H200, driver 580) and then the launching thread waits; a
 * bracket has one record or two. Records may be made while fewer than ALLOWED are pending, and then
 * as many for each sign that the stream moves. The last sign before a kernel that is a gate is seen
 * when up to ALLOWED records are behind the gate already; after that one marker in MARKER_EVERY
 * launches shows when the stream moves again. 45 + 45 + 2 * 820 / 64 = 116 records leave a program
 * the 900 launches that it could queue behind a gate without us.
 *
 * The first of the known gates may be the one that stays closed, whatever moves in front of it:
 * ALLOWED records may be behind it. When it was open, the last gate takes its place, and each gate
 * in between may have up to ALLOWED records behind it.
 */
#define ALLOWED 45
#define MARKER_EVERY 64
#define LOOK_EVERY 4 /* launches in a stream that does not move: to ask takes a microsecond */

/* Brackets complete in the order of their numbers; `through` is complete, `newest` is not. */
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
 * The next bracket to end is watched: it ends within the time of one kernel, however many are
 * queued. A bracket that has ended is no sign: a gate may have closed since. 0: all have ended.
 */
static uint64_t next_to_end(const struct ct_stream *s, uint64_t newest)
{
    uint64_t done = atomic_load_explicit(&s->done, memory_order_acquire);
    uint64_t forgotten = newest - ct_min(newest, CT_STREAM_TRAIL);
    if (ct_stream_is_through(s, newest))
        return 0;
    return oldest_incomplete(s, ct_max(done, forgotten), newest);
}

static uint64_t records_made(const struct ct_stream *s, uint64_t newest)
{
    return 2 * newest - atomic_load_explicit(&s->shared, memory_order_relaxed);
}

/* A gate is open when a bracket behind it is through. */
static void drop_open_gates(struct ct_stream *s, uint64_t through)
{
    if (ct_likely(!atomic_load_explicit(&s->has_gate, memory_order_relaxed)))
        return;
    ct_spin_lock(&s->gate_lock);
    if (s->first_gate.before < through) {
        s->first_gate = s->last_gate;
        atomic_store_explicit(&s->has_gate, s->last_gate.before >= through, memory_order_relaxed);
    }
    ct_spin_unlock(&s->gate_lock);
}

void ct_depth_gate(struct ct_stream *s)
{
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    ct_spin_lock(&s->gate_lock);
    s->last_gate = (struct ct_gate){newest, records_made(s, newest)};
    if (!atomic_load_explicit(&s->has_gate, memory_order_relaxed))
        s->first_gate = s->last_gate;
    atomic_store_explicit(&s->has_gate, true, memory_order_relaxed);
    ct_spin_unlock(&s->gate_lock);
}

bool ct_depth_is_gated(struct ct_stream *s)
{
    drop_open_gates(s, atomic_load_explicit(&s->done, memory_order_relaxed));
    return atomic_load_explicit(&s->has_gate, memory_order_relaxed);
}

/* A stream without a gate gets one that is out of reach. */
static struct ct_gate first_gate(struct ct_stream *s)
{
    struct ct_gate g = {.made = UINT64_MAX / 2};
    if (ct_likely(!atomic_load_explicit(&s->has_gate, memory_order_relaxed)))
        return g;
    ct_spin_lock(&s->gate_lock);
    if (atomic_load_explicit(&s->has_gate, memory_order_relaxed))
        g = s->first_gate;
    ct_spin_unlock(&s->gate_lock);
    return g;
}

/* Where a gate forbids more records, only the end of the bracket behind it is a sign. */
static bool has_moved(struct ct_stream *s, uint64_t newest, uint64_t made)
{
    struct ct_gate gate = first_gate(s);
    uint64_t sign = made < gate.made + ALLOWED
                        ? atomic_load_explicit(&s->watched, memory_order_relaxed)
                        : gate.before + 1;
    CUstreamCaptureMode mode;
    if (!ct_relaxed_enter(&mode))
        return false;
    bool moved = !sign || ct_stream_is_through(s, sign);
    if (moved) {
        uint64_t next = next_to_end(s, newest);
        atomic_store_explicit(&s->watched, next, memory_order_relaxed);
        drop_open_gates(s, next ? next - 1 : newest);
    }
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
    uint64_t made = records_made(s, newest);
    if (ct_likely(made < atomic_load_explicit(&s->allowed, memory_order_relaxed)))
        return false;
    uint64_t pending = 2 * (newest - atomic_load_explicit(&s->done, memory_order_relaxed));
    if (pending < ALLOWED) {
        atomic_store_explicit(&s->watched, 0, memory_order_relaxed);
        return allow(s, made + ALLOWED - pending);
    }
    uint32_t refused = atomic_load_explicit(&s->refused, memory_order_relaxed);
    if (refused % LOOK_EVERY == 0 && has_moved(s, newest, made)) {
        uint64_t most = ct_min(made, first_gate(s).made) + ALLOWED;
        if (most > made)
            return allow(s, most);
    }
    refused = atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed);
    return refused % MARKER_EVERY != MARKER_EVERY - 1;
}
