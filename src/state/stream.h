/* SPDX-License-Identifier: MIT */
/*
 * Streams of the program. A handle is no identity either: it is forgotten when the stream is
 * destroyed, and the entry is used again once its last bracket has been dealt with.
 *
 * Brackets of a stream have sequence numbers, given when the stop event is recorded: the drain
 * thread deals with them in that order.
 */
#ifndef CT_STREAM_H
#define CT_STREAM_H

#include <stdatomic.h>

#include "base/base.h"
#include "state/context.h"
#include "system/spin.h"
#include "time/op.h"

#define CT_STREAMS 32768
#define CT_STREAMS_LISTED 1024 /* streams that the profile lists: those met first */
#define CT_STREAM_NONE UINT32_MAX
/* Brackets whose stop events are remembered: each is two of the 1,020 entries of a queue. */
#define CT_STREAM_TRAIL 512

enum ct_stream_special {
    CT_STREAM_CREATED = 0,
    CT_STREAM_LEGACY = 1,
    CT_STREAM_PER_THREAD = 2,
};

/* A thing that the program has the stream wait for: perhaps the program's own next step. */
struct ct_gate {
    uint64_t before; /* sequence of the newest bracket before it */
    uint64_t made;   /* records before it */
};

/* An entry of a stream that may hold it up, and no operation: for who looks at one that stands. */
enum ct_stop_kind {
    CT_STOP_NONE,
    CT_STOP_HOST,      /* a function of the program's */
    CT_STOP_VALUE,     /* memory that is to have a value */
    CT_STOP_EVENT,     /* another stream's event */
    CT_STOP_SEMAPHORE, /* another interface's */
};

struct ct_stop {
    uint32_t kind;       /* enum ct_stop_kind */
    uint32_t stream;     /* of the event: its index, plus one; 0: not known */
    uint64_t before;     /* sequence of the newest bracket before it */
    uint64_t made_ticks; /* when it was submitted */
};

#define CT_STREAM_STOPS 8 /* newest ones */

struct ct_pending; /* the drain thread's */
struct ct_shared_stream;
struct ct_thread;

/* See connections.h. */
struct ct_stream_work {
    atomic_bool is_known;       /* the stream is on the list of those at work */
    uint32_t context;           /* context for which it is counted */
    struct ct_stream *next;     /* on that list */
    uint64_t breaks;            /* the drain thread's: operations without a bracket so far */
    uint64_t quiet_since_ticks; /* ticks since when there have been no more */
};

/* Members that one side writes often share cache lines of their own: launches read the first. */
struct ct_stream {
    _Alignas(CT_CACHE_LINE) _Atomic(CUstream) handle; /* written last when the entry is used anew */
    /* Atomic for the drain thread, which lists a stream while its entry is being used anew. */
    _Atomic uint64_t id; /* ordinal, from 1 */
    _Atomic uint32_t context;
    _Atomic uint32_t device;  /* the context's, which may be gone */
    _Atomic uint32_t special; /* enum ct_stream_special */
    _Atomic uint32_t flags;   /* UINT32_MAX: not seen being created */
    _Atomic int32_t priority;
    atomic_bool gone;
    struct ct_stream *next_gone;        /* under the lock */
    _Atomic(const char *) name;         /* the program's name for it; NULL: none */
    _Atomic(const char *) context_name; /* NULL: the entry of its context tells */

    /* Written by launching threads. */
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t opened; /* brackets begun */
    _Atomic uint64_t sequence;  /* the newest bracket's that ended with a stop record */
    _Atomic uint64_t abandoned; /* brackets that ended otherwise */
    _Atomic uint64_t breaks;    /* waits, host functions: no sharing across */
    _Atomic uint64_t untimed;   /* operations without a bracket: breaks as well */
    _Atomic uint64_t shared;    /* brackets whose start was another one's stop */
    _Atomic uint64_t passes;    /* one more when a launch is passed over: a break */
    _Atomic uint32_t last_row;  /* the last kernel's; CT_ROW_NONE: something else was last */

    /* Written by the thread that recorded last; another thread never uses them. */
    _Atomic uint64_t last_owner; /* stream.c */
    _Atomic uint64_t last_breaks;
    _Atomic uint32_t last_turn;
    _Atomic uint64_t busy_until; /* ticks: the stream has work ahead till then */
    _Atomic uint64_t start_due;  /* ticks: a start is to be recorded then */
    _Atomic uint32_t look_skips; /* launches to come that take the stream for idle without a look */

    /* The watch for a queue that does not move: depth.c. */
    _Atomic uint32_t refused; /* brackets not opened since it was last seen to move */
    _Atomic uint64_t allowed; /* records that may have been made before a look */
    _Atomic uint64_t watched; /* sequence whose end shows that the stream moves; 0: none */
    atomic_bool has_gate;     /* a gate that is not known to be open */

    /* The drain thread's, read by launching threads. */
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t done; /* brackets dealt with */
    _Atomic uint64_t released;    /* sequence whose stop event is back in the pool */
    _Atomic uint64_t clock_until; /* ticks: till then the host's clock tells of starts */

    /* The drain thread's. */
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t settled; /* operations of brackets, and passed over */
    _Atomic uint64_t waits;
    uint64_t dealt; /* the next `done`: launching threads are told of several at a time */
    struct ct_pending *first_pending;
    struct ct_pending *last_pending;
    struct ct_pending *last_inserted; /* a pending bracket; NULL: none is known */
    struct ct_stream *next_active;
    bool active;
    uint32_t last_stop; /* kept as reference for the next bracket's gap */
    uint32_t last_stop_context;
    uint64_t last_stop_sequence;
    uint64_t last_stop_ns;
    uint64_t latest_stop_ns; /* another thread's may have a lower number */
    uint64_t placed_ns;      /* the end of all that has been placed (line.h) */
    bool was_shared;         /* some bracket was: threads share the stream */
    uint64_t alone_stop_ns;  /* the last bracket's that no other thread came into; 0: none */
    uint32_t alone_context;
    uint64_t newest_opened;        /* ordinal of the latest bracket dealt with */
    uint64_t newest_ticks;         /* ticks when that was opened */
    struct ct_shared_stream *line; /* NULL: none is held */
    /* The last bracket whose end was found by asking. */
    uint64_t polled_sequence;
    uint64_t polled_stop_ns;
    uint64_t polled_doubt_ns;
    uint32_t last_engine; /* enum ct_engine of that bracket; NONE: there was none */

    /* Written when the stream begins to be at work, and by the drain thread. */
    _Alignas(CT_CACHE_LINE) struct ct_stream_work work;

    /* The first of the gates ahead, and the last. */
    _Alignas(CT_CACHE_LINE) struct ct_spin gate_lock;
    struct ct_gate first_gate, last_gate;
    struct ct_stop stop[CT_STREAM_STOPS]; /* by the number of stops, modulo */
    uint64_t stops;

    /* Launching threads': stop events by sequence, whose upper part is in the upper bits. */
    _Alignas(CT_CACHE_LINE) _Atomic uint32_t trail[CT_STREAM_TRAIL];
};

bool ct_streams_init(void);

extern struct ct_stream *ct_streams;

static inline struct ct_stream *ct_stream(uint32_t index)
{
    return &ct_streams[index];
}

static inline uint32_t ct_stream_index(const struct ct_stream *s)
{
    return (uint32_t)(s - ct_streams);
}

uint32_t ct_streams_count(void);

/*
 * The entry of a stream handle as the driver understands it (CU_STREAM_LEGACY and
 * CU_STREAM_PER_THREAD included), made at first sight, for which the driver is asked unless the
 * stream captures. NULL: no context, no room, or the driver could not be asked.
 */
struct ct_stream *ct_stream_get(struct ct_thread *t, CUstream handle);
/* The entry if the handle is known and no default stream; no driver call. */
struct ct_stream *ct_stream_find(CUstream handle);
/* As ct_stream_find(), and for default streams those of the current context, if they are known. */
struct ct_stream *ct_stream_known(const struct ct_thread *t, CUstream handle);

/* A program's cuStreamCreate has succeeded. */
void ct_stream_created(CUstream handle, uint32_t flags, int32_t priority);
void ct_stream_destroyed(CUstream handle);
/*
 * Takes the program's name for a stream; the legacy default one is the current context's. The text
 * lives on. False: the stream is not known, and captures, so that it cannot be asked.
 */
bool ct_stream_give_name(struct ct_thread *t, CUstream handle, const char *name);

void ct_stream_gone(uint32_t index);
void ct_streams_of_context_gone(uint32_t context);
/* Whether no bracket is open or pending in the context's streams. */
bool ct_streams_of_context_idle(uint32_t context);

/*
 * Whether a bracket is complete, by the driver's answer; brackets no longer remembered are.
 * Launching thread, between ct_relaxed_enter() and ct_relaxed_leave().
 */
bool ct_stream_is_through(const struct ct_stream *s, uint64_t sequence);

/* Whether the stream is idle, by the driver's answer; false if it captures. Launching thread. */
bool ct_stream_is_idle(const struct ct_stream *s);

/* Brackets ended, either way. */
static inline uint64_t ct_stream_closed(const struct ct_stream *s)
{
    return atomic_load_explicit(&s->sequence, memory_order_acquire) +
           atomic_load_explicit(&s->abandoned, memory_order_acquire);
}

/*
 * Whether a bracket is open. The ended ones are read first: the other way round, a bracket that
 * began and ended in between would hide one that is still open.
 */
static inline bool ct_stream_has_open(const struct ct_stream *s)
{
    uint64_t closed = ct_stream_closed(s);
    return atomic_load(&s->opened) != closed;
}

/*
 * The flag for a way to do without a start event, where nothing but brackets of this thread is in
 * the stream; *ticks is then the time. CT_OP_TOLD_START: the host's clock, which is tied to the
 * GPU's; now and then a start is recorded all the same, which keeps the clocks together.
 * CT_OP_SHARED_START: the stop event of the bracket before, as the stream has work ahead. 0: a
 * start is to be recorded.
 */
uint32_t ct_stream_spares_start(struct ct_stream *s, struct ct_thread *t, uint64_t *ticks);
/*
 * Whether a bracket that begins now begins where the newest one ends: that is the thread's own,
 * with nothing behind it.
 */
bool ct_stream_follows(struct ct_stream *s, struct ct_thread *t);
/* A start event was recorded. */
void ct_stream_start_recorded(struct ct_stream *s, uint64_t ticks);

/* A stop event was recorded; returns the bracket's sequence number. */
uint64_t ct_stream_recorded(struct ct_stream *s, struct ct_thread *t, uint32_t stop_event,
                            bool shared, bool polled);

/* Other brackets were open meanwhile: the newest by number need not be the last in the stream. */
static inline void ct_stream_disown(struct ct_stream *s)
{
    atomic_store_explicit(&s->last_owner, 0, memory_order_relaxed);
}

/*
 * The legacy default stream and the streams that are not non-blocking wait for each other: when it
 * is the other side's turn, an earlier record is no start for the work to come. Changing, taking
 * and asking for the turn return the number of turns so far.
 */
uint32_t ct_stream_change_turn(struct ct_stream *s, uint32_t turns);

static inline bool ct_stream_is_non_blocking(const struct ct_stream *s)
{
    return atomic_load_explicit(&s->special, memory_order_relaxed) == CT_STREAM_CREATED &&
           atomic_load_explicit(&s->flags, memory_order_relaxed) == CU_STREAM_NON_BLOCKING;
}

static inline uint32_t ct_stream_turn(const struct ct_stream *s)
{
    if (ct_stream_is_non_blocking(s))
        return 0;
    return atomic_load_explicit(&ct_context(s->context)->turns, memory_order_relaxed);
}

static inline uint32_t ct_stream_take_turn(struct ct_stream *s)
{
    uint32_t turns = ct_stream_turn(s);
    bool is_legacy = atomic_load_explicit(&s->special, memory_order_relaxed) == CT_STREAM_LEGACY;
    if (ct_stream_is_non_blocking(s) || (turns & 1) == is_legacy)
        return turns;
    return ct_stream_change_turn(s, turns);
}

/* Counts work in the stream, or in all streams, without a bracket around it. */
static inline uint64_t ct_stream_breaks(const struct ct_stream *s)
{
    return atomic_load_explicit(&s->breaks, memory_order_relaxed) +
           atomic_load_explicit(&s->untimed, memory_order_relaxed) +
           atomic_load_explicit(&s->passes, memory_order_relaxed);
}

/* Whether the program has a function that is known for work by its name alone. */
extern _Atomic bool ct_unseen_work;
void ct_work_is_unseen(void);

/* Whether something without a bracket came after the last bracket, or may have. */
static inline bool ct_stream_is_broken(const struct ct_stream *s)
{
    return atomic_load_explicit(&ct_unseen_work, memory_order_relaxed) ||
           atomic_load_explicit(&s->last_breaks, memory_order_relaxed) != ct_stream_breaks(s);
}

/* Whether no bracket of the stream is open, or waits for the drain thread. */
static inline bool ct_stream_is_dealt_with(const struct ct_stream *s)
{
    return !ct_stream_has_open(s) && atomic_load_explicit(&s->done, memory_order_acquire) ==
                                         atomic_load_explicit(&s->sequence, memory_order_acquire);
}

/* Whether the stream ever got an operation. */
static inline bool ct_stream_was_used(const struct ct_stream *s)
{
    return atomic_load_explicit(&s->opened, memory_order_relaxed) ||
           atomic_load_explicit(&s->untimed, memory_order_relaxed) ||
           atomic_load_explicit(&s->passes, memory_order_relaxed);
}

/* Whether all its operations are known to be over, without asking the driver. */
static inline bool ct_stream_is_over(const struct ct_stream *s)
{
    return !ct_stream_was_used(s) || (ct_stream_is_dealt_with(s) && !ct_stream_is_broken(s));
}

static inline void ct_stream_untimed(struct ct_stream *s, uint64_t operations)
{
    atomic_fetch_add_explicit(&s->untimed, operations, memory_order_relaxed);
}

/*
 * A launch was passed over; row: last_row from then on. Two threads at once may count as one, which
 * is as good a break as two; the drain thread learns the number from each thread.
 */
static inline void ct_stream_passed(struct ct_stream *s, uint32_t row)
{
    uint64_t n = atomic_load_explicit(&s->passes, memory_order_relaxed);
    atomic_store_explicit(&s->passes, n + 1, memory_order_relaxed);
    atomic_store_explicit(&s->last_row, row, memory_order_relaxed);
}

/* Drain thread: adds operations that were passed over, unless the entry is another stream's now. */
static inline void ct_stream_count_passed(struct ct_stream *s, uint64_t id, uint64_t operations)
{
    if (atomic_load_explicit(&s->id, memory_order_relaxed) == id)
        atomic_fetch_add_explicit(&s->settled, operations, memory_order_relaxed);
}

void ct_stream_break(struct ct_stream *s);
void ct_streams_break(void);

/* A stop is about to be submitted; `from`: index of the event's stream, plus one. */
void ct_stream_stops(struct ct_stream *s, enum ct_stop_kind kind, uint32_t from);
/*
 * The newest stop with no bracket but one of this sequence, or none, before it; kind NONE: there is
 * none, or it was too long ago.
 */
struct ct_stop ct_stream_stop_behind(struct ct_stream *s, uint64_t sequence);

#endif
