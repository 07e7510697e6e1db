/* SPDX-License-Identifier: MIT */
/* Operations of a trace, added up as the library does it in the process: memory is for rows. */
#ifndef CT_REPORT_TRACE_SUMS_H
#define CT_REPORT_TRACE_SUMS_H

#include "format/trace_read.h"
#include "report/profile/sizes.h"

/* Numbers are those of the trace's tables. */
struct ct_trace_sum {
    uint32_t row;
    uint32_t group;             /* a stream or a range; 0 unless each is by itself */
    struct ct_file_row figures; /* fields that operations tell; the rest is zero */
    struct ct_merged_hist hist;
    struct ct_merged_sizes sizes; /* of operations without a shape */
};

/* How often a sum's operations had a shape. */
struct ct_trace_launches {
    uint32_t sum;
    uint32_t shape;
    uint64_t count;
};

/* A sum's operations that were launched from one frame. */
struct ct_trace_stack {
    uint32_t sum;
    uint32_t frame; /* 0: not known */
    uint64_t count;
    uint64_t total_ns;
};

/* All calls of a function. */
struct ct_trace_call_sum {
    struct ct_file_api figures;
    struct ct_merged_hist hist;
};

/* Set the first two; all else zero at first. */
struct ct_trace_sums {
    bool per_stream;
    bool with_stacks;
    struct ct_key_table keys; /* group and row; numbers are indices, here and below */
    struct ct_trace_sum *at;
    size_t size;
    struct ct_key_table launch_keys; /* these and shape */
    struct ct_trace_launches *launches;
    size_t launches_size;
    struct ct_key_table stack_keys; /* sum and frame */
    struct ct_trace_stack *stacks;
    size_t stacks_size;
    struct ct_trace_call_sum *calls; /* by function, as the trace's table has them */
    uint32_t call_count;
    size_t calls_size;
};

void ct_trace_sums_add(struct ct_trace_sums *s, const struct ct_trace_op *op);
/* Also of an operation that is in several groups: in each. */
void ct_trace_sums_add_to(struct ct_trace_sums *s, const struct ct_trace_op *op, uint32_t group);
void ct_trace_sums_call(struct ct_trace_sums *s, const struct ct_trace_call *call);
void ct_trace_sums_free(struct ct_trace_sums *s);

#endif
