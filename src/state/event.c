/* SPDX-License-Identifier: MIT */
#include "state/event.h"

#include "state/context.h"
#include "system/mem.h"
#include "time/op.h"

/*
 * Events made at a time when the pool is dry: they share the cost of the exchange of modes. Fewer
 * where few are left to be made: thousands of threads may begin before any gives events back.
 */
#define BATCH 32
#define BATCHES_LEFT 1024

/* Least number of packs of a pool: as many threads can have one in hand. */
#define PACKS_LEAST 128

static uint32_t limit_of(enum ct_event_kind kind, uint32_t limit)
{
    return kind == CT_EVENT_PLAIN ? (uint32_t)ct_min(limit, CT_PLAIN_MOST) : limit;
}

static size_t event_bytes(uint32_t limit)
{
    return sizeof(CUevent) * (limit + limit_of(CT_EVENT_PLAIN, limit));
}

static size_t pack_bytes(enum ct_event_kind kind, uint32_t limit)
{
    return sizeof(struct ct_event_pack) * limit_of(kind, limit);
}

bool ct_events_map(struct ct_events *memory, uint32_t limit)
{
    bool ok = (memory->event = ct_map(event_bytes(limit))) != NULL;
    for (unsigned kind = 0; kind < CT_EVENT_KINDS && ok; kind++) {
        struct ct_event_pool *pool = &memory->pool[kind];
        uint32_t packs = limit_of(kind, limit);
        ok = ct_stable_array_init(&pool->room, sizeof(*pool->pack), packs, packs);
        pool->pack = pool->room.at;
    }
    if (!ok)
        ct_events_unmap(memory, limit);
    return ok;
}

void ct_events_unmap(struct ct_events *memory, uint32_t limit)
{
    ct_unmap(memory->event, event_bytes(limit));
    memory->event = NULL;
    for (unsigned kind = 0; kind < CT_EVENT_KINDS; kind++) {
        ct_unmap(memory->pool[kind].pack, pack_bytes(kind, limit));
        memory->pool[kind].pack = NULL;
    }
}

static void begin_pool(struct ct_event_pool *pool, uint32_t limit)
{
    pool->limit = limit;
    pool->pack_events = (uint32_t)ct_min(CT_PACK_EVENTS, ct_max(1, limit / PACKS_LEAST));
    atomic_store_explicit(&pool->made, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->packs, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->empty, 0, memory_order_relaxed);
}

static void take_over(struct ct_events *events, struct ct_events *memory)
{
    events->event = memory->event;
    memory->event = NULL;
    for (unsigned kind = 0; kind < CT_EVENT_KINDS; kind++) {
        events->pool[kind].pack = memory->pool[kind].pack;
        events->pool[kind].room = memory->pool[kind].room;
        memory->pool[kind].pack = NULL;
    }
}

void ct_events_begin(struct ct_events *events, struct ct_events *memory, uint32_t limit)
{
    if (!events->event)
        take_over(events, memory);
    events->generation++;
    events->pool[CT_EVENT_TIMED].event = events->event;
    events->pool[CT_EVENT_PLAIN].event = events->event + limit;
    for (unsigned kind = 0; kind < CT_EVENT_KINDS; kind++)
        begin_pool(&events->pool[kind], limit_of(kind, limit));
}

bool ct_events_init(struct ct_events *events, uint32_t limit)
{
    struct ct_events memory = {.event = NULL};
    if (!events->event && !ct_events_map(&memory, limit))
        return false;
    ct_events_begin(events, &memory, limit);
    return true;
}

/* The tag changes with every change of the head: a head that came back has another tag. */
static uint64_t head_after(uint64_t head, uint32_t first)
{
    return ((head >> 32) + 1) << 32 | first;
}

static void push(struct ct_event_pool *pool, _Atomic uint64_t *stack, uint32_t pack)
{
    uint64_t head = atomic_load_explicit(stack, memory_order_relaxed);
    do
        atomic_store_explicit(&pool->pack[pack - 1].next, (uint32_t)head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(stack, &head, head_after(head, pack),
                                                  memory_order_release, memory_order_relaxed));
}

/* The topmost pack, index + 1; 0: there is none. */
static uint32_t pop(struct ct_event_pool *pool, _Atomic uint64_t *stack)
{
    uint64_t head = atomic_load_explicit(stack, memory_order_acquire);
    uint32_t first;
    while ((first = (uint32_t)head)) {
        uint32_t next = atomic_load_explicit(&pool->pack[first - 1].next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(stack, &head, head_after(head, next),
                                                  memory_order_acquire, memory_order_acquire))
            break;
    }
    return first;
}

/* Index + 1 of a new pack; 0: there is no memory for one more. */
static uint32_t new_pack(struct ct_event_pool *pool)
{
    uint32_t packs = atomic_load_explicit(&pool->packs, memory_order_relaxed);
    do
        if (!ct_stable_array_reach(&pool->room, packs + 1))
            return 0;
    while (!atomic_compare_exchange_weak_explicit(&pool->packs, &packs, packs + 1,
                                                  memory_order_relaxed, memory_order_relaxed));
    return packs + 1;
}

/*
 * An empty pack for an event in hand. A pack that loses its last event becomes empty at once, and a
 * new one is begun only when none is empty: there are never more packs than events.
 */
static uint32_t empty_pack(struct ct_event_pool *pool)
{
    uint32_t pack = pop(pool, &pool->empty);
    if (!pack)
        pack = new_pack(pool);
    if (pack)
        pool->pack[pack - 1].count = 0;
    return pack;
}

/*
 * Takes the pack out of the cache, where no other thread finds it then. 0: there is none, or it
 * went with a context that had the entry before.
 */
CT_INLINE uint32_t hold(const struct ct_events *events, struct ct_event_cache *cache,
                        enum ct_event_kind kind)
{
    uint64_t kept = atomic_exchange_explicit(&cache->pack[kind], 0, memory_order_acquire);
    return ct_likely(kept >> 32 == events->generation) ? (uint32_t)kept : 0;
}

/* Puts the pack back; its next holder sees all changes of it. */
CT_INLINE void keep(const struct ct_events *events, struct ct_event_cache *cache,
                    enum ct_event_kind kind, uint32_t pack)
{
    if (pack)
        atomic_store_explicit(&cache->pack[kind], (uint64_t)events->generation << 32 | pack,
                              memory_order_release);
}

/* Puts an event into the pack. An event that finds no room is lost, as if it had not been made. */
CT_INLINE void give(struct ct_event_pool *pool, uint32_t *pack, uint32_t index)
{
    if (*pack && pool->pack[*pack - 1].count == pool->pack_events) {
        push(pool, &pool->filled, *pack);
        *pack = 0;
    }
    if (!*pack && !(*pack = empty_pack(pool)))
        return;
    struct ct_event_pack *p = &pool->pack[*pack - 1];
    p->event[p->count++] = index;
}

static void give_kind(struct ct_events *e, struct ct_event_cache *cache, enum ct_event_kind kind,
                      uint32_t index)
{
    uint32_t pack = hold(e, cache, kind);
    give(&e->pool[kind], &pack, index);
    keep(e, cache, kind, pack);
}

void ct_cache_give(struct ct_context *c, struct ct_event_cache *cache, uint32_t index)
{
    struct ct_events *e = &c->events;
    uint32_t timed = e->pool[CT_EVENT_TIMED].limit;
    if (ct_unlikely(index >= timed))
        give_kind(e, cache, CT_EVENT_PLAIN, index - timed);
    else
        give_kind(e, cache, CT_EVENT_TIMED, index);
}

void ct_cache_flush(struct ct_context *c, struct ct_event_cache *cache)
{
    for (unsigned kind = 0; kind < CT_EVENT_KINDS; kind++) {
        uint32_t pack = hold(&c->events, cache, kind);
        if (pack)
            push(&c->events.pool[kind], &c->events.pool[kind].filled, pack);
    }
}

static uint32_t batch_of(uint32_t left)
{
    return (uint32_t)ct_max(1, ct_min(BATCH, left / BATCHES_LEFT));
}

/* Takes *n fresh indices below the limit, or none. */
static uint32_t extend(struct ct_event_pool *pool, uint32_t *n)
{
    uint32_t made = atomic_load_explicit(&pool->made, memory_order_relaxed);
    do {
        if (made >= pool->limit)
            return CT_EVENT_NONE;
        *n = batch_of(pool->limit - made);
    } while (!atomic_compare_exchange_weak_explicit(&pool->made, &made, made + *n,
                                                    memory_order_relaxed, memory_order_relaxed));
    return made;
}

/* Indices without an event can be taken again, unless later ones were taken meanwhile. */
static void give_up(struct ct_event_pool *pool, uint32_t first_missing, uint32_t end)
{
    atomic_compare_exchange_strong_explicit(&pool->made, &end, first_missing, memory_order_relaxed,
                                            memory_order_relaxed);
}

/* Looked at first: with all events in use, each launch comes here. */
static bool is_exhausted(const struct ct_event_pool *pool)
{
    return atomic_load_explicit(&pool->made, memory_order_relaxed) >= pool->limit;
}

/* An event belongs to the context that is current when it is made. */
static CT_COLD uint32_t make(struct ct_context *c, uint32_t *pack, enum ct_event_kind kind)
{
    CUcontext before;
    uint32_t taken = CT_EVENT_NONE;
    unsigned flags = kind == CT_EVENT_PLAIN ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT;
    struct ct_event_pool *pool = &c->events.pool[kind];
    CUstreamCaptureMode mode;
    if (is_exhausted(pool) || !ct_relaxed_enter(&mode))
        return CT_EVENT_NONE;
    if (ct_context_enter(c, &before)) {
        uint32_t n, first = extend(pool, &n);
        for (uint32_t i = first; first != CT_EVENT_NONE && i < first + n; i++) {
            if (CT_ASK_IN(c, cuEventCreate, &pool->event[i], flags) != CUDA_SUCCESS) {
                give_up(pool, i, first + n);
                break;
            }
            if (i == first)
                taken = i;
            else
                give(pool, pack, i);
        }
        ct_context_leave(c, before);
    }
    ct_relaxed_leave(mode);
    return taken;
}

static uint32_t take_last(struct ct_event_pool *pool, uint32_t pack)
{
    struct ct_event_pack *p = &pool->pack[pack - 1];
    uint32_t index = p->event[0];
    p->count = 0;
    push(pool, &pool->empty, pack);
    return index;
}

/* Takes an event where the cache has none. */
static CT_NOINLINE uint32_t take_anew(struct ct_context *c, struct ct_event_cache *cache,
                                      enum ct_event_kind kind)
{
    struct ct_event_pool *pool = &c->events.pool[kind];
    uint32_t index, pack = pop(pool, &pool->filled);
    if (!pack)
        index = make(c, &pack, kind);
    else if (pool->pack[pack - 1].count == 1)
        return take_last(pool, pack);
    else
        index = pool->pack[pack - 1].event[--pool->pack[pack - 1].count];
    keep(&c->events, cache, kind, pack);
    return index;
}

/* Written out instead of hold() and keep(): each launch would feel the least detour. */
CT_INLINE uint32_t take(struct ct_context *c, struct ct_event_cache *cache, enum ct_event_kind kind)
{
    struct ct_event_pool *pool = &c->events.pool[kind];
    uint64_t kept = atomic_exchange_explicit(&cache->pack[kind], 0, memory_order_acquire);
    if (ct_unlikely(kept >> 32 != c->events.generation))
        return take_anew(c, cache, kind);
    struct ct_event_pack *p = &pool->pack[(uint32_t)kept - 1];
    if (ct_unlikely(p->count == 1))
        return take_last(pool, (uint32_t)kept);
    uint32_t index = p->event[--p->count];
    atomic_store_explicit(&cache->pack[kind], kept, memory_order_release);
    return index;
}

uint32_t ct_cache_take(struct ct_context *c, struct ct_event_cache *cache)
{
    return take(c, cache, CT_EVENT_TIMED);
}

uint32_t ct_cache_take_plain(struct ct_context *c, struct ct_event_cache *cache)
{
    uint32_t index = take(c, cache, CT_EVENT_PLAIN);
    return index == CT_EVENT_NONE ? index : c->events.pool[CT_EVENT_TIMED].limit + index;
}

uint32_t ct_event_take(struct ct_context *c)
{
    return ct_cache_take(c, &c->events.returned);
}

void ct_event_give(struct ct_context *c, uint32_t index)
{
    ct_cache_give(c, &c->events.returned, index);
}

void ct_events_flush(struct ct_context *c)
{
    ct_cache_flush(c, &c->events.returned);
}

static bool is_short(struct ct_event_pool *pool)
{
    return is_exhausted(pool) &&
           !(uint32_t)atomic_load_explicit(&pool->filled, memory_order_relaxed);
}

bool ct_events_are_short(struct ct_context *c)
{
    return is_short(&c->events.pool[CT_EVENT_TIMED]) || is_short(&c->events.pool[CT_EVENT_PLAIN]);
}

static bool will_flush(const struct ct_events *e, enum ct_event_kind kind, uint32_t n)
{
    const struct ct_event_pool *pool = &e->pool[kind];
    uint64_t kept = atomic_load_explicit(&e->returned.pack[kind], memory_order_relaxed);
    uint32_t pack = kept >> 32 == e->generation ? (uint32_t)kept : 0;
    return pack && pool->pack[pack - 1].count + n > pool->pack_events;
}

bool ct_events_will_flush(const struct ct_context *c, uint32_t n)
{
    return will_flush(&c->events, CT_EVENT_TIMED, n) || will_flush(&c->events, CT_EVENT_PLAIN, n);
}

bool ct_elapsed_ns(const struct ct_context *c, uint32_t from, uint32_t to, int64_t *ns)
{
    float ms = 0;
    CUevent a = ct_event(c, from), b = ct_event(c, to);
    CUresult r = CT_HAS(cuEventElapsedTime_v2) ? CT_ASK_IN(c, cuEventElapsedTime_v2, &ms, a, b)
                                               : CT_ASK_IN(c, cuEventElapsedTime, &ms, a, b);
    *ns = (int64_t)((double)ms * 1e6 + (ms < 0 ? -0.5 : 0.5));
    return r == CUDA_SUCCESS;
}
