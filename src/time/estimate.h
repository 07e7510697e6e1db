/* SPDX-License-Identifier: MIT */
/*
 * From a raw bracket to the duration of the operation inside it. Formula and figures are in
 * doc/accuracy.md, the experiments behind them in lab/bracket.md and its neighbours.
 *
 * A bracket holds more than the operation: the GPU's front end takes a time between the start stamp
 * and the operation's start, and between its end and the stop stamp. That time depends on what the
 * stream's queue holds, and on what else is on the GPU. Where the stream was idle, the start stamp
 * was also taken before the host had even submitted the operation.
 */
#ifndef CT_ESTIMATE_H
#define CT_ESTIMATE_H

#include "base/base.h"
#include "cutrace/format.h"

/* Of event nodes in a device's graphs, in nanoseconds; 0: unknown. */
struct ct_node_figures {
    uint32_t bias_ns;   /* event node to event node minus duration */
    uint32_t spread_ns; /* a process's may be so much more or less */
    uint32_t gap_ns;    /* from kernel to kernel in a graph without event nodes */
    uint32_t doubt_ns;  /* what a duration in a graph may be wrong by, its bias measured */
    uint32_t beside_ns; /* and so much more with other nodes at work beside the kernel */
};

/* Figures of a device, in nanoseconds. */
struct ct_calibration {
    uint32_t source;         /* enum ct_calibration_source */
    uint32_t record_ns;      /* what an event record takes on the GPU; 0: unknown */
    uint32_t bias_busy_ns;   /* bracket minus duration in a stream that has much queued */
    uint32_t bias_ready_ns;  /* the same where little is queued, but the operation was */
    uint32_t bias_copy_ns;   /* bracket minus duration of a copy engine's work */
    uint32_t bias_set_ns;    /* the same of a small set */
    uint32_t bias_wait_ns;   /* the same of a copy whose call returns when it is done */
    uint32_t beside_ns;      /* more at either end of what was ready, with two other streams */
    uint32_t registers_ns;   /* more for a late kernel, a multiprocessor's registers in a block */
    uint32_t late_kib_ns;    /* more for each KiB of a late kernel's parameters, */
    uint32_t busy_kib_ns;    /* of one in a stream that has much queued, */
    uint32_t ready_kib_ns;   /* and of one that was ready where little is */
    uint32_t intake_ns;      /* a stop waits so long, at most, for a submission behind it */
    uint32_t in_time_ns;     /* a stop that is in time by so much always is, within uncertainty_ns */
    uint32_t hop_ns;         /* more, from another engine of the GPU to a copy engine */
    uint32_t gap_busy_ns;    /* longest gap between two brackets on a busy stream */
    uint32_t submit_ns;      /* lead that costs nothing; UINT32_MAX: none ever does */
    uint32_t outside_ns; /* a witness's duration less what it sees of itself, and less what it needs
                            less of the front end than what programs launch */
    uint32_t host_record_ns; /* where a record takes the host longer, late kernels come out longer
                                than witnesses; 0: nowhere */
    uint32_t uncertainty_ns; /* half of the 5..95 % range of single brackets, busy stream */
    uint32_t idle_uncertainty_ns; /* the same in an idle stream */
    uint32_t copy_floor_ns;       /* shortest bracket of a 4-byte copy to the device; 0: unknown */
    uint32_t set_floor_ns;        /* shortest bracket of a 4-byte set; 0: unknown */
    struct ct_node_figures node;
};

/* The engines of a GPU that take a stream's operations. */
enum ct_engine {
    CT_ENGINE_NONE,
    CT_ENGINE_COMPUTE, /* kernels, and what the driver does with them */
    CT_ENGINE_TO_DEVICE,
    CT_ENGINE_TO_HOST,
};

/* Whether its brackets tell anything of the host's time; the simulator's do not. */
static inline bool ct_tells_host(const struct ct_calibration *c)
{
    return c->source != CT_CALIBRATION_NONE && c->submit_ns != UINT32_MAX;
}

/*
 * An operation ends so long before its stop stamp, and a stamp is so long after the moment at which
 * the GPU was told of it, at least. Of a device without figures: an H200's.
 */
static inline uint32_t ct_record_ns(const struct ct_calibration *c)
{
    return c->record_ns ? c->record_ns : 1280;
}

#define CT_GAP_UNKNOWN UINT64_MAX
#define CT_LEAD_UNKNOWN INT64_MAX

/* Clean operations that make a prior. */
#define CT_PRIOR_LEAST 3

/* A stop record that is stamped so soon after its submission has found the stream idle. */
#define CT_LATE_NS 300

/* With a lead up to that the operation was there when the front end came to it. */
#define CT_LEAD_READY_NS (-400)
/* Up to that lead the front end's work and the host's overlap partly; beyond it the GPU waits. */
#define CT_LEAD_WAITS_NS 1800

/* The queue is long where so many records and operations are behind a stop record. */
#define CT_LONG_QUEUE 24

/* A stop of another stream costs as much as a lead that is longer by so much would. */
#define CT_AFTER_STOP_NS 1550

enum ct_work_class {
    CT_CLASS_KERNEL, /* also what the driver does with kernels of its own */
    CT_CLASS_COPY,   /* of a copy engine */
    CT_CLASS_SET,    /* a small set */
    CT_CLASS_WAIT,   /* a copy whose call waits for it */
};

/* What is known of a bracket. Times in nanoseconds. */
struct ct_bracket_times {
    enum ct_work_class work;
    uint32_t block_registers; /* of a kernel's block, all threads together; 0: not known */
    uint32_t parameter_bytes; /* of a kernel; 0: not known */
    bool shared_start;
    bool hopped;           /* what was before it on the stream was another engine's */
    bool long_queue;       /* CT_LONG_QUEUE */
    uint32_t beside;       /* other streams whose brackets span the stop stamp, */
    uint32_t beside_start; /* and the start stamp */
    uint64_t after_other_ns; /* the start stamp is so long after another stream's; 0: none */
    uint64_t taken_ns; /* from the start stamp to a stop of another stream that kept the GPU from
                          the operation; 0: none did */
    uint64_t held_ns;  /* how long the stop record may have waited for those of other streams, */
    bool stalled;      /* or with all of them while the GPU served nobody */
    uint64_t filled_ns; /* from the start stamp to the stop of the last kernel that had begun before
                           and filled the device; 0: none did */
    bool filled_past;   /* one that did has stopped after this operation */
    bool met_intake;   /* the stop may have waited for a submission behind it */
    uint64_t raw_ns;
    uint64_t gap_ns;         /* previous stop stamp to this start stamp, or CT_GAP_UNKNOWN */
    uint64_t record_ns;      /* the host's time in the start record, */
    uint64_t launch_ns;      /* from its end to the end of the call, */
    uint64_t stop_record_ns; /* and in the stop record */
    uint64_t told_ns; /* the GPU was told of the operation so long before the call returned */
    int64_t witness_ns; /* late kernels of this process are known to come out so much too long */
    /*
     * On the GPU's clock, CT_LEAD_UNKNOWN while it is not tied to the host's: from the start stamp
     * to where a record would be stamped of which the GPU was told when it was of the operation,
     * and from where the stop record would be stamped on an idle stream to where it was.
     */
    int64_t lead_ns;
    int64_t slack_ns;
    /*
     * In a place among other threads' operations (place.h): the lead is what it is at most, the
     * slack at least, and so many other operations share what is between the stamps.
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
    bool is_bound;    /* settled, but only bounds told where */
    bool was_held;    /* bounds: its stop record may have waited for other streams, */
    bool was_stalled; /* or with them */
    bool was_crowded; /* or with so many that the bounds tell nothing of a shorter wait */
    bool was_late;    /* a kernel that the GPU had to wait for */
    bool was_alone;   /* ct_gpu_waited(), and at its stop no other stream had anything in flight */
    uint64_t time_ns;
    uint64_t low_ns;
    uint64_t high_ns;
    uint64_t doubt_ns; /* by how much time_ns may be wrong */
    int64_t witness_ns; /* what is taken off late kernels by now, whether it was one or not */
};

/* The operations of a row so far: the clean ones, and those that may have waited. */
struct ct_prior {
    uint64_t count;
    uint64_t total_ns;
    uint64_t median_ns; /* about */
    uint64_t late;      /* of the clean ones: kernels that were, */
    int64_t witness_ns; /* and the total of what was taken off them by what witnesses told */
    uint64_t alone;     /* of the clean ones: kernels that were, */
    uint64_t alone_ns;  /* and their median, about */
    uint64_t held;
    bool has_uncrowded;   /* of these some were not crowded: then only they count for */
    uint64_t held_low_ns; /* a low percentile of their upper bounds */
};

/*
 * Figures for a device by its name; source NONE for unknown devices. Where hosts differ: of the
 * slowest on which a record takes no longer than was seen here. `seen_ns` is never less than it
 * takes, give or take a tenth: while few records are queued the GPU waits for the next. 0: nothing
 * was seen.
 */
const struct ct_calibration *ct_calibration_of(const char *device_name, uint32_t seen_ns);
/* Whether hosts differ with this device. */
bool ct_calibration_varies(const char *device_name);

struct ct_estimate ct_estimate(const struct ct_calibration *c, const struct ct_bracket_times *t);

/* The same of an operation of a row of which that much is known. */
struct ct_estimate ct_estimate_in_row(const struct ct_calibration *c,
                                      const struct ct_bracket_times *t,
                                      const struct ct_prior *prior);

/* What two event nodes have more than the kernel between them. */
struct ct_node_bias {
    uint64_t bias_ns;
    uint64_t doubt_ns; /* either way */
};

/*
 * `added_ns`: what event nodes have added to graphs that were launched without them as well. Their
 * way leads through `least` to `most` kernels. No kernels, or too few of them for certain: the
 * device's figure serves.
 */
struct ct_node_bias ct_estimate_node_bias(const struct ct_node_figures *f, int64_t added_ns,
                                          uint64_t least, uint64_t most);

/*
 * Where there are only bounds, the mean of the row's clean operations tells where in between, or
 * where next to none is clean, the lowest bounds. All are added to the prior.
 */
void ct_estimate_settle(struct ct_estimate *e, struct ct_prior *prior);

#endif
