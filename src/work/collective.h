/* SPDX-License-Identifier: MIT */
/*
 * Calls of NCCL, and the time of the kernels that it launches for them.
 *
 * The operations of one communicator in a call, or between ncclGroupStart and ncclGroupEnd, are a
 * batch. Kernels that are launched meanwhile in a stream of the batch belong to it. They carry its
 * number to the drain thread, and when the call has returned and all of them are dealt with, its
 * operations are counted. A batch is timed if each of its kernels is; one that launched none, as in
 * a thread of NCCL's own, is not.
 *
 * One lock is held for a few instructions, never over a call. Other launches do not come here.
 */
#ifndef CT_COLLECTIVE_H
#define CT_COLLECTIVE_H

#include "base/base.h"
#include "cuda/api.h"
#include "cutrace/format.h"

#define CT_BATCHES 2048    /* batches of all threads under way at one time */
#define CT_BATCHES_OPEN 16 /* batches of a thread: communicators of one group */
#define CT_BATCH_STREAMS 4
#define CT_BATCH_PARTS 16 /* operations of different kinds or sizes in one batch */
#define CT_COLLECTIVE_ROWS 512

struct ct_thread;

/* A thread's open groups and batches. In the thread's state, all zero at first. */
struct ct_batches {
    uint32_t groups; /* groups begun and not ended */
    uint32_t count;
    uint16_t open[CT_BATCHES_OPEN];
};

/* One operation, by its call's arguments. */
struct ct_collective_call {
    uint32_t kind;     /* enum ct_collective; sends and receives as such */
    uint32_t datatype; /* ncclDataType_t */
    uint32_t peer;     /* for sends and receives */
    uint32_t ranks;    /* the communicator's; 0: not known. Set after the call */
    uint32_t rank;     /* its own, plus one; 0: not known. Likewise */
    uint64_t bytes;    /* the call's count in bytes */
    const void *communicator;
    CUstream stream;
};

bool ct_collectives_init(void);

/* Drops the thread's open batches: its state begins anew. */
void ct_collectives_leave(struct ct_thread *t);

/* Around the real call of an operation. */
void ct_collective_begin(struct ct_thread *t, const struct ct_collective_call *c);
void ct_collective_end(struct ct_thread *t, const struct ct_collective_call *c, bool failed);
/* After the real calls. */
void ct_collective_group_starts(struct ct_thread *t);
void ct_collective_group_ends(struct ct_thread *t, bool failed);

/* A kernel to be timed was launched in a call of NCCL: the number of its batch; 0: it has none. */
uint32_t ct_collective_launched(struct ct_thread *t, CUstream stream);
/* A kernel that goes without a time was launched. */
void ct_collective_untimed(struct ct_thread *t, CUstream stream, bool captured);

/* Drain thread, with a number from _launched: once for each kernel. */
void ct_collective_timed(uint32_t batch, uint64_t time_ns);
void ct_collective_lost(uint32_t batch);

/* An operation of a communicator, for who looks at ranks that wait for each other. */
struct ct_collective_place {
    uint32_t communicator; /* number among those of as many ranks, from 1, by their first use */
    uint32_t ranks;        /* 0: not known */
    uint32_t rank;         /* its own among these, plus one; 0: not known */
    uint32_t collective;   /* enum ct_collective of its last operation */
    uint64_t sequence;     /* collective operations of the communicator up to it, sends left out */
    uint64_t bytes;        /* of the last operation */
};

/* The last operation of a kernel's batch; any thread, while the kernel is on its way. */
struct ct_collective_place ct_collective_place_of(uint32_t batch);
/* The newest operation called, of each communicator. */
#define CT_COMMUNICATORS 64 /* further ones have no number */
uint32_t ct_communicators(void);
struct ct_collective_place ct_communicator_newest(uint32_t index);

/* The rows in the order they came. */
uint32_t ct_collective_rows(void);
struct ct_file_collective ct_collective_row(uint32_t index);
/* Operations that found no row. */
uint64_t ct_collectives_uncounted(void);

#endif
