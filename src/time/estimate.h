/* SPDX-License-Identifier: MIT */
/*
 * From a raw bracket to the duration of the operation inside it. Formula and figures are in
 * doc/accuracy.md, the experiments behind them in lab/bracket.md and its neighbours.
 *
 * A bracket holds more than the operation: the GPU's front end takes a time between the start stamp
 * and the operation's start, and between its end and the stop stamp. That time depends on the
 * stream's queue, and on other work on the GPU. Where the stream was idle, the start stamp
 * was also taken before the host had even submitted the operation.
 */
#ifndef CT_ESTIMATE_H
#define CT_ESTIMATE_H

#include "base/base.h"
#include "time/figures.h"

/* The engines of a GPU that take a stream's operations. */
enum ct_engine {
    CT_ENGINE_NONE,
    CT_ENGINE_COMPUTE, /* kernels, and driver calls that launch some */
    CT_ENGINE_TO_DEVICE,
    CT_ENGINE_TO_HOST,
};

#define CT_GAP_UNKNOWN UINT64_MAX
#define CT_LEAD_UNKNOWN INT64_MAX

/* Clean operations that make a prior. */
#define CT_PRIOR_LEAST 3

enum ct_work_class {
    CT_CLASS_KERNEL, /* also driver calls that launch kernels */
    CT_CLASS_COPY,   /* of a copy engine */
    CT_CLASS_SET,    /* a small set */
    CT_CLASS_WAIT,   /* a copy whose call waits for it */
};

/* The facts of a bracket. Times in nanoseconds. */
struct ct_bracket_times {
    enum ct_work_class work;
    uint32_t block_registers; /* of a kernel's block, all threads together; 0: not known */
    uint32_t parameter_bytes; /* of a kernel; 0: not known */
    bool shared_start;
    bool hopped;        /* another engine's work was before it on the stream */
    bool long_queue;    /* CT_LONG_QUEUE */
    uint64_t filled_ns; /* from the start stamp to the stop of the last kernel that had begun before
                           and filled the device; 0: none did */
    bool filled_past;   /* one that did has stopped after this operation */
    bool met_intake;    /* the stop may have waited for a submission behind it */
    uint64_t raw_ns;
    uint64_t gap_ns;         /* previous stop stamp to this start stamp, or CT_GAP_UNKNOWN */
    uint64_t record_ns;      /* the host's time in the start record, */
    uint64_t launch_ns;      /* from its end to the end of the call, */
    uint64_t stop_record_ns; /* and in the stop record */
    uint64_t told_ns;   /* the GPU was told of the operation so long before the call returned */
    int64_t witness_ns; /* late kernels of this process are known to come out so much too long */
    /*
     * On the GPU's clock, CT_LEAD_UNKNOWN while it is not tied to the host's: from the start stamp
     * to where a record would be stamped of which the GPU was told when it was of the operation,
     * and from where the stop record would be stamped on an idle stream to where it was.
     */
    int64_t lead_ns;
    int64_t slack_ns;
    /*
     * In a place among other threads' operations (place.h): the lead is an upper bound, the slack a
     * lower one, and so many other operations share the time between the stamps.
     */
    bool is_placed;
    bool is_torn; /* and something that was not timed was there, too */
    uint32_t with;
    int64_t least_lead_ns;
};

/* A kernel that the GPU was told of only when it had done with all that was before. */
static inline bool ct_gpu_waited(const struct ct_bracket_times *t)
{
    return t->work == CT_CLASS_KERNEL && t->lead_ns != CT_LEAD_UNKNOWN &&
           t->lead_ns > CT_LEAD_WAITS_NS;
}

/* The duration, which is known well or only to lie between two bounds. */
struct ct_estimate {
    bool is_clean;
    bool is_bound; /* settled, but only bounds told where */
    bool was_held; /* bounds: its end was asked for, and may have been long before */
    bool was_late; /* a kernel that the GPU had to wait for */
    uint64_t time_ns;
    uint64_t low_ns;
    uint64_t high_ns;
    uint64_t doubt_ns;  /* by how much time_ns may be wrong */
    int64_t witness_ns; /* taken off late kernels by now, whether it was one or not */
};

/* The operations of a row so far: the clean ones, and those that may have waited. */
struct ct_prior {
    uint64_t count;
    uint64_t total_ns;
    uint64_t median_ns; /* about */
    uint64_t late;      /* of the clean ones: kernels that were, */
    int64_t witness_ns; /* and the total that was taken off them by witnesses */
    uint64_t held;
    uint64_t held_low_ns; /* a low percentile of their upper bounds */
};

struct ct_estimate ct_estimate(const struct ct_calibration *c, const struct ct_bracket_times *t);

/* The time between two event nodes less the kernel's. */
struct ct_node_bias {
    uint64_t bias_ns;
    uint64_t doubt_ns; /* either way */
};

/*
 * `added_ns`: the time that event nodes have added to graphs launched without them as well. Their
 * way leads through `least` to `most` of them. None, or too few for certain: the device's figure
 * serves.
 */
struct ct_node_bias ct_estimate_node_bias(const struct ct_node_figures *f, int64_t added_ns,
                                          uint64_t least, uint64_t most);

/*
 * Where there are only bounds, the mean of the row's clean operations tells where in between, or
 * where next to none is clean, the lowest bounds. All are added to the prior.
 */
void ct_estimate_settle(struct ct_estimate *e, struct ct_prior *prior);

#endif
