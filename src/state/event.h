/* SPDX-License-Identifier: MIT */
/*
 * The events of a context. They are made on demand up to a limit and never destroyed before the
 * context: cuEventDestroy has been seen to deadlock. Launching threads take them, the drain thread
 * gives them back.
 *
 * Free events lie in packs. A thread has a pack to itself till it is empty (or full, where events
 * come back), and only exchanging packs is between threads: through two lock-free stacks, of packs
 * with events and of empty ones. A pack that lies idle in a thread's cache is taken away by the
 * drain thread: idle threads keep no event from those that launch.
 */
#ifndef CT_EVENT_H
#define CT_EVENT_H

#include <stdatomic.h>

#include "base/base.h"
#include "containers/growing.h"
#include "cuda/api.h"

struct ct_context;

#define CT_EVENT_BITS 21 /* of an index */
#define CT_PLAIN_MOST 8192
#define CT_PACK_EVENTS 126

/* Pools of a context: a record of either kind of event is an entry in a stream's queue. */
enum ct_event_kind {
    CT_EVENT_TIMED,
    CT_EVENT_PLAIN, /* without a stamp: it holds no other stream's work up */
    CT_EVENT_KINDS,
};

struct ct_event_pack {
    _Atomic uint32_t next; /* index + 1 of the pack below this one */
    uint32_t count;
    uint32_t event[CT_PACK_EVENTS];
};

/*
 * The packs that somebody keeps: generation of the pools they are from << 32 | index + 1; 0: none.
 * Whoever takes an event, gives one or takes a pack away exchanges the word for 0 first.
 */
struct ct_event_cache {
    _Atomic uint64_t pack[CT_EVENT_KINDS];
};

struct ct_event_pool {
    CUevent *event; /* in the context's */
    struct ct_event_pack *pack;
    struct ct_growing room; /* for packs */
    uint32_t limit;
    uint32_t pack_events; /* fewer than fit where the limit is low: packs must go round */
    /* tag << 32 | index + 1 of the first pack */
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t filled;
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t empty;
    _Atomic uint32_t made;  /* events that exist */
    _Atomic uint32_t packs; /* packs that exist: never more than events */
};

struct ct_events {
    CUevent
        *event; /* by index: those that stamp the time, up to their limit, then the plain ones */
    uint32_t generation; /* of the use of the context's entry */
    struct ct_event_pool pool[CT_EVENT_KINDS];
    /* Of whoever holds the lock of the round. */
    _Alignas(CT_CACHE_LINE) struct ct_event_cache returned;
};

/*
 * For a new use of the context's entry, in which there is no event yet. `limit`: of events that
 * stamp the time. False: no memory. Its two parts are for who has a lock: the memory, before that,
 * with *memory zero at first, and what the entry does not take of it is given back; and the rest,
 * under it.
 */
bool ct_events_init(struct ct_events *events, uint32_t limit);
bool ct_events_map(struct ct_events *memory, uint32_t limit);
void ct_events_unmap(struct ct_events *memory, uint32_t limit);
void ct_events_begin(struct ct_events *events, struct ct_events *memory, uint32_t limit);

/*
 * An event, made if none is free and the limit allows; CT_EVENT_NONE otherwise. The cache is the
 * calling thread's. The context need not be current.
 */
uint32_t ct_cache_take(struct ct_context *c, struct ct_event_cache *cache);
/* One that stamps nothing. */
uint32_t ct_cache_take_plain(struct ct_context *c, struct ct_event_cache *cache);
void ct_cache_give(struct ct_context *c, struct ct_event_cache *cache, uint32_t index);
/*
 * All of the cache's events go back to the pool. Any thread; the context's entry must not change
 * meanwhile.
 */
void ct_cache_flush(struct ct_context *c, struct ct_event_cache *cache);

/* The same for whoever holds the lock of the round: the drain thread. */
uint32_t ct_event_take(struct ct_context *c);
void ct_event_give(struct ct_context *c, uint32_t index);
void ct_events_flush(struct ct_context *c);
/* Whether some kind of event is all taken, or kept by threads, and no more may be made. */
bool ct_events_are_short(struct ct_context *c);
/* Whether events that were given back will be others' to take when n more are. */
bool ct_events_will_flush(const struct ct_context *c, uint32_t n);

/* Nanoseconds from one event to another, negative if it is the other way round. */
bool ct_elapsed_ns(const struct ct_context *c, uint32_t from, uint32_t to, int64_t *ns);

#endif
