/* SPDX-License-Identifier: MIT */
#include "record/stream.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/spin.h"
#include "base/table.h"
#include "record/row.h"
#include "record/thread.h"

/*
 * A stream takes about 1,020 entries (an H200, driver 580) and then the launching thread waits; a
 * bracket has one record or two. Pending in a stream that does not move: ALLOWED records, once more
 * as many when a sign was stale, then every MARKER_EVERYth bracket, so that it shows when it moves
 * again. 45 + 45 + 2 * 820 / 64 = 116 records leave a program the 900 launches that it could queue
 * behind a gate without us. Each sign that the stream moves allows as many again.
 */
#define ALLOWED 45
#define MARKER_EVERY 64

/* See has_work_ahead(). An event record alone takes an H200 1.28 us, a bracket 2.9 us at least. */
#define FEWEST_AHEAD 3
#define SHORTEST_BRACKET_NS 1500
#define LOOK_SKIPS 8

/* Of the brackets that could go without a start record, one in so many gets it. */
#define RECORDED_EVERY 8

struct streams {
    struct ct_stream stream[CT_STREAMS];
    _Atomic uint32_t count;
    uint64_t ids;
    struct ct_spin lock; /* for adding */
    struct ct_table index;
};

static CT_READ_MOSTLY struct streams *all;
CT_READ_MOSTLY struct ct_stream *ct_streams;

bool ct_streams_init(void)
{
    struct streams *s = ct_map(sizeof(*s));
    if (!s || !ct_table_init(&s->index, 17))
        return false;
    all = s;
    ct_streams = s->stream;
    return true;
}

void ct_streams_forget(void)
{
    all = NULL;
}

uint32_t ct_streams_count(void)
{
    return all ? atomic_load_explicit(&all->count, memory_order_acquire) : 0;
}

static bool is_idle(struct ct_stream *s)
{
    return !ct_stream_has_open(s) && atomic_load_explicit(&s->done, memory_order_acquire) ==
                                         atomic_load_explicit(&s->sequence, memory_order_acquire);
}

static struct ct_stream *free_entry_locked(void)
{
    uint32_t n = atomic_load_explicit(&all->count, memory_order_relaxed);
    if (n < CT_STREAMS)
        return &all->stream[n];
    for (struct ct_stream *s = all->stream; s < all->stream + CT_STREAMS; s++)
        if (atomic_load_explicit(&s->gone, memory_order_acquire) && is_idle(s))
            return s;
    return NULL;
}

static void start(struct ct_stream *s, CUstream handle, uint32_t context, uint32_t special)
{
    s->handle = handle;
    s->id = ++all->ids;
    s->context = context;
    s->device = ct_context(context)->device;
    s->special = special;
    s->flags = UINT32_MAX;
    s->priority = 0;
    atomic_store_explicit(&s->untimed, 0, memory_order_relaxed);
    atomic_store_explicit(&s->settled, 0, memory_order_relaxed);
    atomic_store_explicit(&s->waits, 0, memory_order_relaxed);
    atomic_store_explicit(&s->last_owner, 0, memory_order_relaxed);
    atomic_store_explicit(&s->clock_until, 0, memory_order_relaxed);
    s->last_work = CT_CLASS_NONE; /* the drain thread is through with the entry */
    atomic_store_explicit(&s->last_row, CT_ROW_NONE, memory_order_relaxed);
    atomic_store_explicit(&s->gone, false, memory_order_release);
}

static struct ct_stream *add(CUstream handle, uint32_t context, uint32_t special)
{
    ct_spin_lock(&all->lock);
    struct ct_stream *s = free_entry_locked();
    if (s)
        start(s, handle, context, special);
    if (s == &all->stream[ct_streams_count()])
        atomic_fetch_add_explicit(&all->count, 1, memory_order_release);
    ct_spin_unlock(&all->lock);
    return s;
}

static uint64_t key_of(CUstream handle, CUcontext context)
{
    return handle == CU_STREAM_LEGACY ? (uint64_t)(uintptr_t)context | 1 : (uintptr_t)handle;
}

static struct ct_stream *lookup(uint64_t key)
{
    uint64_t index;
    if (!ct_table_find(&all->index, key, &index))
        return NULL;
    struct ct_stream *s = &all->stream[index];
    return atomic_load_explicit(&s->gone, memory_order_acquire) ? NULL : s;
}

struct ct_stream *ct_stream_find(CUstream handle)
{
    if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD || !handle || !all)
        return NULL;
    struct ct_stream *s = lookup((uintptr_t)handle);
    return s && s->handle == handle ? s : NULL;
}

static struct ct_context *current_context(void)
{
    CUcontext current = NULL;
    if (CT_REAL(cuCtxGetCurrent)(&current) != CUDA_SUCCESS || !current)
        return NULL;
    return ct_context_get(current);
}

/* Several threads may meet a stream at once: the entry that the table ends up with serves all. */
static struct ct_stream *add_keyed(CUstream handle, struct ct_context *c, uint32_t special)
{
    struct ct_stream *s = add(handle, ct_context_index(c), special);
    if (s)
        ct_table_put(&all->index, key_of(handle, c->handle), ct_stream_index(s));
    return s;
}

static struct ct_stream *legacy(void)
{
    struct ct_context *c = current_context();
    if (!c)
        return NULL;
    struct ct_stream *s = lookup(key_of(CU_STREAM_LEGACY, c->handle));
    if (s && s->special == CT_STREAM_LEGACY && s->context == ct_context_index(c))
        return s;
    return add_keyed(CU_STREAM_LEGACY, c, CT_STREAM_LEGACY);
}

static struct ct_stream *per_thread(struct ct_thread *t)
{
    struct ct_context *c = current_context();
    if (!c)
        return NULL;
    uint32_t context = ct_context_index(c);
    unsigned slot = context % CT_THREAD_DEFAULTS;
    if (t->defaults[slot].context == context + 1) {
        struct ct_stream *s = &all->stream[t->defaults[slot].stream];
        if (!atomic_load_explicit(&s->gone, memory_order_acquire) && s->id == t->defaults[slot].id)
            return s;
    }
    struct ct_stream *s = add(CU_STREAM_PER_THREAD, context, CT_STREAM_PER_THREAD);
    if (s) {
        t->defaults[slot].context = context + 1;
        t->defaults[slot].stream = ct_stream_index(s);
        t->defaults[slot].id = s->id;
    }
    return s;
}

static CT_COLD struct ct_stream *meet(CUstream handle)
{
    CUcontext context = NULL;
    struct ct_context *c;
    CUstreamCaptureMode mode = ct_relaxed_enter();
    if (CT_HAS(cuStreamGetCtx) && CT_REAL(cuStreamGetCtx)(handle, &context) == CUDA_SUCCESS)
        c = ct_context_get(context);
    else
        c = current_context();
    struct ct_stream *s = c ? add_keyed(handle, c, CT_STREAM_CREATED) : NULL;
    unsigned flags;
    if (s && CT_HAS(cuStreamGetFlags) && CT_REAL(cuStreamGetFlags)(handle, &flags) == CUDA_SUCCESS)
        s->flags = flags;
    int priority;
    if (s && CT_HAS(cuStreamGetPriority) &&
        CT_REAL(cuStreamGetPriority)(handle, &priority) == CUDA_SUCCESS)
        s->priority = priority;
    ct_relaxed_leave(mode);
    return s;
}

struct ct_stream *ct_stream_get(struct ct_thread *t, CUstream handle)
{
    if (handle == CU_STREAM_LEGACY)
        return legacy();
    if (handle == CU_STREAM_PER_THREAD)
        return per_thread(t);
    struct ct_stream *s = t->last_stream;
    if (ct_likely(s && s->handle == handle &&
                  !atomic_load_explicit(&s->gone, memory_order_acquire)))
        return s;
    s = ct_stream_find(handle);
    return t->last_stream = ct_likely(s != NULL) ? s : meet(handle);
}

void ct_stream_created(CUstream handle, uint32_t flags, int32_t priority)
{
    ct_stream_destroyed(handle);
    struct ct_context *c = current_context();
    struct ct_stream *s = c ? add_keyed(handle, c, CT_STREAM_CREATED) : NULL;
    if (s) {
        s->flags = flags;
        s->priority = priority;
    }
}

void ct_stream_gone(uint32_t index)
{
    if (all)
        atomic_store_explicit(&all->stream[index].gone, true, memory_order_release);
}

void ct_stream_destroyed(CUstream handle)
{
    struct ct_stream *s = ct_stream_find(handle);
    if (s)
        ct_stream_gone(ct_stream_index(s));
}

void ct_stream_break(struct ct_stream *s)
{
    atomic_fetch_add_explicit(&s->breaks, 1, memory_order_relaxed);
}

void ct_streams_break(void)
{
    for (uint32_t i = 0; i < ct_streams_count(); i++)
        ct_stream_break(&all->stream[i]);
}

void ct_streams_of_context_gone(uint32_t context)
{
    for (uint32_t i = 0; i < ct_streams_count(); i++)
        if (all->stream[i].context == context)
            ct_stream_gone(i);
}

bool ct_streams_of_context_idle(uint32_t context)
{
    for (uint32_t i = 0; i < ct_streams_count(); i++)
        if (all->stream[i].context == context && !is_idle(&all->stream[i]))
            return false;
    return true;
}

/* Whether a bracket is through. Its event may be in use again by the time it is asked: */
/* then the drain thread has let it go, which the second look shows. */
static bool is_through(struct ct_stream *s, uint64_t sequence, uint32_t event)
{
    if (atomic_load_explicit(&s->done, memory_order_acquire) >= sequence)
        return true;
    CUstreamCaptureMode mode = ct_relaxed_enter();
    CUresult r = CT_REAL(cuEventQuery)(ct_event(ct_context(s->context), event));
    ct_relaxed_leave(mode);
    return r == CUDA_SUCCESS || atomic_load_explicit(&s->done, memory_order_acquire) >= sequence;
}

static uint64_t pack(uint64_t sequence, uint32_t event)
{
    return sequence << 32 | event;
}

/* Sequences are compared modulo 2^32, as far as they are packed. */
static bool is_packed_through(struct ct_stream *s, uint64_t packed)
{
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    uint64_t sequence = newest - (uint32_t)((uint32_t)newest - (uint32_t)(packed >> 32));
    return !packed || is_through(s, sequence, (uint32_t)packed);
}

/*
 * From here on the end of the oldest bracket is a sign that the stream moves, or of the newest one
 * where the drain thread is behind with the oldest. Only what is incomplete now can be a sign: a
 * gate may have closed since the others ended. False: there is no such thing, all is through.
 */
static bool watch(struct ct_stream *s, uint64_t newest)
{
    uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire);
    uint64_t target = head;
    if (is_packed_through(s, target))
        target = pack(newest, s->trail[newest % CT_STREAM_TRAIL]);
    if (is_packed_through(s, target))
        target = 0;
    atomic_store_explicit(&s->watched, target, memory_order_relaxed);
    atomic_store_explicit(&s->watch_head, head, memory_order_relaxed);
    return target != 0;
}

/* A head that the drain thread has found incomplete since the watch was set is one to aim at. */
static bool has_head_moved(struct ct_stream *s)
{
    uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire);
    if (!head || head == atomic_load_explicit(&s->watch_head, memory_order_relaxed))
        return false;
    atomic_store_explicit(&s->watch_head, head, memory_order_relaxed);
    if (is_packed_through(s, head))
        return true;
    atomic_store_explicit(&s->watched, head, memory_order_relaxed);
    return false;
}

static bool has_moved(struct ct_stream *s, uint64_t newest)
{
    uint64_t watched = atomic_load_explicit(&s->watched, memory_order_relaxed);
    if (!watched)
        return !watch(s, newest);
    if (!is_packed_through(s, watched) && !has_head_moved(s))
        return false;
    watch(s, newest);
    return true;
}

static uint64_t records(struct ct_stream *s, uint64_t brackets)
{
    return 2 * brackets - atomic_load_explicit(&s->shared, memory_order_relaxed);
}

bool ct_stream_is_deep(struct ct_stream *s)
{
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    uint64_t made = records(s, newest);
    if (ct_likely(made < atomic_load_explicit(&s->allowed, memory_order_relaxed)))
        return false;
    uint64_t pending = 2 * (newest - atomic_load_explicit(&s->done, memory_order_relaxed));
    if (pending < ALLOWED) {
        atomic_store_explicit(&s->watched, 0, memory_order_relaxed);
        atomic_store_explicit(&s->allowed, made + ALLOWED - pending, memory_order_relaxed);
        return false;
    }
    if (has_moved(s, newest)) {
        atomic_store_explicit(&s->allowed, made + ALLOWED, memory_order_relaxed);
        return false;
    }
    return atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed) % MARKER_EVERY != 0;
}

bool ct_stream_is_idle(const struct ct_stream *s)
{
    if (!CT_HAS(cuStreamQuery))
        return false;
    CUstreamCaptureMode mode = ct_relaxed_enter();
    CUresult r = CT_REAL(cuStreamQuery)(s->handle);
    ct_relaxed_leave(mode);
    return r == CUDA_SUCCESS;
}

static uint64_t owner(const struct ct_thread *t, uint64_t sequence)
{
    return t->number << 40 | (sequence & (((uint64_t)1 << 40) - 1));
}

/* Whether the newest bracket is the thread's: then it is before the next one in the same ring. */
static bool is_last_of(struct ct_stream *s, const struct ct_thread *t)
{
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    return atomic_load_explicit(&s->last_owner, memory_order_relaxed) == owner(t, newest) &&
           !ct_stream_is_broken(s) &&
           atomic_load_explicit(&s->last_turn, memory_order_relaxed) == ct_stream_turn(s);
}

/*
 * Asking an event that is not complete takes the driver about a microsecond. So a look holds for as
 * long as the brackets ahead need at the very least, and where the stream was found to have little
 * ahead the next launches do not look.
 */
static bool has_work_ahead(struct ct_stream *s, uint64_t newest, uint64_t pending, uint64_t *ticks)
{
    uint32_t skips = atomic_load_explicit(&s->look_skips, memory_order_relaxed);
    if (skips) {
        atomic_store_explicit(&s->look_skips, skips - 1, memory_order_relaxed);
        return false;
    }
    uint64_t now = *ticks = ct_ticks();
    if (now < atomic_load_explicit(&s->busy_until, memory_order_relaxed))
        return true;
    uint64_t ahead = pending < CT_STREAM_TRAIL ? FEWEST_AHEAD : CT_STREAM_TRAIL - 1;
    uint64_t older = newest - ahead;
    if (is_through(s, older, s->trail[older % CT_STREAM_TRAIL])) {
        atomic_store_explicit(&s->look_skips, LOOK_SKIPS, memory_order_relaxed);
        return false;
    }
    atomic_store_explicit(&s->busy_until, now + ct_ns_to_ticks(ahead * SHORTEST_BRACKET_NS),
                          memory_order_relaxed);
    return true;
}

/* Written only when the turn changes: all launching threads read it. */
uint32_t ct_stream_change_turn(struct ct_stream *s, uint32_t turns)
{
    struct ct_context *c = ct_context(s->context);
    atomic_compare_exchange_strong_explicit(&c->turns, &turns, turns + 1, memory_order_relaxed,
                                            memory_order_relaxed);
    return ct_stream_turn(s);
}

bool ct_stream_is_busy(struct ct_stream *s, struct ct_thread *t, uint64_t *ticks)
{
    if (!is_last_of(s, t))
        return false;
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    uint64_t pending = newest - atomic_load_explicit(&s->done, memory_order_acquire);
    if (pending <= FEWEST_AHEAD || !has_work_ahead(s, newest, pending, ticks))
        return false;
    /* Pairs with the drain thread, which says so before it gives the event back. */
    return atomic_load(&s->released) < newest;
}

bool ct_stream_has_clock(struct ct_stream *s, struct ct_thread *t, uint64_t opened,
                         uint64_t *ticks)
{
    if (opened % RECORDED_EVERY == 0 || !is_last_of(s, t))
        return false;
    *ticks = ct_ticks();
    return *ticks < atomic_load_explicit(&s->clock_until, memory_order_relaxed);
}

uint64_t ct_stream_recorded(struct ct_stream *s, struct ct_thread *t, uint32_t stop_event,
                            bool shared)
{
    if (shared)
        ct_count_bump(&s->shared, 1);
    uint64_t n = atomic_fetch_add_explicit(&s->sequence, 1, memory_order_acq_rel) + 1;
    atomic_store_explicit(&s->trail[n % CT_STREAM_TRAIL], stop_event, memory_order_relaxed);
    atomic_store_explicit(&s->last_breaks, ct_stream_breaks(s), memory_order_relaxed);
    atomic_store_explicit(&s->last_turn, ct_stream_turn(s), memory_order_relaxed);
    atomic_store_explicit(&s->last_owner, owner(t, n), memory_order_relaxed);
    return n;
}
