/* SPDX-License-Identifier: MIT */
/* One bracketed operation on its way from the launching thread to the drain thread. */
#ifndef CT_OP_H
#define CT_OP_H

#include "base/base.h"
#include "cutrace/format.h"

#define CT_EVENT_NONE UINT32_MAX
#define CT_ROW_NONE UINT32_MAX
#define CT_CELL_NONE 0 /* it is in no cell: all are timed, or even rows ran out of them */

enum ct_op_flag {
    CT_OP_SHARED_START = 1u << 0, /* the previous bracket's stop event is this one's start */
    CT_OP_OVERLAPPED = 1u << 1,   /* another thread's bracket on the stream interleaved */
    CT_OP_LEGACY_WAIT = 1u << 2,  /* a wait for or by the legacy default stream inside */
    CT_OP_BOUND = 1u << 3,        /* for another reason the duration is only an upper bound */
    CT_OP_WAITED_FOR = 1u << 4,   /* a copy whose call returns when it is done */
    CT_OP_AFTER_BREAK = 1u << 5,  /* something untimed is before it on the stream */
    CT_OP_FOUND_IDLE = 1u << 6,   /* the stream was asked, and was idle at the start record */
    CT_OP_TOLD_START = 1u << 7,   /* no start record: the host's clock tells where it would be */
    CT_OP_POLLED = 1u << 8,       /* no stamp of its end: end_poll.h */
    CT_OP_BROKEN = 1u << 9,       /* something untimed came in between */

    CT_OP_FROM = 1u << 16, /* copies: four bits each for enum ct_memory */
    CT_OP_TO = 1u << 20,

    CT_OP_MARKS = CT_OP_OVERLAPPED | CT_OP_LEGACY_WAIT | CT_OP_BOUND,
};

static inline uint32_t ct_op_memories(enum ct_memory from, enum ct_memory to)
{
    return from * CT_OP_FROM | to * CT_OP_TO;
}

static inline enum ct_memory ct_op_from(uint32_t flags)
{
    return (enum ct_memory)(flags / CT_OP_FROM & 0xf);
}

static inline enum ct_memory ct_op_to(uint32_t flags)
{
    return (enum ct_memory)(flags / CT_OP_TO & 0xf);
}

struct ct_shape {
    uint32_t grid[3];
    uint32_t block[3];
    uint64_t dynamic_shared_bytes;
};

/* Threads of a block: a thousand at most. */
static inline uint32_t ct_shape_threads(const struct ct_shape *s)
{
    return s->block[0] * s->block[1] * s->block[2];
}

struct ct_op {
    uint32_t row;         /* index into the rows */
    uint32_t stream;      /* index into the streams */
    uint32_t context;     /* index into the contexts */
    uint32_t flags;       /* enum ct_op_flag */
    uint32_t start_event; /* index into the context's events; NONE with a shared start */
    uint32_t stop_event;
    uint64_t sequence;     /* of the bracket on its stream, from 1: in the order of their ends */
    uint64_t opened;       /* likewise in that of their beginnings, with those that were dropped */
    uint64_t open_ticks;   /* host ticks before the start record, */
    uint64_t call_ticks;   /* after it, before the real call, */
    uint64_t done_ticks;   /* after the real call, before the stop record, */
    uint64_t closed_ticks; /* after the stop record */
    uint64_t waited_ticks; /* when its thread last came back from a call that waits; 0: never */
    uint64_t correlation;  /* of the call that submitted it: thread.h */
    uint64_t bytes;        /* of all copies of a batch */
    uint64_t operations;   /* copies of a batch; otherwise 1 */
    struct ct_shape shape;
    double weight;    /* how many it stands for; 0 and 1: itself */
    uint32_t cell;    /* sample.h; CT_CELL_NONE when all are timed */
    uint32_t cluster; /* cluster.h; 0: none */
    uint32_t range;   /* of its thread (range.h); 0: none */
    uint32_t batch;   /* of NCCL's operations (collective.h); 0: none */
    uint32_t stack;   /* that it was launched from (stacks.h); 0: none */
};

/* A weight where a whole number of operations is needed. */
static inline uint64_t ct_weight_stands_for(double weight)
{
    return weight > 1 ? (uint64_t)(weight + 0.5) : 1;
}

static inline uint64_t ct_op_stands_for(const struct ct_op *op)
{
    return ct_weight_stands_for(op->weight);
}

static inline bool ct_op_has_start_record(const struct ct_op *op)
{
    return !(op->flags & (CT_OP_SHARED_START | CT_OP_TOLD_START));
}

struct ct_thread;

/* The operations of a stream that wait for their events to be read, in order. */
struct ct_pending {
    struct ct_pending *next;
    struct ct_op op;
    const struct ct_thread *thread; /* that submitted it */
    uint64_t asked_ticks;           /* when it was last seen not to be complete; 0: never */
    uint64_t head_ticks;  /* when that was first seen of it as the first of its stream; 0: never */
    uint64_t start_ticks; /* when its start event was last asked for; 0: never */
    bool is_started;      /* that was complete */
};

#endif
