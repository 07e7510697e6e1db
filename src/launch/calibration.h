/* SPDX-License-Identifier: MIT */
/*
 * The measurement of a device's figures by self-timed kernels (drain/calibrate.h): the part of the
 * thread that makes the first bracket in a context, and the job that it leaves to the drain thread.
 */
#ifndef CT_CALIBRATION_H
#define CT_CALIBRATION_H

#include <stdatomic.h>

#include "base/base.h"
#include "launch/record_cost.h"
#include "launch/selftimed.h"
#include "state/context.h"
#include "state/stream.h"
#include "time/figures.h"

#define CT_JOB_BATCH 24 /* launches between two looks */
#define CT_JOB_BUSY_BATCHES 4
#define CT_JOB_LIMIT_NS 50000000u
#define CT_JOB_NAP_NS 50000

enum ct_job_phase {
    CT_JOB_LOADING,  /* launching thread: the kernels are being loaded */
    CT_JOB_CHOOSING, /* drain thread, as all below: an entry of the table is chosen */
    CT_JOB_READY,    /* the kernels are loaded, figures can be measured */
    CT_JOB_BUSY,
    CT_JOB_IDLE,
    CT_JOB_FLOORS,
    CT_JOB_OVER,
};

struct ct_calibration_job {
    _Atomic uint32_t phase;
    uint64_t limit_ns; /* CLOCK_MONOTONIC; of the loading, then of the rest */
    bool overdue;      /* loading takes too long: brackets wait no more */
    struct ct_context *context;
    CUstream stream;
    struct ct_selftimed kernels;
    uint64_t stamps[CT_SELFTIMED_WORDS]; /* copied, as the context's memory may go */

    uint32_t looks;
    uint64_t ahead_ns;
    int64_t queued_ns[CT_JOB_BATCH]; /* host time, launch ahead to each stop record */
    uint32_t batches;                /* busy batches that are through */
    uint32_t launched;               /* launches of the idle batch */
    uint32_t start[CT_JOB_BATCH], stop[CT_JOB_BATCH], last; /* events of the context's pool */
    uint32_t awaited; /* the last event submitted; NONE: none was */
    struct ct_record_cost record_cost;
    struct ct_trial trials[CT_JOB_BATCH * CT_JOB_BUSY_BATCHES];
    struct ct_calibration figures;
};

/* The jobs by device, each made by the first thread that comes there; never freed. */
extern struct ct_calibration_job *_Atomic ct_calibration_jobs[CT_DEVICES];
extern _Atomic uint32_t ct_calibrations_under_way;

/* Notes for a device without figures in the table, and for one with them. */
extern const char *const ct_calibration_failed[2];
extern const char ct_record_cost_unknown[];

/*
 * First work in a context is about to be submitted to the stream; `first`: no operation went by
 * while recording was off. Launching thread, with its own cache of the context's events.
 */
void ct_calibrate_prepare(struct ct_context *c, const struct ct_stream *s,
                          struct ct_event_cache *cache, bool first);

/*
 * Then, with the drain thread awake: waits for figures that are being measured in this context, 50
 * ms at most.
 */
void ct_calibrate_await(const struct ct_context *c);

/* ---- jobs ---- */

/* Both tell whether the launch was made. */
bool ct_job_spin(const struct ct_calibration_job *j, uint64_t ns, uint32_t slot);
bool ct_job_read(const struct ct_calibration_job *j, uint32_t slots);
/* The thread that has the job is done with it, and with its context. */
void ct_job_over(struct ct_calibration_job *j);

static inline bool ct_job_is_over(struct ct_calibration_job *j)
{
    return atomic_load_explicit(&j->phase, memory_order_acquire) == CT_JOB_OVER;
}

static inline bool ct_device_is_known(const struct ct_device *d)
{
    return d->calibration->source != CT_CALIBRATION_NONE;
}

#endif
