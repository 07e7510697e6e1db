/* SPDX-License-Identifier: MIT */
/*
 * The events of a context, made on demand up to a limit and never destroyed before the context:
 * cuEventDestroy has been seen to deadlock. Launching threads take them, the drain thread gives
 * them back.
 *
 * Free events lie in packs. A thread has a pack to itself till it is empty (or full, where events
 * come back), and threads exchange only packs: through two lock-free stacks, of packs with events
 * and of empty ones. The drain thread takes away a pack that lies idle in a thread's cache: idle
 * threads keep no event from those that launch.
 */
#ifndef CT_EVENT_H
#define CT_EVENT_H

#include <stdatomic.h>

#include "base/base.h"
#include "containers/stable_array.h"
#include "cuda/api.h"

struct ct_context;

#define CT_EVENT_BITS 21 /* bits of an index */
#define CT_PLAIN_MOST 8192
#define CT_PACK_EVENTS 126

/* Pools of a context: a record of either kind of event is an entry in a stream's queue. */
enum ct_event_kind {
    CT_EVENT_TIMED,
    CT_EVENT_PLAIN, /* without a stamp: it holds up no other stream's work */
    CT_EVENT_KINDS,
};

struct ct_event_pack {
    _Atomic uint32_t next; /* index + 1 of the pack below this one */
    uint32_t count;
    uint32_t event[CT_PACK_EVENTS];
};

/*
 * The packs that a thread keeps: generation of their pools << 32 | index + 1; 0: none. A thread
 * that takes an event, gives one or takes a pack away exchanges the word for 0 first.
 */
struct ct_event_cache {
    _Atomic uint64_t pack[CT_EVENT_KINDS];
};

struct ct_event_pool {
    CUevent *event; /* its part of ct_events.event */
    struct ct_event_pack *pack;
    struct ct_stable_array room; /* for packs */
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
    uint32_t generation; /* counts the uses of the context's entry */
    struct ct_event_pool pool[CT_EVENT_KINDS];
    /* The cache of the round's lock holder. */
    _Alignas(CT_CACHE_LINE) struct ct_event_cache returned;
};

/*
 * Starts a new use of the context's entry, in which there is no event yet. `limit`: most events
 * that stamp the time. False: no memory. Its parts are for a caller with a lock: _map before that,
 * with *memory zero at first, _begin under it, and _unmap after it, for the memory that the entry
 * did not take.
 */
bool ct_events_init(struct ct_events *events, uint32_t limit);
bool ct_events_map(struct ct_events *memory, uint32_t limit);
void ct_events_unmap(struct ct_events *memory, uint32_t limit);
void ct_events_begin(struct ct_events *events, struct ct_events *memory, uint32_t limit);

/*
 * Index of an event, made if none is free and the limit allows; CT_EVENT_NONE otherwise. The cache
 * is the calling thread's. The context need not be current.
 */
uint32_t ct_cache_take(struct ct_context *c, struct ct_event_cache *cache);
/* Index of an event without a stamp. */
uint32_t ct_cache_take_plain(struct ct_context *c, struct ct_event_cache *cache);
void ct_cache_give(struct ct_context *c, struct ct_event_cache *cache, uint32_t index);
/*
 * Gives all of the cache's events back to the pool. Any thread; the context's entry must not change
 * meanwhile.
 */
void ct_cache_flush(struct ct_context *c, struct ct_event_cache *cache);

/* The calls above with the cache of the round's lock holder, the drain thread. */
uint32_t ct_event_take(struct ct_context *c);
void ct_event_give(struct ct_context *c, uint32_t index);
void ct_events_flush(struct ct_context *c);
/* Whether all events of some kind are taken, or kept by threads, and no more may be made. */
bool ct_events_are_short(struct ct_context *c);
/* Whether the next n events given back will bring others to where all threads can take them. */
bool ct_events_will_flush(const struct ct_context *c, uint32_t n);

/* *ns: from one event to the other, may be negative. False: the driver failed. */
bool ct_elapsed_ns(const struct ct_context *c, uint32_t from, uint32_t to, int64_t *ns);

#endif
