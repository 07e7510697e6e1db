/* SPDX-License-Identifier: MIT */
/*
 * For the replicas' own files: an entry for each executable graph of the program's, and who may
 * touch it in which phase.
 */
#ifndef CT_REPLICA_ENTRY_H
#define CT_REPLICA_ENTRY_H

#include <stdatomic.h>

#include "base/config.h"
#include "launch/replica.h"
#include "launch/replica_limit.h"
#include "system/spin.h"

#define CT_REPLICA_WAYS 8 /* executable graphs whose handles meet in one set */
#define CT_REPLICA_SETS (CT_REPLICAS / CT_REPLICA_WAYS)

/* Launches before a replica is made: a graph that is launched less often is not worth one. */
#define CT_REPLICA_LAUNCHES_BEFORE 2

enum ct_replica_phase {
    CT_REPLICA_FREE,
    CT_REPLICA_CLONED, /* there is a clone; owned by the program's threads */
    CT_REPLICA_WANTED, /* of the drain thread; whoever is first to set the next phase has it */
    CT_REPLICA_MAKING,
    CT_REPLICA_READY, /* can be launched; whoever is first to set the next phase has it */
    CT_REPLICA_LAUNCHING,
    CT_REPLICA_CHANGING, /* in step with the program's graph; then the phase before comes again */
    CT_REPLICA_RUNNING,  /* the drain thread waits for its end */
    CT_REPLICA_READING,  /* the drain thread asks whether it has ended: it may be running */
    CT_REPLICA_ENDING,   /* whoever set this phase ends the replica */
    CT_REPLICA_OVER,     /* there is no replica any more, and will be none */
};

/* A run as the drain thread sees it from outside. */
struct ct_replica_run {
    uint32_t launch;      /* of the replica, by number */
    uint32_t node;        /* kernel that it is in: index, plus one; 0: not known */
    uint64_t since_ticks; /* when it was first seen to run */
    uint64_t asked_ticks; /* when its node was last looked for */
};

/* Parameters that nodes have got before launches (replica_sync.h). */
struct ct_replica_sync {
    uint64_t launch;       /* the launch before which there were the last ones */
    uint64_t nodes;        /* a sum that tells which nodes these were */
    uint64_t missed_nodes; /* those that the replica misses */
    uint32_t in_a_row;     /* launches with some before them */
    uint32_t failed;
    bool any;
    bool in_round; /* the last ones were followed */
    bool missed;
    bool mixed; /* it misses those of different nodes */
};

struct ct_replica {
    /* The launching thread's. */
    uint64_t launches;
    uint64_t due;              /* the launch that may be the replica's */
    _Atomic uint32_t replayed; /* launches that were the replica's */
    uint64_t stream_id;        /* the stream of the launch before; 0: not known */
    uint64_t moved;            /* launches in another stream, which may have waited for that one */
    uint64_t random;
    uint64_t updated;     /* launches when it was last updated */
    uint64_t round_at;    /* ticks: when it may be made anew in an update */
    bool stale;           /* the executable graph has been updated, and the replica was not */
    _Atomic uint32_t row; /* the graph's; the drain thread looks at it at any time */
    uint64_t launched_in; /* the stream that the replica was launched in last, while it runs */
    bool was_off;         /* some node was off, ever */
    bool steady; /* by the replica's launch few others had moved: they take what the graph takes */

    struct ct_replica_sync sync;
    struct ct_replica_run run;

    struct ct_context *context; /* known from WANTED on */
    CUgraph clone;              /* the replica is instantiated from it */
    _Atomic(CUgraph) next;      /* the clone to make it anew from, once the old one has ended */
    unsigned flags;             /* for the instantiation */
    struct ct_replica_body body;
};

struct ct_replicas {
    _Atomic(CUgraphExec) exec[CT_REPLICAS]; /* the program's; NULL: it has gone, or is none */
    _Atomic uint32_t phase[CT_REPLICAS];
    atomic_bool dropped[CT_REPLICAS]; /* by the program's threads: never launched again */
    struct ct_replica replica[CT_REPLICAS];
    struct ct_spin lock;         /* for taking a free entry */
    _Atomic uint32_t used;       /* entries that are not FREE */
    _Atomic uint32_t at_once;    /* graphs whose replica was made at instantiation, */
    _Atomic uint64_t at_once_ns; /* and the time that took */
    _Atomic uint64_t lost[CT_REPLICA_LOSS_COUNT];
};

extern struct ct_replicas *ct_replicas;

static inline void ct_replica_lose(enum ct_replica_loss why)
{
    if (why != CT_REPLICA_LOSS_COUNT)
        atomic_fetch_add_explicit(&ct_replicas->lost[why], 1, memory_order_relaxed);
    if (why == CT_REPLICA_LOST_REFUSED && ct_config.graph_nodes_auto)
        ct_replicas_stop();
}

static inline uint32_t ct_replica_first_way(CUgraphExec exec)
{
    uint64_t hash = (uint64_t)(uintptr_t)exec * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 40) % CT_REPLICA_SETS * CT_REPLICA_WAYS;
}

/* CT_REPLICAS: the executable graph has no entry. */
static inline uint32_t ct_replica_find(CUgraphExec exec)
{
    if (!ct_replicas_are_on || !exec)
        return CT_REPLICAS;
    uint32_t first = ct_replica_first_way(exec);
    for (uint32_t i = first; i < first + CT_REPLICA_WAYS; i++)
        if (atomic_load_explicit(&ct_replicas->exec[i], memory_order_acquire) == exec)
            return i;
    return CT_REPLICAS;
}

static inline enum ct_replica_phase ct_replica_phase_of(uint32_t i)
{
    return (enum ct_replica_phase)atomic_load_explicit(&ct_replicas->phase[i],
                                                       memory_order_acquire);
}

static inline void ct_replica_set_phase(uint32_t i, enum ct_replica_phase phase)
{
    atomic_store_explicit(&ct_replicas->phase[i], phase, memory_order_release);
}

static inline bool ct_replica_runs_in(enum ct_replica_phase p)
{
    return p == CT_REPLICA_RUNNING || p == CT_REPLICA_READING;
}

static inline bool ct_replica_may_run(uint32_t i)
{
    return ct_replica_runs_in(ct_replica_phase_of(i));
}

/* The replica does the work of the time before an update: `next` has the newer clone. */
static inline bool ct_replica_is_outdated(uint32_t i)
{
    return atomic_load_explicit(&ct_replicas->replica[i].next, memory_order_relaxed) != NULL;
}

/* Whether nodes have got parameters since the launch before. */
static inline bool ct_replica_has_sets(const struct ct_replica *r)
{
    return r->sync.any && r->sync.launch == r->launches;
}

/* Whether the replica does what the program's executable graph does. The launching thread. */
static inline bool ct_replica_is_synced(const struct ct_replica *r)
{
    const struct ct_replica_sync *s = &r->sync;
    if (ct_replica_has_sets(r) && !s->in_round)
        return false;
    return !s->missed || (ct_replica_has_sets(r) && !s->mixed && s->nodes == s->missed_nodes);
}

/* False: another thread was first. */
static inline bool ct_replica_go_on(uint32_t i, uint32_t from, enum ct_replica_phase to)
{
    return atomic_compare_exchange_strong(&ct_replicas->phase[i], &from, to);
}

static inline bool ct_replica_is_dropped(uint32_t i)
{
    return atomic_load_explicit(&ct_replicas->dropped[i], memory_order_acquire);
}

static inline bool ct_replica_was_replayed(uint32_t i)
{
    return atomic_load_explicit(&ct_replicas->replica[i].replayed, memory_order_relaxed);
}

/* Ends an entry's replicas for good. The program's thread that uses the executable graph. */
void ct_replica_drop(uint32_t i, enum ct_replica_loss why);

/*
 * Makes the replica of an entry that is MAKING, which the caller has, in its context. Events are
 * from the caller's cache.
 */
void ct_replica_build(uint32_t i, struct ct_event_cache *cache);

/* Ends the replica of one that is ENDING: `next` is the clone then, if the entry goes on. */
void ct_replica_end(uint32_t i, struct ct_event_cache *cache);

/* Frees an entry that is OVER, once its executable graph has gone. */
void ct_replica_give_back(uint32_t i);

#endif
