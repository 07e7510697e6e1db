/* SPDX-License-Identifier: MIT */
/*
 * When a device was busy, and why it was not: the operations of all its streams, put in order and
 * gone through once, with all that is known of each. Constant memory; drain thread.
 *
 * Operations become known in about the order in which they ended. So many wait here for others that
 * began before them, and the first of these goes when another one comes.
 */
#ifndef CT_SWEEP_H
#define CT_SWEEP_H

#include "base/base.h"
#include "cutrace/format.h"

#define CT_SWEEP_WAITING 2048
#define CT_SWEEP_RUNNING 256 /* at once; a device has 128 queues and some copy engines */
#define CT_SWEEP_OCTAVES 64
#define CT_SWEEP_UNKNOWN UINT64_MAX
#define CT_SWEEP_NO_STREAM UINT32_MAX /* a stream without figures */

/* Figures of one stream, operations without a duration aside. */
struct ct_stream_activity {
    uint64_t stream_id; /* 0: of no stream */
    uint64_t timed;
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t busy_ns;
    uint64_t beside_ns;
    uint64_t gaps;
    uint64_t longest_gap_ns;
};

/* An operation. All times are on one line, which begins above 0. */
struct ct_sweep_op {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t told_ns;   /* when the GPU was told of it; CT_SWEEP_UNKNOWN */
    uint64_t waited_ns; /* before that its thread last came back from a wait; 0: never */
    uint64_t stream_id;
    uint64_t operations;
    uint32_t period;       /* of recording, from 0 on: between two it was off */
    uint32_t stream;       /* index of its activity, which may be another stream's by now */
    uint32_t gpu_cost_ns;  /* the bracket keeps the GPU from it so long, if it was ready, */
    uint32_t host_cost_ns; /* and takes the host so long */
    bool is_copy;          /* or a prefetch */
};

struct ct_sweep_running {
    struct ct_sweep_op op;
    uint64_t beside_ns; /* the device's, when the operation began */
};

struct ct_sweep_figures {
    struct ct_file_activity sum; /* first_ns, last_ns: on the line */
    struct ct_file_gap gap[CT_SWEEP_OCTAVES];
};

/* All zero at first, but for `streams`. */
struct ct_sweep {
    struct ct_sweep_figures figures;
    struct ct_stream_activity *streams;
    uint32_t period; /* of the newest operation that has begun */
    unsigned waiting_count;
    unsigned running_count;
    unsigned copies;                              /* among the running */
    struct ct_sweep_op waiting[CT_SWEEP_WAITING]; /* a heap, the earliest start first */
    struct ct_sweep_running running[CT_SWEEP_RUNNING];
};

void ct_sweep_add(struct ct_sweep *s, const struct ct_sweep_op *op);

/* No more operations come: all that wait go. */
void ct_sweep_finish(struct ct_sweep *s);

#endif
