/* SPDX-License-Identifier: MIT */
#include "launch/calibration.h"

#include <time.h>

#include "base/config.h"
#include "cutrace/format.h"
#include "state/note.h"
#include "system/cancel.h"
#include "system/clock.h"
#include "system/mem.h"
#include "time/op.h"

#define LOAD_LIMIT_NS 1000000000u
#define AHEAD_NS 250000 /* spun ahead of a busy batch, while the host queues the batch */

CT_PROCESS struct ct_calibration_job *_Atomic ct_calibration_jobs[CT_DEVICES];
CT_PROCESS _Atomic uint32_t ct_calibrations_under_way;

const char *const ct_calibration_failed[] = {
    "Calibration on the device failed: its durations are raw brackets",
    "Calibration on the device failed: the figures of known devices are used",
};
const char ct_record_cost_unknown[] =
    "How long an event record takes on this host did not show: the commonest is taken for true";

bool ct_job_spin(const struct ct_calibration_job *j, uint64_t ns, uint32_t slot)
{
    return ct_selftimed_launch(&j->kernels, j->stream, ns, slot) == CUDA_SUCCESS;
}

bool ct_job_read(const struct ct_calibration_job *j, uint32_t slots)
{
    return ct_selftimed_launch_read(&j->kernels, j->stream, slots) == CUDA_SUCCESS;
}

void ct_job_over(struct ct_calibration_job *j)
{
    atomic_store_explicit(&j->phase, CT_JOB_OVER, memory_order_release);
    atomic_fetch_sub_explicit(&j->context->users, 1, memory_order_release);
    atomic_fetch_sub_explicit(&ct_calibrations_under_way, 1, memory_order_relaxed);
}

static bool can_calibrate(void)
{
    return ct_selftimed_is_possible() && CT_HAS(cuStreamCreate) && CT_HAS(cuStreamDestroy_v2) &&
           CT_HAS(cuMemsetD32Async) && CT_HAS(cuMemcpyHtoDAsync_v2);
}

/* Both kernels are launched once, so that the driver has nothing left to load later. */
static bool load(struct ct_calibration_job *j)
{
    return ct_selftimed_load(&j->kernels, j->context) &&
           CT_ASK_IN(j->context, cuStreamCreate, &j->stream, CU_STREAM_NON_BLOCKING) ==
               CUDA_SUCCESS &&
           ct_job_spin(j, 0, 0) && ct_job_read(j, 1);
}

static bool load_in_context(struct ct_calibration_job *j)
{
    CUcontext before;
    CUstreamCaptureMode mode;
    if (!ct_relaxed_enter(&mode))
        return false;
    bool ok = ct_context_enter(j->context, &before);
    if (ok) {
        ok = load(j);
        ct_context_leave(j->context, before);
    }
    ct_relaxed_leave(mode);
    return ok;
}

/* The context's entry must not serve another context during the job. */
static void hold(struct ct_context *c)
{
    atomic_fetch_add_explicit(&c->users, 1, memory_order_acquire);
    atomic_fetch_add_explicit(&ct_calibrations_under_way, 1, memory_order_relaxed);
}

/* Measuring has a price (finish() in calibrate.c): a known device is measured only if asked for. */
static bool is_wanted(const struct ct_device *d)
{
    return ct_config.calibrate == CT_CALIBRATE_ON ||
           (ct_config.calibrate == CT_CALIBRATE_AUTO && !ct_device_is_known(d));
}

/* The records that tell which figures hold need no stream or kernel, and nobody waits for them. */
static bool has_choice(const struct ct_device *d)
{
    return ct_config.calibrate == CT_CALIBRATE_AUTO && ct_calibration_varies(d->name);
}

/* A job for a device that has had none; NULL: it has had one, or there is no memory. */
static struct ct_calibration_job *begin_job(struct ct_context *c)
{
    struct ct_calibration_job *none = NULL, *j;
    if (ct_calibration_jobs[c->device] || !(j = ct_map(sizeof(*j))))
        return NULL;
    __builtin_memset(j->start, 0xff, sizeof(j->start)); /* CT_EVENT_NONE */
    __builtin_memset(j->stop, 0xff, sizeof(j->stop));
    j->last = j->awaited = CT_EVENT_NONE;
    j->context = c;
    j->ahead_ns = AHEAD_NS;
    j->limit_ns = ct_clock_monotonic_ns() + LOAD_LIMIT_NS;
    hold(c);
    if (atomic_compare_exchange_strong(&ct_calibration_jobs[c->device], &none, j))
        return j;
    ct_job_over(j);
    ct_unmap(j, sizeof(*j));
    return NULL;
}

static void begin_measuring(struct ct_context *c)
{
    struct ct_calibration_job *j = begin_job(c);
    if (!j)
        return;
    if (load_in_context(j)) {
        atomic_store_explicit(&j->phase, CT_JOB_READY, memory_order_release);
    } else {
        ct_note(CT_NOTE_WARNING, ct_calibration_failed[ct_device_is_known(ct_device(c->device))]);
        ct_job_over(j);
    }
}

static void begin_choosing(struct ct_context *c, const struct ct_stream *s,
                           struct ct_event_cache *cache)
{
    struct ct_calibration_job *j = begin_job(c);
    if (!j)
        return;
    if (ct_record_cost_submit(&j->record_cost, c, s, cache)) {
        j->limit_ns = ct_clock_monotonic_ns() + CT_JOB_LIMIT_NS;
        atomic_store_explicit(&j->phase, CT_JOB_CHOOSING, memory_order_release);
    } else {
        ct_note(CT_NOTE_WARNING, ct_record_cost_unknown);
        ct_job_over(j);
    }
}

CT_COLD void ct_calibrate_prepare(struct ct_context *c, const struct ct_stream *s,
                                  struct ct_event_cache *cache, bool first)
{
    const struct ct_device *d = ct_device(c->device);
    if (has_choice(d))
        begin_choosing(c, s, cache);
    else if (first && is_wanted(d) && can_calibrate())
        begin_measuring(c);
}

void ct_calibrate_await(const struct ct_context *c)
{
    struct ct_calibration_job *j =
        atomic_load_explicit(&ct_calibration_jobs[c->device], memory_order_acquire);
    if (!j || j->context != c ||
        atomic_load_explicit(&j->phase, memory_order_relaxed) == CT_JOB_CHOOSING)
        return;
    int cancel = ct_cancel_disable();
    uint64_t end_ns = ct_clock_monotonic_ns() + CT_JOB_LIMIT_NS;
    while (!ct_job_is_over(j) && ct_clock_monotonic_ns() < end_ns)
        nanosleep(&(struct timespec){.tv_nsec = CT_JOB_NAP_NS}, NULL);
    ct_cancel_restore(cancel);
}
