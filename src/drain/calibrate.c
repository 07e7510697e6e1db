/* SPDX-License-Identifier: MIT */
#include "drain/calibrate.h"

#include <time.h>

#include "cutrace/format.h"
#include "launch/calibration.h"
#include "state/note.h"
#include "system/clock.h"
#include "system/mem.h"
#include "time/figures.h"
#include "time/op.h"

#define FEWEST_BUSY 40   /* trials that the busy figures are taken from */
#define FEWEST_LOOKS 400 /* before the limit counts: a thread with no time to look has not waited  \
                          */
#define QUIET_NS 350
#define COARSEST_NS 2048 /* a kernel's clock with longer steps is no use */

/* Each launch of a batch spins longer than the one before: no phase of a clock is met twice. */
#define SPIN_NS 4000
#define SPIN_MORE_NS 150
#define AHEAD_GROWTH 4 /* if the launch ahead ended too early */
#define AHEAD_SLOT CT_JOB_BATCH
#define HOST_PAUSE_NS 3000 /* between start record and launch in an idle stream, at least */
#define HOST_MORE_NS 400   /* and so much more with each launch */

_Static_assert(AHEAD_SLOT < CT_SELFTIMED_SLOTS, "a slot for each launch");

/* Notes for a device without figures in the table, and for one with them. */
static const char *const too_slow[] = {
    "Calibration on the device did not end in 50 ms: its durations are raw brackets",
    "Calibration on the device did not end in 50 ms: the figures of known devices are used",
};
/* ---- events ---- */

static CUevent event(const struct ct_calibration_job *j, uint32_t index)
{
    return ct_event(j->context, index);
}

static bool take_events(struct ct_calibration_job *j)
{
    j->last = ct_event_take(j->context);
    bool ok = j->last != CT_EVENT_NONE;
    for (uint32_t i = 0; i < CT_JOB_BATCH; i++) {
        j->start[i] = ct_event_take(j->context);
        j->stop[i] = ct_event_take(j->context);
        ok = ok && j->start[i] != CT_EVENT_NONE && j->stop[i] != CT_EVENT_NONE;
    }
    return ok;
}

static void give_event(struct ct_calibration_job *j, uint32_t index)
{
    if (index != CT_EVENT_NONE)
        ct_event_give(j->context, index);
}

static void give_events(struct ct_calibration_job *j)
{
    give_event(j, j->last);
    for (uint32_t i = 0; i < CT_JOB_BATCH; i++) {
        give_event(j, j->start[i]);
        give_event(j, j->stop[i]);
    }
}

static bool record(const struct ct_calibration_job *j, uint32_t index)
{
    return CT_ASK_IN(j->context, cuEventRecord, event(j, index), j->stream) == CUDA_SUCCESS;
}

static bool elapsed_ns(const struct ct_calibration_job *j, uint32_t from, uint32_t to, int64_t *ns)
{
    return ct_elapsed_ns(j->context, from, to, ns);
}

/* ---- submissions ---- */

/* All later entries wait in the stream until the host has queued them all. */
static bool go_ahead(const struct ct_calibration_job *j)
{
    return ct_job_spin(j, j->ahead_ns, AHEAD_SLOT);
}

static bool end_with_read(struct ct_calibration_job *j)
{
    j->awaited = j->last;
    return ct_job_read(j, CT_JOB_BATCH + 1) && record(j, j->last);
}

static bool submit_busy(struct ct_calibration_job *j)
{
    uint64_t from = ct_ticks();
    bool ok = go_ahead(j);
    for (uint32_t i = 0; ok && i < CT_JOB_BATCH; i++) {
        ok = record(j, j->start[i]) && ct_job_spin(j, SPIN_NS + i * SPIN_MORE_NS, i) &&
             record(j, j->stop[i]);
        j->queued_ns[i] = (int64_t)ct_ticks_to_ns(ct_ticks() - from);
    }
    return ok && end_with_read(j);
}

static void pause_until(uint64_t ticks)
{
    while (ct_ticks() < ticks)
        ;
}

/* One launch at a time: the stream has to be idle before each. */
static bool submit_idle(struct ct_calibration_job *j)
{
    uint32_t i = j->launched;
    if (!record(j, j->start[i]))
        return false;
    uint64_t from = ct_ticks();
    pause_until(from + ct_ns_to_ticks(HOST_PAUSE_NS + i * HOST_MORE_NS));
    bool ok = ct_job_spin(j, SPIN_NS + i * SPIN_MORE_NS, i);
    j->trials[i].host_ns = (int64_t)ct_ticks_to_ns(ct_ticks() - from);
    j->launched++;
    j->awaited = j->stop[i];
    return ok && record(j, j->stop[i]) && (j->launched < CT_JOB_BATCH || end_with_read(j));
}

/* The smallest set and the smallest copy there are, half of the batch each. */
static bool submit_floors(struct ct_calibration_job *j)
{
    CUdeviceptr at = j->stamps[0];
    const void *from = (const void *)(uintptr_t)&j->kernels.words[1];
    bool ok = go_ahead(j);
    for (uint32_t i = 0; ok && i < CT_JOB_BATCH; i++)
        ok = record(j, j->start[i]) &&
             (i < CT_JOB_BATCH / 2 ? CT_ASK_IN(j->context, cuMemsetD32Async, at, 0, 1, j->stream)
                                   : CT_ASK_IN(j->context, cuMemcpyHtoDAsync_v2, at, from, 4,
                                               j->stream)) == CUDA_SUCCESS &&
             record(j, j->stop[i]);
    j->awaited = j->last;
    return ok && record(j, j->last);
}

/* ---- readings ---- */

/* False: the memory may have gone with its context. */
static bool take_stamps(struct ct_calibration_job *j)
{
    if (ct_context_is_barred(j->context))
        return false;
    for (unsigned i = 0; i < ct_countof(j->stamps); i++)
        j->stamps[i] = j->kernels.words[i];
    return true;
}

static uint64_t begin_of(const struct ct_calibration_job *j, uint32_t slot)
{
    return j->stamps[1 + 2 * slot];
}

static uint64_t end_of(const struct ct_calibration_job *j, uint32_t slot)
{
    return j->stamps[2 + 2 * slot];
}

/* Sets the batch's trials but for their host_ns. */
static bool read_trials(struct ct_calibration_job *j, struct ct_trial *t)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < CT_JOB_BATCH; i++) {
        t[i].inside_ns = (int64_t)(end_of(j, i) - begin_of(j, i));
        t[i].gap_ns = -1;
        t[i].following = 3 * (CT_JOB_BATCH - 1 - i) + 2;
        ok = elapsed_ns(j, j->start[i], j->stop[i], &t[i].raw_ns) &&
             (!i || elapsed_ns(j, j->stop[i - 1], j->start[i], &t[i].gap_ns));
    }
    return ok;
}

/*
 * The kernel ahead began after the host had begun to launch it. So a trial that took the host less
 * time to queue than the GPU to get there had been queued by then.
 */
static bool read_busy(struct ct_calibration_job *j)
{
    struct ct_trial *t = &j->trials[j->batches * CT_JOB_BATCH];
    bool all = true;
    if (!read_trials(j, t))
        return false;
    for (uint32_t i = 0; i < CT_JOB_BATCH; i++) {
        int64_t got_there_ns = (int64_t)(begin_of(j, i) - begin_of(j, AHEAD_SLOT));
        t[i].in_time = j->queued_ns[i] < got_there_ns;
        all = all && t[i].in_time;
    }
    if (!all)
        j->ahead_ns *= AHEAD_GROWTH;
    j->batches++;
    return true;
}

static bool is_timer_good(const struct ct_calibration_job *j)
{
    uint64_t step = ct_figures_timer_step(&j->stamps[1], 2 * CT_JOB_BATCH);
    return step && step <= COARSEST_NS;
}

static bool read_floor(const struct ct_calibration_job *j, uint32_t first, uint32_t *floor_ns)
{
    int64_t least_ns = INT64_MAX, ns;
    for (uint32_t i = first; i < first + CT_JOB_BATCH / 2; i++) {
        if (!elapsed_ns(j, j->start[i], j->stop[i], &ns))
            return false;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    *floor_ns = least_ns > 0 && least_ns < UINT32_MAX ? (uint32_t)least_ns : 0;
    return true;
}

/* ---- one thing after the other ---- */

static void enter(struct ct_calibration_job *j, uint32_t phase)
{
    j->launched = 0;
    j->awaited = CT_EVENT_NONE;
    atomic_store_explicit(&j->phase, phase, memory_order_relaxed);
}

/* The busy batches: until enough were queued in time. */
static bool go_on_busy(struct ct_calibration_job *j)
{
    if (j->awaited != CT_EVENT_NONE) {
        if (!is_timer_good(j) || !read_busy(j))
            return false;
        uint32_t n = j->batches * CT_JOB_BATCH;
        bool enough = ct_figures_count_busy(j->trials, n) >= FEWEST_BUSY;
        if (enough || j->batches == CT_JOB_BUSY_BATCHES) {
            enter(j, CT_JOB_IDLE);
            return ct_figures_busy(j->trials, n, &j->figures) && submit_idle(j);
        }
    }
    return submit_busy(j);
}

static bool go_on_idle(struct ct_calibration_job *j)
{
    if (j->launched < CT_JOB_BATCH)
        return submit_idle(j);
    if (!read_trials(j, j->trials) || !ct_figures_idle(j->trials, CT_JOB_BATCH, &j->figures))
        return false;
    enter(j, CT_JOB_FLOORS);
    return submit_floors(j);
}

/* True: all is well; *over: there is nothing left to do. */
static bool go_on(struct ct_calibration_job *j, bool *over)
{
    *over = false;
    switch (atomic_load_explicit(&j->phase, memory_order_relaxed)) {
    case CT_JOB_READY:
        enter(j, CT_JOB_BUSY);
        j->limit_ns = ct_clock_monotonic_ns() + CT_JOB_LIMIT_NS;
        return take_events(j) && go_on_busy(j);
    case CT_JOB_BUSY:
        return go_on_busy(j);
    case CT_JOB_IDLE:
        return go_on_idle(j);
    default:
        *over = true;
        return read_floor(j, 0, &j->figures.set_floor_ns) &&
               read_floor(j, CT_JOB_BATCH / 2, &j->figures.copy_floor_ns);
    }
}

/* Beside the program's own work the figures are worse than those of a known device. */
static bool is_quiet(const struct ct_calibration *c)
{
    return c->uncertainty_ns <= QUIET_NS && c->idle_uncertainty_ns <= QUIET_NS;
}

/* A copy may stand behind a waiting one of the program's: the rest is good without the floors. */
static void finish(struct ct_calibration_job *j, bool ok, const char *const *why)
{
    uint32_t device = j->context->device;
    const struct ct_device *d = ct_device(device);
    ok = ok || atomic_load_explicit(&j->phase, memory_order_relaxed) == CT_JOB_FLOORS;
    if (!ok) {
        ct_note(CT_NOTE_WARNING, why[ct_device_is_known(d)]);
    } else if (is_quiet(&j->figures) || !ct_device_is_known(d)) {
        j->figures.source = CT_CALIBRATION_DEVICE;
        j->figures.node = d->calibration->node; /* not measured here */
        ct_figures_finish(&j->figures);
        ct_device_calibrated(device, &j->figures);
    }
    give_events(j);
    /* One more stream on the GPU costs every bracket 0.2 us; to destroy it waits for nothing. */
    CT_ASK_IN(j->context, cuStreamDestroy_v2, j->stream);
    ct_job_over(j);
}

/* Chooses by the records of the job, once they are complete. With the context current. */
static void look_at_records(struct ct_calibration_job *j, bool too_late)
{
    const struct ct_context *c = j->context;
    CUresult r = CT_ASK_IN(c, cuEventQuery, ct_record_cost_last(&j->record_cost, c));
    if (r == CUDA_ERROR_NOT_READY && !too_late)
        return;
    uint32_t record_ns = r == CUDA_SUCCESS ? ct_record_cost_read(&j->record_cost, c) : 0;
    if (r != CUDA_SUCCESS)
        ct_note(CT_NOTE_WARNING, ct_record_cost_unknown);
    ct_device_calibrated(c->device, ct_calibration_of(ct_device(c->device)->name, record_ns));
    ct_record_cost_end(&j->record_cost, j->context);
    ct_job_over(j);
}

static void look(struct ct_calibration_job *j, bool too_late)
{
    bool over = false;
    CUresult r = j->awaited == CT_EVENT_NONE
                     ? CUDA_SUCCESS
                     : CT_ASK_IN(j->context, cuEventQuery, event(j, j->awaited));
    if (r == CUDA_ERROR_NOT_READY && !too_late)
        return;
    if (r != CUDA_SUCCESS || too_late)
        finish(j, false, too_late ? too_slow : ct_calibration_failed);
    else if (!take_stamps(j) || !go_on(j, &over) || over)
        finish(j, over, ct_calibration_failed);
}

static bool is_late(struct ct_calibration_job *j)
{
    return j->looks++ >= FEWEST_LOOKS && ct_clock_monotonic_ns() > j->limit_ns;
}

static void step(struct ct_calibration_job *j, bool crowded)
{
    CUcontext before;
    struct ct_context *c = j->context;
    uint32_t phase = atomic_load_explicit(&j->phase, memory_order_acquire);
    bool too_late = crowded || j->overdue || is_late(j);
    if (phase == CT_JOB_LOADING) {
        j->overdue = too_late;
        return;
    }
    if (phase == CT_JOB_OVER)
        return;
    if (atomic_load_explicit(&c->state, memory_order_acquire) != CT_CONTEXT_LIVE ||
        !ct_context_enter(c, &before)) {
        ct_job_over(j);
        return;
    }
    if (phase == CT_JOB_CHOOSING)
        look_at_records(j, too_late);
    else
        look(j, too_late);
    ct_context_leave(c, before);
}

/* Waiting brackets keep their events: with half of the pool in them the job has to end. */
static bool is_crowded(const struct ct_calibration_job *j, uint64_t pending)
{
    return pending > j->context->events.pool[CT_EVENT_TIMED].limit / 4;
}

bool ct_calibrate_step(uint64_t pending)
{
    if (!atomic_load_explicit(&ct_calibrations_under_way, memory_order_relaxed))
        return false;
    for (uint32_t i = 0; i < ct_devices_count(); i++) {
        struct ct_calibration_job *j =
            atomic_load_explicit(&ct_calibration_jobs[i], memory_order_acquire);
        if (j)
            step(j, is_crowded(j, pending));
    }
    return true;
}

bool ct_calibrate_holds(uint32_t device)
{
    struct ct_calibration_job *j =
        atomic_load_explicit(&ct_calibration_jobs[device], memory_order_acquire);
    return j && !ct_job_is_over(j) && !j->overdue;
}

void ct_calibrate_leave(struct ct_context *c)
{
    struct ct_calibration_job *j =
        atomic_load_explicit(&ct_calibration_jobs[c->device], memory_order_acquire);
    if (!j || j->context != c)
        return;
    while (!ct_job_is_over(j) && !j->overdue) {
        step(j, false);
        nanosleep(&(struct timespec){.tv_nsec = CT_JOB_NAP_NS}, NULL);
    }
}

void ct_calibrate_give_up(void)
{
    for (uint32_t i = 0; i < CT_DEVICES; i++) {
        struct ct_calibration_job *j =
            atomic_load_explicit(&ct_calibration_jobs[i], memory_order_acquire);
        if (j && !ct_job_is_over(j) &&
            atomic_load_explicit(&j->phase, memory_order_acquire) != CT_JOB_LOADING)
            ct_job_over(j);
        else if (j)
            j->overdue = true;
    }
}
