/* SPDX-License-Identifier: MIT */
/*
 * Inside of a thread's ranges (range.h): the tree, and records on their way to the drain thread.
 * For range.c, and for the drain thread's range_sums.c.
 */
#ifndef CT_RANGE_TREE_H
#define CT_RANGE_TREE_H

#include "counts/range.h"

#define CT_RANGE_INDEX (2 * CT_RANGE_NODES)
#define CT_RANGE_RECORDS 4096
#define CT_RANGE_ENDED 16 /* ends by other threads that the tree's thread has not seen yet */

struct ct_open_range {
    uint64_t id; /* for ct_range_end(); 0: the range is popped */
    uint64_t start_ticks;
    uint32_t node;      /* the path up to here */
    uint32_t opened_as; /* the node at the opening, which counts the range */
    bool counts;        /* recording was on at the opening */
    struct ct_origin origin;
};

struct ct_range_record {
    uint32_t node;
    uint32_t number; /* in the trace; 0: a pushed range, or a mark */
    uint64_t start_ticks;
    uint64_t end_ticks; /* 0: the range begins, for the trace alone */
};

struct ct_ranges {
    struct ct_ranges *next; /* list of all trees; never changes */
    uint32_t depth;
    uint32_t tid; /* 0: no thread has the tree at the moment */
    uint64_t starts;
    uint32_t level[CT_RANGE_DOMAINS]; /* ranges pushed and not popped */
    uint32_t kept[CT_RANGE_DOMAINS];  /* as many of these are in `open` */
    struct ct_open_range open[CT_RANGE_DEPTH];
    uint16_t index[CT_RANGE_INDEX];
    _Atomic uint64_t threads;
    _Atomic uint32_t first_tid;
    _Atomic uint32_t nodes;
    struct ct_range_node node[CT_RANGE_NODES];
    struct ct_range_call calls[CT_RANGE_CALLS];
    struct ct_ring ring;
    struct ct_range_record records[CT_RANGE_RECORDS];
    _Atomic uint64_t dropped; /* records that found no room */
    uint64_t dropped_taken;   /* by the drain thread */
    struct {
        _Atomic uint64_t id; /* 0: free; BUSY: being written */
        uint64_t ticks;
    } ended[CT_RANGE_ENDED];
    struct ct_range_sums sums[CT_RANGE_NODES];
};

void ct_range_lose(enum ct_range_loss loss, uint64_t n);

#endif
