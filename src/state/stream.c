/* SPDX-License-Identifier: MIT */
#include "state/stream.h"

#include "base/count.h"
#include "containers/directory.h"
#include "containers/stable_array.h"
#include "state/capture.h"
#include "state/renewal.h"
#include "state/thread.h"
#include "system/clock.h"
#include "system/mem.h"
#include "system/spin.h"

/* See has_work_ahead(). An event record alone takes an H200 1.28 us, a bracket 2.9 us at least. */
#define FEWEST_AHEAD 3
#define MOST_AHEAD 31
#define SHORTEST_BRACKET_NS 1500
#define LOOK_SKIPS 8

/* A bracket that could go without a start record gets one when the last is so old. */
#define RECORDED_EVERY_NS 250000

/* Where the first entry has brackets left, so many more are looked at. */
#define GONE_LOOKS 8

struct queue {
    struct ct_stream *first, *last;
};

struct streams {
    struct ct_stream *stream;
    struct ct_stable_array room; /* for the entries */
    _Atomic uint32_t count;
    _Atomic uint32_t gone; /* entries of streams that went */
    uint64_t ids;
    struct ct_spin lock; /* for adding, and for the members below */
    struct queue gone_listed, gone_others;
    struct ct_directory index; /* the living streams' entries */
};

static CT_PROCESS_READ struct streams *all;
CT_READ_MOSTLY struct ct_stream *ct_streams;
CT_READ_MOSTLY _Atomic bool ct_unseen_work;

bool ct_streams_init(void)
{
    struct streams *s = ct_map(sizeof(*s));
    if (!s || !ct_directory_init(&s->index, NULL) ||
        !ct_stable_array_init(&s->room, sizeof(*s->stream), CT_STREAMS, CT_STREAMS_LISTED))
        return false;
    all = s;
    ct_streams = s->stream = s->room.at;
    ct_context_hooks.streams_are_idle = ct_streams_of_context_idle;
    return true;
}

uint32_t ct_streams_count(void)
{
    return all ? atomic_load_explicit(&all->count, memory_order_acquire) : 0;
}

static void put_gone_locked(struct ct_stream *s)
{
    struct queue *q =
        ct_stream_index(s) < CT_STREAMS_LISTED ? &all->gone_listed : &all->gone_others;
    s->next_gone = NULL;
    if (q->first)
        q->last->next_gone = s;
    else
        q->first = s;
    q->last = s;
    atomic_fetch_add_explicit(&all->gone, 1, memory_order_relaxed);
}

/* Streams that went first are those that the drain thread is through with first. */
static struct ct_stream *take_gone_locked(struct queue *q)
{
    struct ct_stream *s;
    for (unsigned looks = 0; looks <= GONE_LOOKS && (s = q->first); looks++) {
        q->first = s->next_gone;
        atomic_fetch_sub_explicit(&all->gone, 1, memory_order_relaxed);
        if (ct_stream_is_dealt_with(s))
            return s;
        put_gone_locked(s);
    }
    return NULL;
}

/*
 * Entries that the profile lists keep their figures as long as there are others. Of the others the
 * free ones come first: streams that are made and destroyed all the time touch no new memory.
 */
static struct ct_stream *free_entry_locked(void)
{
    uint32_t n = atomic_load_explicit(&all->count, memory_order_relaxed);
    struct ct_stream *s = take_gone_locked(&all->gone_others);
    if (!s && n < ct_stable_array_open(&all->room))
        s = &all->stream[n];
    return s ? s : take_gone_locked(&all->gone_listed);
}

/* Where there is none, a thread with an unknown stream does not take the lock. */
static bool has_free_entry(void)
{
    return ct_stable_array_reach(&all->room, ct_streams_count() + 1) ||
           atomic_load_explicit(&all->gone, memory_order_relaxed);
}

/* For a thread that got no entry: others may have taken all that had memory just now. */
static bool may_grow(void)
{
    return ct_streams_count() < ct_stable_array_most(&all->room);
}

static void start(struct ct_stream *s, CUstream handle, uint32_t context, uint32_t special)
{
    s->id = ++all->ids;
    s->context = context;
    s->device = ct_context(context)->device;
    atomic_fetch_add_explicit(&ct_context(context)->connections.streams, 1, memory_order_relaxed);
    s->special = special;
    s->flags = UINT32_MAX;
    s->priority = 0;
    atomic_store_explicit(&s->name, NULL, memory_order_relaxed);
    atomic_store_explicit(&s->context_name, NULL, memory_order_relaxed);
    atomic_store_explicit(&s->untimed, 0, memory_order_relaxed);
    atomic_store_explicit(&s->settled, 0, memory_order_relaxed);
    atomic_store_explicit(&s->waits, 0, memory_order_relaxed);
    atomic_store_explicit(&s->last_owner, 0, memory_order_relaxed);
    atomic_store_explicit(&s->clock_until, 0, memory_order_relaxed);
    atomic_store_explicit(&s->has_gate, false, memory_order_relaxed);
    s->alone_stop_ns = s->latest_stop_ns = s->placed_ns = 0;
    s->was_shared = false;
    s->polled_sequence = 0;
    s->last_engine = CT_ENGINE_NONE; /* the drain thread is through with the entry */
    atomic_store_explicit(&s->last_row, CT_ROW_NONE, memory_order_relaxed);
    atomic_store_explicit(&s->gone, false, memory_order_relaxed);
    /* A thread that still knows the entry as another stream's finds it whole, or not its own. */
    atomic_store_explicit(&s->handle, handle, memory_order_release);
}

static struct ct_stream *add_locked(CUstream handle, uint32_t context, uint32_t special)
{
    struct ct_stream *s = free_entry_locked();
    if (s)
        start(s, handle, context, special);
    if (s == all->stream + ct_streams_count())
        atomic_fetch_add_explicit(&all->count, 1, memory_order_release);
    return s;
}

static struct ct_stream *add(CUstream handle, uint32_t context, uint32_t special)
{
    struct ct_stream *s;
    do {
        if (!has_free_entry())
            return NULL;
        ct_spin_lock(&all->lock);
        s = add_locked(handle, context, special);
        ct_spin_unlock(&all->lock);
    } while (!s && may_grow());
    return s;
}

static uint64_t key_of(CUstream handle, CUcontext context)
{
    return handle == CU_STREAM_LEGACY ? (uint64_t)(uintptr_t)context | 1 : (uintptr_t)handle;
}

static struct ct_stream *lookup(uint64_t key)
{
    uint64_t index;
    if (!ct_directory_find(&all->index, key, &index))
        return NULL;
    struct ct_stream *s = &all->stream[index];
    return atomic_load_explicit(&s->gone, memory_order_acquire) ? NULL : s;
}

static bool is_of(const struct ct_stream *s, CUstream handle)
{
    return atomic_load_explicit(&s->handle, memory_order_acquire) == handle;
}

/* Whether a thread's last stream still has that handle; a default stream's is any context's. */
static bool is_known(const struct ct_stream *s, CUstream handle)
{
    return s && is_of(s, handle) && !atomic_load_explicit(&s->gone, memory_order_acquire);
}

struct ct_stream *ct_stream_find(CUstream handle)
{
    if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD || !handle || !all)
        return NULL;
    struct ct_stream *s = lookup((uintptr_t)handle);
    return s && is_of(s, handle) ? s : NULL;
}

static struct ct_stream *find_legacy(const struct ct_context *c)
{
    struct ct_stream *s = lookup(key_of(CU_STREAM_LEGACY, c->handle));
    return s && s->special == CT_STREAM_LEGACY && s->context == ct_context_index(c) ? s : NULL;
}

/* Several threads may meet a stream at once: the entry of the first one serves all. */
static struct ct_stream *add_keyed(CUstream handle, struct ct_context *c, uint32_t special)
{
    struct ct_stream *s;
    do {
        if (!has_free_entry())
            return NULL;
        ct_directory_ready(&all->index, key_of(handle, c->handle));
        ct_spin_lock(&all->lock);
        s = special == CT_STREAM_LEGACY ? find_legacy(c) : ct_stream_find(handle);
        if (!s && (s = add_locked(handle, ct_context_index(c), special)))
            ct_directory_put(&all->index, key_of(handle, c->handle), ct_stream_index(s));
        ct_spin_unlock(&all->lock);
    } while (!s && may_grow());
    return s;
}

static struct ct_stream *find_per_thread(const struct ct_thread *t, const struct ct_context *c)
{
    uint32_t context = ct_context_index(c);
    uint64_t id = t->defaults[context].id;
    struct ct_stream *s = &all->stream[t->defaults[context].stream];
    bool is_gone = atomic_load_explicit(&s->gone, memory_order_acquire);
    return id && !is_gone && s->id == id ? s : NULL;
}

struct ct_stream *ct_stream_known(const struct ct_thread *t, CUstream handle)
{
    if (handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD)
        return ct_stream_find(handle);
    struct ct_context *c = all ? ct_context_current() : NULL;
    if (!c)
        return NULL;
    return handle == CU_STREAM_LEGACY ? find_legacy(c) : find_per_thread(t, c);
}

static bool is_context(const struct ct_stream *s, CUcontext handle)
{
    const struct ct_context *c = ct_context(s->context);
    return c->handle == handle && ct_context_is_alive(c);
}

static struct ct_stream *legacy(struct ct_thread *t)
{
    CUcontext current = ct_context_current_handle();
    struct ct_stream *s = t->last_stream;
    if (ct_likely(is_known(s, CU_STREAM_LEGACY) && is_context(s, current)))
        return s;
    struct ct_context *c = current ? ct_context_get(current) : NULL;
    s = c ? find_legacy(c) : NULL;
    return t->last_stream = s || !c ? s : add_keyed(CU_STREAM_LEGACY, c, CT_STREAM_LEGACY);
}

static struct ct_stream *per_thread(struct ct_thread *t)
{
    struct ct_context *c = ct_context_current();
    if (!c)
        return NULL;
    struct ct_stream *s = find_per_thread(t, c);
    if (s)
        return s;
    uint32_t context = ct_context_index(c);
    s = add(CU_STREAM_PER_THREAD, context, CT_STREAM_PER_THREAD);
    if (s) {
        t->defaults[context].stream = ct_stream_index(s);
        t->defaults[context].id = s->id;
    }
    return s;
}

static struct ct_stream *ask(CUstream handle)
{
    CUcontext context = NULL;
    struct ct_context *c;
    if (CT_HAS(cuStreamGetCtx) && CT_REAL(cuStreamGetCtx)(handle, &context) == CUDA_SUCCESS)
        c = ct_context_get(context);
    else
        c = ct_context_current();
    struct ct_stream *s = c ? add_keyed(handle, c, CT_STREAM_CREATED) : NULL;
    unsigned flags;
    if (s && CT_HAS(cuStreamGetFlags) && CT_REAL(cuStreamGetFlags)(handle, &flags) == CUDA_SUCCESS)
        s->flags = flags;
    int priority;
    if (s && CT_HAS(cuStreamGetPriority) &&
        CT_REAL(cuStreamGetPriority)(handle, &priority) == CUDA_SUCCESS)
        s->priority = priority;
    return s;
}

static CT_COLD struct ct_stream *meet(CUstream handle)
{
    struct ct_stream *s = NULL;
    CUstreamCaptureMode mode;
    if (!has_free_entry() || !ct_relaxed_enter(&mode))
        return NULL;
    if (ct_capture_ask_enter(handle)) {
        s = ask(handle);
        ct_capture_ask_leave();
    }
    ct_relaxed_leave(mode);
    return s;
}

struct ct_stream *ct_stream_get(struct ct_thread *t, CUstream handle)
{
    if (handle == CU_STREAM_LEGACY)
        return legacy(t);
    if (handle == CU_STREAM_PER_THREAD)
        return per_thread(t);
    struct ct_stream *s = t->last_stream;
    if (ct_likely(is_known(s, handle)))
        return s;
    s = ct_stream_find(handle);
    return t->last_stream = ct_likely(s != NULL) ? s : meet(handle);
}

bool ct_stream_give_name(struct ct_thread *t, CUstream handle, const char *name)
{
    bool can_ask = all && CT_HAS(cuCtxGetCurrent);
    struct ct_stream *s = can_ask ? ct_stream_get(t, handle) : ct_stream_find(handle);
    if (s)
        atomic_store_explicit(&s->name, name, memory_order_release);
    return s != NULL;
}

void ct_stream_created(CUstream handle, uint32_t flags, int32_t priority)
{
    ct_stream_destroyed(handle);
    struct ct_context *c = ct_context_current();
    struct ct_stream *s = c ? add_keyed(handle, c, CT_STREAM_CREATED) : NULL;
    if (s) {
        s->flags = flags;
        s->priority = priority;
    }
}

void ct_stream_gone(uint32_t index)
{
    if (!all || atomic_exchange_explicit(&all->stream[index].gone, true, memory_order_acq_rel))
        return;
    atomic_fetch_sub_explicit(&ct_context(all->stream[index].context)->connections.streams, 1,
                              memory_order_relaxed);
    struct ct_stream *s = &all->stream[index];
    ct_spin_lock(&all->lock);
    ct_directory_remove(&all->index, key_of(s->handle, ct_context(s->context)->handle), index);
    put_gone_locked(s);
    ct_spin_unlock(&all->lock);
    ct_pass_renew();
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

void ct_work_is_unseen(void)
{
    atomic_store_explicit(&ct_unseen_work, true, memory_order_relaxed);
}

void ct_streams_break(void)
{
    for (uint32_t i = 0; i < ct_streams_count(); i++)
        ct_stream_break(&all->stream[i]);
}

/* The context's entry is another one's next: streams that the profile lists keep its name. */
static void keep_context_name(struct ct_stream *s)
{
    const char *name = atomic_load_explicit(&ct_context(s->context)->name, memory_order_acquire);
    if (ct_stream_index(s) < CT_STREAMS_LISTED && !s->context_name)
        atomic_store_explicit(&s->context_name, name ? name : "", memory_order_release);
}

void ct_streams_of_context_gone(uint32_t context)
{
    for (uint32_t i = 0; i < ct_streams_count(); i++) {
        if (all->stream[i].context != context)
            continue;
        keep_context_name(&all->stream[i]);
        ct_stream_gone(i);
    }
}

bool ct_streams_of_context_idle(uint32_t context)
{
    for (uint32_t i = 0; i < ct_streams_count(); i++)
        if (all->stream[i].context == context && !ct_stream_is_dealt_with(&all->stream[i]))
            return false;
    return true;
}

/* The number's upper part, as far as the trail has room for it beside the event. */
static uint32_t upper(uint64_t sequence)
{
    return (uint32_t)(sequence / CT_STREAM_TRAIL) << CT_EVENT_BITS;
}

/*
 * A thread that has taken the number may not have written the event yet. For an event in use again
 * the answer is worth nothing, but then the drain thread is through with the bracket.
 */
bool ct_stream_is_through(const struct ct_stream *s, uint64_t sequence)
{
    if (atomic_load_explicit(&s->done, memory_order_acquire) >= sequence)
        return true;
    uint32_t stop =
        atomic_load_explicit(&s->trail[sequence % CT_STREAM_TRAIL], memory_order_relaxed);
    uint32_t event = stop % ((uint32_t)1 << CT_EVENT_BITS);
    if (stop - event != upper(sequence))
        return sequence + CT_STREAM_TRAIL <=
               atomic_load_explicit(&s->sequence, memory_order_relaxed);
    return CT_REAL(cuEventQuery)(ct_event(ct_context(s->context), event)) == CUDA_SUCCESS ||
           atomic_load_explicit(&s->done, memory_order_acquire) >= sequence;
}

bool ct_stream_is_idle(const struct ct_stream *s)
{
    CUstreamCaptureMode mode;
    CUresult r = CUDA_ERROR_NOT_READY;
    if (!CT_HAS(cuStreamQuery) || !ct_relaxed_enter(&mode))
        return false;
    if (ct_capture_ask_enter(s->handle)) {
        r = CT_REAL(cuStreamQuery)(s->handle);
        ct_capture_ask_leave();
    }
    ct_relaxed_leave(mode);
    return r == CUDA_SUCCESS;
}

/* last_owner: the newest bracket's thread and sequence, and whether its end is not stamped. */
#define OWNER_POLLED ((uint64_t)1 << 63)

static uint64_t owner(const struct ct_thread *t, uint64_t sequence)
{
    return t->number << 40 | (sequence & (((uint64_t)1 << 40) - 1));
}

/* Whether the newest bracket is the thread's: then it is before the next one in the same ring. */
CT_INLINE bool is_last_of(struct ct_stream *s, const struct ct_thread *t, uint64_t polled)
{
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    return atomic_load_explicit(&s->last_owner, memory_order_relaxed) ==
               (owner(t, newest) | polled) &&
           !ct_stream_is_broken(s) &&
           atomic_load_explicit(&s->last_turn, memory_order_relaxed) == ct_stream_turn(s);
}

/*
 * The driver takes about a microsecond to tell of an incomplete event. So a look holds for as long
 * as the brackets ahead need at the very least, and where the stream was found to have little ahead
 * the next launches do not look.
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
    uint64_t ahead = pending <= MOST_AHEAD ? FEWEST_AHEAD : MOST_AHEAD;
    CUstreamCaptureMode mode;
    if (!ct_relaxed_enter(&mode))
        return false;
    bool is_through = ct_stream_is_through(s, newest - ahead);
    ct_relaxed_leave(mode);
    if (is_through) {
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

static bool is_busy(struct ct_stream *s, uint64_t *ticks)
{
    uint64_t newest = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    uint64_t pending = newest - atomic_load_explicit(&s->done, memory_order_acquire);
    if (pending <= FEWEST_AHEAD || !has_work_ahead(s, newest, pending, ticks))
        return false;
    /* Pairs with the drain thread, which stores `released` before it gives the event back. */
    return atomic_load(&s->released) < newest;
}

static bool has_clock(const struct ct_stream *s, uint64_t *ticks)
{
    *ticks = ct_ticks();
    return *ticks < atomic_load_explicit(&s->clock_until, memory_order_relaxed) &&
           *ticks < atomic_load_explicit(&s->start_due, memory_order_relaxed);
}

uint32_t ct_stream_spares_start(struct ct_stream *s, struct ct_thread *t, uint64_t *ticks)
{
    if (!is_last_of(s, t, 0))
        return 0;
    if (has_clock(s, ticks))
        return CT_OP_TOLD_START;
    return is_busy(s, ticks) ? CT_OP_SHARED_START : 0;
}

bool ct_stream_follows(struct ct_stream *s, struct ct_thread *t)
{
    return is_last_of(s, t, 0) || is_last_of(s, t, OWNER_POLLED);
}

void ct_stream_start_recorded(struct ct_stream *s, uint64_t ticks)
{
    atomic_store_explicit(&s->start_due, ticks + ct_ns_to_ticks(RECORDED_EVERY_NS),
                          memory_order_relaxed);
}

uint64_t ct_stream_recorded(struct ct_stream *s, struct ct_thread *t, uint32_t stop_event,
                            bool shared, bool polled)
{
    if (shared)
        ct_count_bump(&s->shared, 1);
    uint64_t n = atomic_fetch_add_explicit(&s->sequence, 1, memory_order_acq_rel) + 1;
    atomic_store_explicit(&s->trail[n % CT_STREAM_TRAIL], upper(n) | stop_event,
                          memory_order_relaxed);
    atomic_store_explicit(&s->last_breaks, ct_stream_breaks(s), memory_order_relaxed);
    atomic_store_explicit(&s->last_turn, ct_stream_turn(s), memory_order_relaxed);
    atomic_store_explicit(&s->last_owner, owner(t, n) | (polled ? OWNER_POLLED : 0),
                          memory_order_relaxed);
    return n;
}

void ct_stream_stops(struct ct_stream *s, enum ct_stop_kind kind, uint32_t from)
{
    struct ct_stop stop = {
        .kind = kind,
        .stream = from,
        .before = atomic_load_explicit(&s->sequence, memory_order_relaxed),
        .made_ticks = ct_ticks(),
    };
    ct_spin_lock(&s->gate_lock);
    s->stop[s->stops++ % CT_STREAM_STOPS] = stop;
    ct_spin_unlock(&s->gate_lock);
}

struct ct_stop ct_stream_stop_behind(struct ct_stream *s, uint64_t sequence)
{
    struct ct_stop found = {.kind = CT_STOP_NONE};
    ct_spin_lock(&s->gate_lock);
    for (uint64_t i = s->stops; i-- && i + CT_STREAM_STOPS >= s->stops;) {
        const struct ct_stop *stop = &s->stop[i % CT_STREAM_STOPS];
        if (stop->before == sequence) {
            found = *stop;
            break;
        }
    }
    ct_spin_unlock(&s->gate_lock);
    return found;
}
