/* SPDX-License-Identifier: MIT */
#include "drain/drain.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "counts/range.h"
#include "device/sensor_thread.h"
#include "drain/calibrate.h"
#include "drain/collect.h"
#include "drain/control.h"
#include "drain/harvest.h"
#include "drain/journal.h"
#include "drain/replica_step.h"
#include "drain/tracing.h"
#include "launch/bracket.h"
#include "launch/calibration.h"
#include "launch/replica.h"
#include "managed/unified.h"
#include "state/ask.h"
#include "state/connections.h"
#include "state/nap.h"
#include "state/note.h"
#include "state/renewal.h"
#include "state/thread.h"
#include "system/cancel.h"
#include "system/clock.h"
#include "system/elf.h"
#include "system/futex.h"
#include "system/log.h"
#include "system/proc.h"
#include "system/schedule.h"
#include "system/signal_guard.h"
#include "system/spare.h"
#include "system/spin.h"

/*
 * Naps where ends are found by asking: a sixteenth of the time since the last end, but no less than
 * four rounds take, so that asking takes a fifth of a processor.
 */
#define POLL_PART 16
#define POLL_REST 4
#define POLL_LONGEST_NS 1000000u
#define PASSED_LOOK_NS 5000000u
#define LAST_THREAD_LOOK_NS 100000000u
#define STACK_BYTES (256 * 1024)
#define GRAPHS_STACK_BYTES (8 * 1024 * 1024) /* the driver makes executable graphs on it */
#define LOCK_NS 50000000u                    /* the wait for a lock of ours when the process ends */
#define SENSORS_NS 100000000u
#define LOCK_ROUND_NS 1000000000u

static const char stuck[] = "A driver call did not return: what was not timed by then is counted "
                            "as unfinished";

enum phase { NOT_STARTED, RUNNING, STOPPING, STOPPED };

static CT_PROCESS _Atomic uint32_t phase;
static CT_PROCESS _Atomic uint64_t deadline_ns; /* at the end, for the GPU's work; 0: none yet */
static CT_PROCESS _Atomic uint32_t flushes_asked, flushes_done;
static void (*take_figures)(bool finished);
static void (*write_figures)(void);
static void (*tend_others)(void);

/*
 * Held by whoever deals with brackets: the drain thread for a round, a thread that ends a context
 * for its last look. Never taken on the launch path.
 */
static CT_PROCESS struct ct_spin round_lock;

static void lock_round(void)
{
    ct_spin_lock_until(&round_lock, UINT64_MAX);
}

static void unlock_round(void)
{
    ct_spin_unlock(&round_lock);
}

static void set_phase(uint32_t p)
{
    atomic_store(&phase, p);
    ct_futex_wake(&phase);
    ct_drain_wake();
}

/* Counts of launches that were passed over are taken now and then. */
static bool is_time_for_passed(uint64_t now_ns)
{
    static uint64_t taken_ns;
    if (now_ns - taken_ns < PASSED_LOOK_NS)
        return false;
    taken_ns = now_ns;
    return true;
}

/* `all`: nothing is left with any thread. */
static bool collect_threads(uint64_t now_ns, bool all)
{
    bool any = ct_collect(now_ns, all || is_time_for_passed(now_ns));
    if (all) {
        any |= ct_collect_all();
        ct_collect_counts();
    }
    return any;
}

/* After this the context's entry may be used anew. */
static void lose_context(struct ct_context *c)
{
    ct_replicas_lose_context(c);
    ct_harvest_lose_context(c);
}

/* Contexts that went while the lock could not be had. */
static void lose_gone(void)
{
    struct ct_context *c;
    while ((c = ct_context_to_forget()))
        lose_context(c);
}

struct round {
    uint64_t harvested;
    bool changed;
    bool calibrating;
    bool refused; /* the driver answers nothing any more, as after an error of a kernel */
    bool waits;   /* brackets or replicas are on the GPU */
    bool polls;   /* ends of some brackets are found by asking */
};

static struct round run_round(uint64_t now_ns, bool all)
{
    struct round r = {0};
    CUstreamCaptureMode mode;
    lock_round();
    lose_gone();
    r.changed = collect_threads(now_ns, all);
    if (ct_relaxed_enter(&mode)) { /* nothing asked here may break a capture elsewhere */
        r.calibrating = ct_calibrate_step(ct_harvest_pending());
        r.harvested = ct_harvest(all);
        ct_connections_step();
        r.changed |= ct_replicas_step();
        ct_relaxed_leave(mode);
    } else {
        r.refused = true;
        ct_harvest_refused();
    }
    ct_contexts_flush();
    ct_control_run();
    r.waits = ct_harvest_pending() || ct_replicas_are_running();
    r.polls = ct_harvest_polls();
    unlock_round();
    r.changed |= r.harvested != 0;
    return r;
}

uint64_t ct_drain_once(void)
{
    return run_round(ct_clock_monotonic_ns(), true).harvested;
}

static uint64_t deadline(void)
{
    uint64_t ns = atomic_load(&deadline_ns);
    return ns ? ns : UINT64_MAX;
}

/* `p`: the phase before the round that was just done, which took all that was in the queues. */
static bool is_over(uint32_t p, const struct round *r)
{
    if (p != STOPPING)
        return false;
    return r->refused || !r->waits || ct_clock_monotonic_ns() > deadline();
}

/*
 * A program whose main thread ended by pthread_exit ends with its last thread. That must be none of
 * ours: with only the main thread's remains left beside them, they go as well.
 */
static CT_PROCESS atomic_bool is_watched;

static bool is_last_thread(uint64_t now_ns)
{
    static uint64_t looked_ns;
    if (now_ns - looked_ns < LAST_THREAD_LOOK_NS)
        return false;
    looked_ns = now_ns;
    struct ct_proc p;
    return ct_proc_read(&p) && p.state == 'Z' &&
           p.threads == 2u + ct_sensor_threads() + atomic_load(&is_watched);
}

static void write_profile(bool finished)
{
    lock_round();
    take_figures(finished);
    unlock_round();
    write_figures();
}

static void finish(void)
{
    lock_round();
    ct_calibrate_give_up();
    unlock_round();
    run_round(ct_clock_monotonic_ns(), true);
    lock_round();
    ct_unified_finish();
    ct_replicas_finish();
    ct_harvest_give_up();
    ct_journal_flush();
    unlock_round();
    write_profile(true);
}

static void settle(void)
{
    lock_round();
    ct_unified_settle();
    unlock_round();
}

static void flushed(uint32_t asked)
{
    atomic_store(&flushes_done, asked);
    ct_futex_wake(&flushes_done);
}

static uint64_t poll_ns(uint64_t since_ns, uint64_t round_ns)
{
    uint64_t ns = ct_max(since_ns / POLL_PART, POLL_REST * round_ns);
    return ct_max(CT_NAP_SHORTEST_NS, ct_min(ns, POLL_LONGEST_NS));
}

static CT_PROCESS atomic_bool is_to_be_written;

static void loop(void)
{
    uint64_t nap_ns = CT_NAP_SHORTEST_NS, written_ns = 0, ended_ns = 0, changed_ns = 0;
    bool dirty = true;
    for (;;) {
        uint32_t p = atomic_load(&phase), asked = atomic_load(&flushes_asked);
        bool flush = asked != atomic_load(&flushes_done);
        if (flush)
            settle();
        ct_clock_refine();
        uint64_t begun_ns = ct_clock_monotonic_ns();
        struct round r = run_round(begun_ns, flush);
        dirty |= r.changed;
        uint64_t now_ns = ct_clock_monotonic_ns();
        if (is_over(p, &r))
            break;
        if (!r.changed && is_last_thread(now_ns)) {
            ct_sensor_thread_stop(SENSORS_NS);
            break;
        }
        dirty |= atomic_exchange(&is_to_be_written, false);
        if (flush || (dirty && now_ns - written_ns >= CT_DRAIN_WRITE_NS)) {
            write_profile(false);
            written_ns = now_ns;
            dirty = false;
        }
        if (flush)
            flushed(asked);
        tend_others();
        if (r.changed || r.waits)
            changed_ns = now_ns;
        nap_ns = r.calibrating ? CT_NAP_SHORTEST_NS
                               : ct_nap_next_ns(nap_ns, r.harvested, now_ns - changed_ns);
        if (r.harvested)
            ended_ns = now_ns;
        if (r.polls)
            nap_ns = poll_ns(now_ns - ended_ns, now_ns - begun_ns);
        ct_nap(p == STOPPING ? CT_NAP_SHORTEST_NS : nap_ns, &phase, p);
    }
}

static void *run(void *unused)
{
    (void)unused;
    if (!ct_spare()) {
        prctl(PR_SET_NAME, "cutrace");
        prctl(PR_SET_TIMERSLACK, 1000);
    }
    ct_is_drain_thread = true;
    ct_schedule_everywhere();
    loop();
    finish();
    set_phase(STOPPED);
    flushed(atomic_load(&flushes_asked));
    return NULL;
}

/* The C library puts the program's thread-local variables on the stack, megabytes perhaps. */
static size_t stack_bytes(void)
{
    size_t bytes = ct_replicas_are_on ? GRAPHS_STACK_BYTES : STACK_BYTES;
    return bytes + ct_objects_tls_bytes();
}

bool ct_drain_start(void (*take)(bool finished), void (*write)(void), void (*tend)(void))
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t everything, before;
    take_figures = take;
    write_figures = write;
    tend_others = tend;
    ct_proc_hold();
    if (!ct_proc_may_start_thread() || pthread_attr_init(&attr))
        return false;
    pthread_attr_setstacksize(&attr, stack_bytes());
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    ct_schedule_ordinary(&attr);
    atomic_store(&phase, RUNNING);
    sigfillset(&everything); /* inherited: the thread handles no signal of the program */
    pthread_sigmask(SIG_SETMASK, &everything, &before);
    bool ok = pthread_create(&thread, &attr, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (!ok)
        atomic_store(&phase, NOT_STARTED);
    return ok;
}

static bool is_stopped(void)
{
    return atomic_load(&phase) == STOPPED;
}

/* A thread of the program's counts the rest, and asks nothing of the driver. */
static void finish_unasked(void)
{
    ct_collect_all();
    ct_collect_counts();
    ct_harvest_give_up();
    ct_journal_flush();
    take_figures(true);
    write_figures();
}

/*
 * The drain thread is inside a driver call, and stays away even if the call returns: this thread
 * counts the rest. The round's lock stays with the drain thread, and nobody waits for it.
 */
static void finish_instead(bool aloud)
{
    ct_note(CT_NOTE_WARNING, stuck);
    if (aloud)
        ct_log(1, stuck, NULL, NULL);
    finish_unasked();
    set_phase(STOPPED);
}

static void write_here(void (*finish_here)(bool), bool how)
{
    struct ct_signal_guard h;
    ct_signal_guard_begin(&h);
    finish_here(how);
    ct_signal_guard_end(&h);
}

/*
 * There is no drain thread. A signal handler may have interrupted this thread in the driver, which
 * would wait for itself then: unless the process ends by exit() (`may_ask`) it is not asked.
 * Another thread may hold the lock of the round in the driver, for ever.
 */
static void finish_alone(bool may_ask)
{
    uint32_t none = NOT_STARTED;
    if (!atomic_compare_exchange_strong(&phase, &none, STOPPING))
        return; /* another thread does this */
    uint64_t end_ns = ct_clock_monotonic_ns() + (may_ask ? LOCK_ROUND_NS : LOCK_NS);
    if (!ct_spin_lock_until(&round_lock, end_ns))
        return;
    if (may_ask) {
        unlock_round();
        finish();
    } else {
        ct_take_alone();
        finish_unasked();
        unlock_round();
    }
    set_phase(STOPPED);
}

/* Several threads may end the process at once: the deadline of the least patient one counts. */
static void stop_until(uint64_t end_ns)
{
    uint32_t running = RUNNING;
    uint64_t known_ns = atomic_load(&deadline_ns);
    while ((!known_ns || end_ns < known_ns) &&
           !atomic_compare_exchange_weak(&deadline_ns, &known_ns, end_ns))
        ;
    if (atomic_compare_exchange_strong(&phase, &running, STOPPING)) {
        ct_futex_wake(&phase);
        ct_drain_wake();
    }
}

bool ct_drain_stop(const struct ct_patience *p)
{
    ct_spin_end_process(LOCK_NS);
    if (p->in_order)
        ct_drain_settle();
    ct_recording_set(false);
    uint64_t now_ns = ct_clock_monotonic_ns();
    uint64_t gpu_ns = now_ns + p->gpu_ns, driver_ns = gpu_ns + p->driver_ns;
    if (atomic_load(&phase) == NOT_STARTED)
        write_here(finish_alone, p->in_order);
    stop_until(gpu_ns);
    while (!is_stopped() && now_ns < gpu_ns + p->disk_ns) {
        if (now_ns >= driver_ns && ct_take_over())
            write_here(finish_instead, p->in_order);
        else
            ct_futex_wait(&phase, STOPPING,
                          now_ns < driver_ns ? ct_min(driver_ns - now_ns, CT_NAP_LONGEST_NS)
                                             : CT_NAP_SHORTEST_NS);
        now_ns = ct_clock_monotonic_ns();
    }
    return is_stopped();
}

uint32_t ct_drain_ask_flush(void)
{
    return atomic_fetch_add(&flushes_asked, 1) + 1;
}

/* A drain thread that is stopped has written all there was. */
bool ct_drain_is_flushed(uint32_t ticket)
{
    return (int32_t)(atomic_load(&flushes_done) - ticket) >= 0 || is_stopped();
}

int ct_drain_flush(uint64_t timeout_ns)
{
    uint64_t now_ns, end_ns = ct_clock_monotonic_ns() + timeout_ns;
    if (atomic_load(&phase) == NOT_STARTED)
        return ENODATA;
    uint32_t ticket = ct_drain_ask_flush();
    ct_drain_wake();
    for (;;) {
        uint32_t done = atomic_load(&flushes_done);
        if (ct_drain_is_flushed(ticket))
            return 0;
        if ((now_ns = ct_clock_monotonic_ns()) >= end_ns)
            return ETIMEDOUT;
        ct_futex_wait(&flushes_done, done, ct_min(end_ns - now_ns, CT_NAP_LONGEST_NS));
    }
}

/*
 * A drain thread that hangs inside the driver must not hang the program's destroy call, too; and it
 * is waited for once, not by each of many calls.
 */
static bool lock_for_a_second(void)
{
    static atomic_bool is_stuck;
    bool waits = !atomic_load_explicit(&is_stuck, memory_order_relaxed);
    bool locked =
        ct_spin_lock_until(&round_lock, waits ? ct_clock_monotonic_ns() + LOCK_ROUND_NS : 0);
    atomic_store_explicit(&is_stuck, !locked, memory_order_relaxed);
    return locked;
}

bool ct_drain_look(void (*look)(void *arg), void *arg)
{
    if (!lock_for_a_second())
        return false;
    look(arg);
    unlock_round();
    return true;
}

static bool is_running(void)
{
    return atomic_load(&phase) == RUNNING;
}

/* Inside the same call as before: between two calls nobody is kept waiting. */
static bool borrow(uint64_t asks)
{
    if (!ct_borrow())
        return false;
    if (atomic_load_explicit(&ct_asks, memory_order_relaxed) == asks && is_running())
        return true;
    ct_return_borrowed();
    return false;
}

static bool watch_instead(bool (*look)(bool is_blocked), uint64_t asks)
{
    if (!borrow(asks))
        return false;
    if (look(true)) {
        take_figures(false);
        write_figures();
    }
    tend_others();
    ct_return_borrowed();
    return true;
}

bool ct_drain_watch(bool (*look)(bool is_blocked), uint64_t asks)
{
    if (!is_running())
        return false;
    if (!ct_spin_lock_until(&round_lock, ct_clock_monotonic_ns() + LOCK_NS))
        return watch_instead(look, asks);
    bool write = is_running() && look(false);
    unlock_round();
    if (write)
        atomic_store(&is_to_be_written, true);
    return true;
}

bool ct_drain_watch_wait(uint64_t ns)
{
    uint64_t now_ns = ct_clock_monotonic_ns(), end_ns = now_ns + ns;
    for (uint32_t p; (p = atomic_load(&phase)) != STOPPED && now_ns < end_ns;) {
        ct_futex_wait(&phase, p, end_ns - now_ns);
        now_ns = ct_clock_monotonic_ns();
    }
    return !is_stopped();
}

void ct_drain_is_watched(bool is)
{
    atomic_store(&is_watched, is);
}

/* Before the context is GONE: from then on its entry is used anew as soon as it is forgotten. */
static void expect_forgetting(struct ct_context *c)
{
    atomic_store_explicit(&c->is_forgotten, false, memory_order_relaxed);
}

static void settle_unified(void *unused)
{
    (void)unused;
    ct_unified_settle();
}

void ct_drain_settle(void)
{
    int saved_errno = errno;
    if (ct_unified_is_watched())
        ct_drain_look(settle_unified, NULL);
    errno = saved_errno;
}

void ct_drain_record(bool on)
{
    ct_drain_settle();
    ct_recording_set(on);
}

/* Takes complete brackets, then changes the context's state, with the drain thread outside. */
static void leave_context(struct ct_context *c, uint32_t state)
{
    int saved_errno = errno, cancel = ct_cancel_disable();
    CUstreamCaptureMode mode;
    bool locked = lock_for_a_second();
    if (locked) {
        ct_collect_all();
        if (ct_relaxed_enter(&mode)) {
            ct_calibrate_leave(c);
            ct_harvest_context(c);
            if (state == CT_CONTEXT_GONE)
                ct_replicas_leave(c);
            ct_relaxed_leave(mode);
        }
        ct_contexts_flush();
    }
    if (state == CT_CONTEXT_GONE)
        expect_forgetting(c);
    atomic_store(&c->state, state); /* a drain thread that hangs sees it when it comes back */
    if (state == CT_CONTEXT_GONE)
        ct_streams_of_context_gone(ct_context_index(c));
    ct_pass_renew();
    if (locked && state == CT_CONTEXT_GONE)
        lose_context(c);
    if (locked)
        unlock_round();
    ct_cancel_restore(cancel);
    errno = saved_errno;
}

void ct_drain_context_gone(struct ct_context *c)
{
    leave_context(c, CT_CONTEXT_GONE);
}

void ct_drain_context_pause(struct ct_context *c)
{
    leave_context(c, CT_CONTEXT_PAUSED);
}

/* Brackets pending in a context that has gone are lost in the next round. */
void ct_drain_context_resume(struct ct_context *c, bool alive)
{
    bool is_new = !atomic_load_explicit(&c->events.pool[CT_EVENT_TIMED].made, memory_order_relaxed);
    if (!alive)
        expect_forgetting(c);
    atomic_store_explicit(&c->state,
                          !alive   ? CT_CONTEXT_GONE
                          : is_new ? CT_CONTEXT_NEW
                                   : CT_CONTEXT_LIVE,
                          memory_order_release);
    ct_pass_renew();
}
