/* SPDX-License-Identifier: MIT */
/*
 * Times of kernels inside graphs: sums by the graph's row and the kernel's name, over the runs in
 * which event nodes stood around them (replica.h). They are a part of the graph's own time, so no
 * row. Drain thread, or whoever has the lock of the round.
 *
 * The sums are from event node to event node. By how much that is longer than the kernels differs
 * from process to process: graphs that are launched with event nodes and without tell it.
 */
#ifndef CT_NODE_TIME_H
#define CT_NODE_TIME_H

#include "base/base.h"
#include "time/estimate.h"

#define CT_NODE_TIMES 16384
#define CT_NODE_STACK_TIMES 16384
#define CT_NODE_GRAPHS 2048

struct ct_node_time {
    uint32_t row;     /* of the graph */
    const char *name; /* interned */
    uint64_t timed;   /* runs of kernel nodes: all below is of these. Times in ns */
    uint64_t beside;  /* runs in which other nodes may have run meanwhile */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    double square_ns2;
};

/* Kernels of one row and name that are from one stack. */
struct ct_node_stack_time {
    uint64_t timed;
    uint64_t total_ns; /* from event node to event node */
};

/* False: no memory. */
bool ct_node_times_init(void);

/* One run of one kernel node. `raw_ns`: from event node to event node; stack 0: none. */
void ct_node_time_add(uint32_t row, const char *name, uint32_t stack, uint64_t raw_ns, bool beside);

/* One run of a graph: the times of its kernels that were alone, so many, added up. */
void ct_node_time_add_line(uint32_t row, uint64_t raw_ns, uint64_t kernels);

/*
 * One run of a graph, from the event node before all others to the one behind them. The way that
 * took the time leads through so many event nodes more, at least and at most.
 */
void ct_node_time_add_graph(uint32_t row, uint64_t raw_ns, uint64_t least, uint64_t most);

/* NULL: none was timed. */
const struct ct_node_time *ct_node_time_find(uint32_t row, const char *name);

/* Zero: none was timed. */
struct ct_node_stack_time ct_node_stack_time(uint32_t row, const char *name, uint32_t stack);

/* Compares graphs with event nodes and without, as they are timed by now. */
void ct_node_times_settle(void);

/* The bias in a graph, by its own launches or by those of the device's other graphs. */
struct ct_node_bias ct_node_bias_of(uint32_t row);

#endif
