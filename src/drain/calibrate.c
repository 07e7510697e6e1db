/* SPDX-License-Identifier: MIT */
#include "drain/calibrate.h"

#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/mem.h"
#include "cutrace/format.h"
#include "drain/record_cost.h"
#include "drain/selftimed.h"
#include "state/note.h"
#include "time/figures.h"
#include "time/op.h"

#define BATCH 24       /* launches between two looks */
#define FEWEST_BUSY 40 /* trials that the busy figures are taken from */
#define BUSY_BATCHES 4
#define LIMIT_NS 50000000u
#define FEWEST_LOOKS 400 /* a thread that got no time to look has not waited */
#define LOAD_LIMIT_NS 1000000000u
#define NAP_NS 50000
#define QUIET_NS 350
#define COARSEST_NS 2048 /* a kernel's clock with longer steps is no use */

/* Each launch of a batch spins longer than the one before: no phase of a clock is met twice. */
#define SPIN_NS 4000
#define SPIN_MORE_NS 150
#define AHEAD_NS 250000 /* spun before a busy batch, while the host queues it */
#define AHEAD_GROWTH 4  /* if that was not long enough */
#define AHEAD_SLOT BATCH
#define HOST_PAUSE_NS 3000 /* between start record and launch in an idle stream, at least */
#define HOST_MORE_NS 400   /* and so much more with each launch */

_Static_assert(AHEAD_SLOT < CT_SELFTIMED_SLOTS, "a slot for each launch");

enum phase {
    PHASE_LOADING,  /* by the launching thread */
    PHASE_CHOOSING, /* the drain thread's from here on: among the figures of the table, */
    PHASE_READY,    /* or new ones */
    PHASE_BUSY,
    PHASE_IDLE,
    PHASE_FLOORS,
    PHASE_OVER,
};

struct job {
    _Atomic uint32_t phase;
    uint64_t limit_ns; /* CLOCK_MONOTONIC; of the loading, then of the rest */
    bool overdue;      /* loading takes too long: brackets wait no more */
    struct ct_context *context;
    CUstream stream;
    struct ct_selftimed kernels;
    uint64_t stamps[CT_SELFTIMED_WORDS]; /* out of the context's reach */

    uint32_t looks;
    uint64_t ahead_ns;
    int64_t queued_ns[BATCH]; /* host time from before the launch ahead to behind the stop record */
    uint32_t batches;         /* busy ones that are through */
    uint32_t launched;        /* of the idle one */
    uint32_t start[BATCH], stop[BATCH], last; /* events of the context's pool */
    uint32_t awaited; /* the one that ends what was submitted; NONE: nothing was */
    struct ct_record_cost record_cost;
    struct ct_trial trials[BATCH * BUSY_BATCHES];
    struct ct_calibration figures;
};

/* By device. Made by the first thread that comes, never freed. */
static struct job *_Atomic jobs[CT_DEVICES];
static _Atomic uint32_t under_way;

/* What happened, and what follows from it: without figures from a table and with them. */
static const char *const too_slow[] = {
    "Calibration on the device did not end in 50 ms: its durations are raw brackets",
    "Calibration on the device did not end in 50 ms: the figures of known devices are used",
};
static const char *const failed[] = {
    "Calibration on the device failed: its durations are raw brackets",
    "Calibration on the device failed: the figures of known devices are used",
};
static const char not_chosen[] =
    "How long an event record takes on this host did not show: the commonest is taken for true";

void ct_calibrate_forget(void)
{
    for (uint32_t i = 0; i < CT_DEVICES; i++)
        atomic_store_explicit(&jobs[i], NULL, memory_order_relaxed);
    atomic_store_explicit(&under_way, 0, memory_order_relaxed);
}

/* ---- in the launching thread ---- */

static bool can_calibrate(void)
{
    return ct_selftimed_is_possible() && CT_HAS(cuStreamCreate) && CT_HAS(cuStreamDestroy_v2) &&
           CT_HAS(cuMemsetD32Async) && CT_HAS(cuMemcpyHtoDAsync_v2);
}

static bool launch_spin(const struct job *j, uint64_t ns, uint32_t slot)
{
    return ct_selftimed_launch(&j->kernels, j->stream, ns, slot) == CUDA_SUCCESS;
}

static bool launch_read(const struct job *j, uint32_t slots)
{
    return ct_selftimed_launch_read(&j->kernels, j->stream, slots) == CUDA_SUCCESS;
}

/* The launches are there so that nothing is left to be loaded later. */
static bool load(struct job *j)
{
    return ct_selftimed_load(&j->kernels, j->context) &&
           CT_ASK_IN(j->context, cuStreamCreate, &j->stream, CU_STREAM_NON_BLOCKING) ==
               CUDA_SUCCESS &&
           launch_spin(j, 0, 0) && launch_read(j, 1);
}

static bool load_in_context(struct job *j)
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

/* The context's entry must not serve another one meanwhile. */
static void hold(struct ct_context *c)
{
    atomic_fetch_add_explicit(&c->users, 1, memory_order_acquire);
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);
}

static void let_go(struct job *j)
{
    atomic_store_explicit(&j->phase, PHASE_OVER, memory_order_release);
    atomic_fetch_sub_explicit(&j->context->users, 1, memory_order_release);
    atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
}

static bool is_known(const struct ct_device *d)
{
    return d->calibration->source != CT_CALIBRATION_NONE;
}

/* It has a price, see QUIET_NS and finish(): a known device is not asked without need. */
static bool is_wanted(const struct ct_device *d)
{
    return ct_config.calibrate == CT_CALIBRATE_ON ||
           (ct_config.calibrate == CT_CALIBRATE_AUTO && !is_known(d));
}

/* What tells which figures hold costs no stream and no kernel, and waits for nothing. */
static bool has_choice(const struct ct_device *d)
{
    return ct_config.calibrate == CT_CALIBRATE_AUTO && ct_calibration_varies(d->name);
}

/* The job of a device that has none yet; NULL: it has, or there is no memory. */
static struct job *begin_job(struct ct_context *c)
{
    struct job *none = NULL, *j;
    if (jobs[c->device] || !(j = ct_map(sizeof(*j))))
        return NULL;
    __builtin_memset(j->start, 0xff, sizeof(j->start)); /* CT_EVENT_NONE */
    __builtin_memset(j->stop, 0xff, sizeof(j->stop));
    j->last = j->awaited = CT_EVENT_NONE;
    j->context = c;
    j->ahead_ns = AHEAD_NS;
    j->limit_ns = ct_clock_monotonic_ns() + LOAD_LIMIT_NS;
    hold(c);
    if (atomic_compare_exchange_strong(&jobs[c->device], &none, j))
        return j;
    let_go(j);
    ct_unmap(j, sizeof(*j));
    return NULL;
}

static void begin_measuring(struct ct_context *c)
{
    struct job *j = begin_job(c);
    if (!j)
        return;
    if (load_in_context(j)) {
        atomic_store_explicit(&j->phase, PHASE_READY, memory_order_release);
    } else {
        ct_note(CT_NOTE_WARNING, failed[is_known(ct_device(c->device))]);
        let_go(j);
    }
}

static void begin_choosing(struct ct_context *c, const struct ct_stream *s,
                           struct ct_event_cache *cache)
{
    struct job *j = begin_job(c);
    if (!j)
        return;
    if (ct_record_cost_submit(&j->record_cost, c, s, cache)) {
        j->limit_ns = ct_clock_monotonic_ns() + LIMIT_NS;
        atomic_store_explicit(&j->phase, PHASE_CHOOSING, memory_order_release);
    } else {
        ct_note(CT_NOTE_WARNING, not_chosen);
        let_go(j);
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

static bool is_over(struct job *j)
{
    return atomic_load_explicit(&j->phase, memory_order_acquire) == PHASE_OVER;
}

void ct_calibrate_await(const struct ct_context *c)
{
    struct job *j = atomic_load_explicit(&jobs[c->device], memory_order_acquire);
    if (!j || j->context != c ||
        atomic_load_explicit(&j->phase, memory_order_relaxed) == PHASE_CHOOSING)
        return;
    int cancel = ct_cancel_disable();
    uint64_t end_ns = ct_clock_monotonic_ns() + LIMIT_NS;
    while (!is_over(j) && ct_clock_monotonic_ns() < end_ns)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    ct_cancel_restore(cancel);
}

/* ---- events ---- */

static CUevent event(const struct job *j, uint32_t index)
{
    return ct_event(j->context, index);
}

static bool take_events(struct job *j)
{
    j->last = ct_event_take(j->context);
    bool ok = j->last != CT_EVENT_NONE;
    for (uint32_t i = 0; i < BATCH; i++) {
        j->start[i] = ct_event_take(j->context);
        j->stop[i] = ct_event_take(j->context);
        ok = ok && j->start[i] != CT_EVENT_NONE && j->stop[i] != CT_EVENT_NONE;
    }
    return ok;
}

static void give_event(struct job *j, uint32_t index)
{
    if (index != CT_EVENT_NONE)
        ct_event_give(j->context, index);
}

static void give_events(struct job *j)
{
    give_event(j, j->last);
    for (uint32_t i = 0; i < BATCH; i++) {
        give_event(j, j->start[i]);
        give_event(j, j->stop[i]);
    }
}

static bool record(const struct job *j, uint32_t index)
{
    return CT_ASK_IN(j->context, cuEventRecord, event(j, index), j->stream) == CUDA_SUCCESS;
}

static bool elapsed_ns(const struct job *j, uint32_t from, uint32_t to, int64_t *ns)
{
    return ct_elapsed_ns(j->context, from, to, ns);
}

/* ---- what is submitted ---- */

/* Everything after this waits in the stream until the host has queued it all. */
static bool go_ahead(const struct job *j)
{
    return launch_spin(j, j->ahead_ns, AHEAD_SLOT);
}

static bool end_with_read(struct job *j)
{
    j->awaited = j->last;
    return launch_read(j, BATCH + 1) && record(j, j->last);
}

static bool submit_busy(struct job *j)
{
    uint64_t from = ct_ticks();
    bool ok = go_ahead(j);
    for (uint32_t i = 0; ok && i < BATCH; i++) {
        ok = record(j, j->start[i]) && launch_spin(j, SPIN_NS + i * SPIN_MORE_NS, i) &&
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
static bool submit_idle(struct job *j)
{
    uint32_t i = j->launched;
    if (!record(j, j->start[i]))
        return false;
    uint64_t from = ct_ticks();
    pause_until(from + ct_ns_to_ticks(HOST_PAUSE_NS + i * HOST_MORE_NS));
    bool ok = launch_spin(j, SPIN_NS + i * SPIN_MORE_NS, i);
    j->trials[i].host_ns = (int64_t)ct_ticks_to_ns(ct_ticks() - from);
    j->launched++;
    j->awaited = j->stop[i];
    return ok && record(j, j->stop[i]) && (j->launched < BATCH || end_with_read(j));
}

/* The smallest set and the smallest copy there are, half of the batch each. */
static bool submit_floors(struct job *j)
{
    CUdeviceptr at = j->stamps[0];
    const void *from = (const void *)(uintptr_t)&j->kernels.words[1];
    bool ok = go_ahead(j);
    for (uint32_t i = 0; ok && i < BATCH; i++)
        ok = record(j, j->start[i]) &&
             (i < BATCH / 2 ? CT_ASK_IN(j->context, cuMemsetD32Async, at, 0, 1, j->stream)
                            : CT_ASK_IN(j->context, cuMemcpyHtoDAsync_v2, at, from, 4,
                                        j->stream)) == CUDA_SUCCESS &&
             record(j, j->stop[i]);
    j->awaited = j->last;
    return ok && record(j, j->last);
}

/* ---- what was read ---- */

/* False: the memory may have gone with its context. */
static bool take_stamps(struct job *j)
{
    if (ct_context_is_barred(j->context))
        return false;
    for (unsigned i = 0; i < ct_countof(j->stamps); i++)
        j->stamps[i] = j->kernels.words[i];
    return true;
}

static uint64_t begin_of(const struct job *j, uint32_t slot)
{
    return j->stamps[1 + 2 * slot];
}

static uint64_t end_of(const struct job *j, uint32_t slot)
{
    return j->stamps[2 + 2 * slot];
}

/* The batch's trials, of which host_ns stays as it is. */
static bool read_trials(struct job *j, struct ct_trial *t)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < BATCH; i++) {
        t[i].inside_ns = (int64_t)(end_of(j, i) - begin_of(j, i));
        t[i].gap_ns = -1;
        t[i].following = 3 * (BATCH - 1 - i) + 2;
        ok = elapsed_ns(j, j->start[i], j->stop[i], &t[i].raw_ns) &&
             (!i || elapsed_ns(j, j->stop[i - 1], j->start[i], &t[i].gap_ns));
    }
    return ok;
}

/*
 * The kernel ahead began after the host had begun to launch it. So what took the host less time to
 * queue than the GPU to get there had been queued by then.
 */
static bool read_busy(struct job *j)
{
    struct ct_trial *t = &j->trials[j->batches * BATCH];
    bool all = true;
    if (!read_trials(j, t))
        return false;
    for (uint32_t i = 0; i < BATCH; i++) {
        int64_t got_there_ns = (int64_t)(begin_of(j, i) - begin_of(j, AHEAD_SLOT));
        t[i].in_time = j->queued_ns[i] < got_there_ns;
        all = all && t[i].in_time;
    }
    if (!all)
        j->ahead_ns *= AHEAD_GROWTH;
    j->batches++;
    return true;
}

static bool is_timer_good(const struct job *j)
{
    uint64_t step = ct_figures_timer_step(&j->stamps[1], 2 * BATCH);
    return step && step <= COARSEST_NS;
}

static bool read_floor(const struct job *j, uint32_t first, uint32_t *floor_ns)
{
    int64_t least_ns = INT64_MAX, ns;
    for (uint32_t i = first; i < first + BATCH / 2; i++) {
        if (!elapsed_ns(j, j->start[i], j->stop[i], &ns))
            return false;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    *floor_ns = least_ns > 0 && least_ns < UINT32_MAX ? (uint32_t)least_ns : 0;
    return true;
}

/* ---- one thing after the other ---- */

static void enter(struct job *j, uint32_t phase)
{
    j->launched = 0;
    j->awaited = CT_EVENT_NONE;
    atomic_store_explicit(&j->phase, phase, memory_order_relaxed);
}

/* The busy batches: until enough were queued in time. */
static bool go_on_busy(struct job *j)
{
    if (j->awaited != CT_EVENT_NONE) {
        if (!is_timer_good(j) || !read_busy(j))
            return false;
        uint32_t n = j->batches * BATCH;
        bool enough = ct_figures_count_busy(j->trials, n) >= FEWEST_BUSY;
        if (enough || j->batches == BUSY_BATCHES) {
            enter(j, PHASE_IDLE);
            return ct_figures_busy(j->trials, n, &j->figures) && submit_idle(j);
        }
    }
    return submit_busy(j);
}

static bool go_on_idle(struct job *j)
{
    if (j->launched < BATCH)
        return submit_idle(j);
    if (!read_trials(j, j->trials) || !ct_figures_idle(j->trials, BATCH, &j->figures))
        return false;
    enter(j, PHASE_FLOORS);
    return submit_floors(j);
}

/* True: go on; *over: there is nothing left to do. */
static bool go_on(struct job *j, bool *over)
{
    *over = false;
    switch (atomic_load_explicit(&j->phase, memory_order_relaxed)) {
    case PHASE_READY:
        enter(j, PHASE_BUSY);
        j->limit_ns = ct_clock_monotonic_ns() + LIMIT_NS;
        return take_events(j) && go_on_busy(j);
    case PHASE_BUSY:
        return go_on_busy(j);
    case PHASE_IDLE:
        return go_on_idle(j);
    default:
        *over = true;
        return read_floor(j, 0, &j->figures.set_floor_ns) &&
               read_floor(j, BATCH / 2, &j->figures.copy_floor_ns);
    }
}

/* Beside the program's own work the figures are worse than those of a known device. */
static bool is_quiet(const struct ct_calibration *c)
{
    return c->uncertainty_ns <= QUIET_NS && c->idle_uncertainty_ns <= QUIET_NS;
}

/* A copy may stand behind one of the program's that waits: the rest is good without the floors. */
static void finish(struct job *j, bool ok, const char *const *why)
{
    uint32_t device = j->context->device;
    const struct ct_device *d = ct_device(device);
    ok = ok || atomic_load_explicit(&j->phase, memory_order_relaxed) == PHASE_FLOORS;
    if (!ok) {
        ct_note(CT_NOTE_WARNING, why[is_known(d)]);
    } else if (is_quiet(&j->figures) || !is_known(d)) {
        j->figures.source = CT_CALIBRATION_DEVICE;
        j->figures.node = d->calibration->node; /* not measured here */
        ct_figures_finish(&j->figures);
        ct_device_calibrated(device, &j->figures);
    }
    give_events(j);
    /* One more stream on the GPU costs every bracket 0.2 us; this waits for nothing. */
    CT_ASK_IN(j->context, cuStreamDestroy_v2, j->stream);
    let_go(j);
}

/* With the context current. */
static void look_at_records(struct job *j, bool too_late)
{
    const struct ct_context *c = j->context;
    CUresult r = CT_ASK_IN(c, cuEventQuery, ct_record_cost_last(&j->record_cost, c));
    if (r == CUDA_ERROR_NOT_READY && !too_late)
        return;
    uint32_t record_ns = r == CUDA_SUCCESS ? ct_record_cost_read(&j->record_cost, c) : 0;
    if (r != CUDA_SUCCESS)
        ct_note(CT_NOTE_WARNING, not_chosen);
    ct_device_calibrated(c->device, ct_calibration_of(ct_device(c->device)->name, record_ns));
    ct_record_cost_end(&j->record_cost, j->context);
    let_go(j);
}

static void look(struct job *j, bool too_late)
{
    bool over = false;
    CUresult r = j->awaited == CT_EVENT_NONE
                     ? CUDA_SUCCESS
                     : CT_ASK_IN(j->context, cuEventQuery, event(j, j->awaited));
    if (r == CUDA_ERROR_NOT_READY && !too_late)
        return;
    if (r != CUDA_SUCCESS || too_late)
        finish(j, false, too_late ? too_slow : failed);
    else if (!take_stamps(j) || !go_on(j, &over) || over)
        finish(j, over, failed);
}

static bool is_late(struct job *j)
{
    return j->looks++ >= FEWEST_LOOKS && ct_clock_monotonic_ns() > j->limit_ns;
}

static void step(struct job *j, bool crowded)
{
    CUcontext before;
    struct ct_context *c = j->context;
    uint32_t phase = atomic_load_explicit(&j->phase, memory_order_acquire);
    bool too_late = crowded || j->overdue || is_late(j);
    if (phase == PHASE_LOADING) {
        j->overdue = too_late;
        return;
    }
    if (phase == PHASE_OVER)
        return;
    if (atomic_load_explicit(&c->state, memory_order_acquire) != CT_CONTEXT_LIVE ||
        !ct_context_enter(c, &before)) {
        let_go(j);
        return;
    }
    if (phase == PHASE_CHOOSING)
        look_at_records(j, too_late);
    else
        look(j, too_late);
    ct_context_leave(c, before);
}

/* Brackets that wait keep their events: with half of the pool in them it is time to go on. */
static bool is_crowded(const struct job *j, uint64_t pending)
{
    return pending > j->context->events.pool[CT_EVENT_TIMED].limit / 4;
}

bool ct_calibrate_step(uint64_t pending)
{
    if (!atomic_load_explicit(&under_way, memory_order_relaxed))
        return false;
    for (uint32_t i = 0; i < ct_devices_count(); i++) {
        struct job *j = atomic_load_explicit(&jobs[i], memory_order_acquire);
        if (j)
            step(j, is_crowded(j, pending));
    }
    return true;
}

bool ct_calibrate_holds(uint32_t device)
{
    struct job *j = atomic_load_explicit(&jobs[device], memory_order_acquire);
    return j && !is_over(j) && !j->overdue;
}

void ct_calibrate_leave(struct ct_context *c)
{
    struct job *j = atomic_load_explicit(&jobs[c->device], memory_order_acquire);
    if (!j || j->context != c)
        return;
    while (!is_over(j) && !j->overdue) {
        step(j, false);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

void ct_calibrate_give_up(void)
{
    for (uint32_t i = 0; i < CT_DEVICES; i++) {
        struct job *j = atomic_load_explicit(&jobs[i], memory_order_acquire);
        if (j && !is_over(j) &&
            atomic_load_explicit(&j->phase, memory_order_acquire) != PHASE_LOADING)
            let_go(j);
        else if (j)
            j->overdue = true;
    }
}
