/* SPDX-License-Identifier: MIT */
#include "watch/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "base/config.h"
#include "drain/drain.h"
#include "drain/harvest.h"
#include "state/ask.h"
#include "system/clock.h"
#include "system/elf.h"
#include "system/proc.h"
#include "system/schedule.h"
#include "system/spare.h"
#include "watch/alarm.h"

#define LOOK_NS 250000000u
#define STACK_BYTES (128 * 1024)
#define ASKED_NS 5000000000u   /* for so long the profile has what is in flight */
#define BLOCKED_NS 1000000000u /* a call of the drain thread that takes longer is looked into */
#define COMPANY_NS 1000000000u /* another operation that has run so long may hold others up */

/* A thing that was in flight at the last look. */
struct watched {
    struct ct_in_flight last;
    uint64_t counted_ns;
    uint64_t look_ns;
    uint64_t dealt; /* brackets dealt with by then */
    bool is_over;
    bool is_told;
    bool is_there;
};

static CT_PROCESS atomic_bool is_on;
static CT_PROCESS _Atomic uint64_t asked_ns;
static CT_PROCESS _Atomic uint32_t stuck_count;

/* The rest belongs to whoever has the lock of the round, or has borrowed the drain thread's data.
 */
static struct watched watched[CT_IN_FLIGHT];
static CT_PROCESS uint32_t watched_count;
static struct ct_in_flight past[CT_WATCH_PAST];
static CT_PROCESS uint64_t past_count;
static CT_PROCESS uint64_t longest_ns[CT_STUCK_GATE_COUNT]; /* that gates of a kind stood */
static struct ct_in_flight listed[CT_IN_FLIGHT + CT_WATCH_PAST + 1];
static CT_PROCESS uint64_t blocked_asks, blocked_ns, blocked_look_ns; /* see notice_blocking() */

static struct ct_watch_rule rule(void)
{
    static const struct ct_watch_rule for_questions = {.factor = 10};
    struct ct_watch_rule r = {ct_config.watchdog_factor, ct_config.watchdog_ns};
    return r.factor || r.ns ? r : for_questions;
}

/* ---- limits ---- */

/* A call that waits for work without a time may have good reasons. */
static uint64_t call_limit_ns(const struct ct_watch_rule *r, const struct ct_in_flight *e)
{
    return e->f.gate || r->ns ? ct_watch_gate_limit_ns(r, longest_ns[e->f.gate]) : UINT64_MAX;
}

static uint64_t limit_ns(const struct ct_in_flight *e)
{
    struct ct_watch_rule r = rule();
    switch (e->f.kind) {
    case CT_STUCK_OPERATION:
        return ct_watch_limit_ns(&r, &e->usual);
    case CT_STUCK_GATE:
        return ct_watch_gate_limit_ns(&r, longest_ns[e->f.gate]);
    case CT_STUCK_CALL:
        return call_limit_ns(&r, e);
    case CT_STUCK_FAULT:
        return r.factor || !r.ns ? CT_WATCH_LEAST_NS : r.ns;
    case CT_STUCK_DRIVER:
        return ct_watch_gate_limit_ns(&r, 0);
    default:
        return UINT64_MAX;
    }
}

static bool is_work(const struct ct_in_flight *e)
{
    return e->f.kind == CT_STUCK_OPERATION || e->f.kind == CT_STUCK_GATE;
}

/* ---- one look after the other ---- */

static struct watched *find(const struct ct_in_flight *e)
{
    for (uint32_t i = 0; i < watched_count; i++)
        if (watched[i].last.key[0] == e->key[0] && watched[i].last.key[1] == e->key[1] &&
            watched[i].last.f.kind == e->f.kind)
            return &watched[i];
    return NULL;
}

/*
 * Inside the driver the drain thread asks for no event. A thread of the program's that waits for
 * the GPU all the time shows that it goes on; after long everything does.
 */
static bool shows_standing(const struct ct_in_flight *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].f.kind == CT_STUCK_CALL && all[i].f.for_ns >= blocked_ns)
            return true;
    return blocked_ns > CT_WATCH_NEW_NS;
}

static struct watched *follow(struct ct_in_flight *e, uint64_t now_ns, bool stands)
{
    struct watched *w = find(e);
    uint64_t dealt = ct_harvest_dealt();
    if (!w) {
        if (watched_count == CT_IN_FLIGHT)
            return NULL;
        w = &watched[watched_count++];
        *w = (struct watched){.last = *e, .look_ns = now_ns, .dealt = dealt};
        w->counted_ns = ct_min(e->f.for_ns, stands ? blocked_ns + LOOK_NS : LOOK_NS);
    } else {
        uint64_t before_ns = stands ? w->look_ns : w->last.seen_ns;
        uint64_t then_ns = stands ? now_ns : e->seen_ns;
        uint64_t passed_ns = then_ns > before_ns ? then_ns - before_ns : 0;
        w->counted_ns = ct_watch_counted_ns(w->counted_ns, passed_ns, 2 * LOOK_NS);
        if (e->f.kind == CT_STUCK_CALL && w->dealt != dealt)
            w->counted_ns = 0;
    }
    w->last = *e;
    w->look_ns = now_ns;
    w->dealt = dealt;
    w->is_there = true;
    return w;
}

/* Whether something else that is within its own limit may hold it up. */
static bool has_excuse(const struct watched *w)
{
    for (uint32_t i = 0; i < watched_count; i++) {
        const struct watched *o = &watched[i];
        bool is_cause =
            o->last.runs && o->last.f.for_ns >= COMPANY_NS && o->last.device == w->last.device;
        is_cause |= w->last.f.waits_for && w->last.f.waits_for == o->last.f.stream;
        if (o != w && o->is_there && is_work(&o->last) && is_cause &&
            o->counted_ns < limit_ns(&o->last))
            return true;
    }
    return false;
}

/* A fault explains all that stands, and work in flight a call that waits. */
static bool is_explained(const struct watched *w)
{
    bool is_call = w->last.f.kind == CT_STUCK_CALL;
    for (uint32_t i = 0; (is_call || is_work(&w->last)) && i < watched_count; i++) {
        const struct ct_in_flight *o = &watched[i].last;
        if (watched[i].is_there && (o->f.kind == CT_STUCK_FAULT || (is_call && is_work(o))))
            return true;
    }
    return false;
}

/* Where the excuse ends, a last second is waited. */
static void judge(struct watched *w)
{
    uint64_t limit = limit_ns(&w->last);
    bool is_late = w->counted_ns >= limit && !is_explained(w);
    if (is_late && is_work(&w->last) && !w->is_told && has_excuse(w)) {
        w->counted_ns = limit - ct_min(limit, CT_WATCH_LEAST_NS);
        is_late = false;
    }
    w->is_over = is_late;
}

/* Its stream waits for another one that is stuck itself, and is named with that. */
static bool is_behind(const struct watched *w)
{
    for (uint32_t i = 0; w->last.f.waits_for && i < watched_count; i++)
        if (watched[i].is_over && &watched[i] != w &&
            watched[i].last.f.stream == w->last.f.waits_for)
            return true;
    return false;
}

static void set_flags(struct ct_in_flight *all, uint32_t count)
{
    uint32_t stuck = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct watched *w = find(&all[i]);
        uint64_t limit = limit_ns(&all[i]);
        all[i].f.limit_ns = limit == UINT64_MAX ? 0 : limit;
        if (!w || !w->is_over)
            continue;
        all[i].f.flags |= CT_STUCK_OVER;
        w->last = all[i];
        stuck += w->last.f.kind != CT_STUCK_DRIVER;
    }
    atomic_store_explicit(&stuck_count, stuck, memory_order_relaxed);
}

static bool tell(const struct ct_in_flight *all, uint32_t count)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        struct watched *w = find(&all[i]);
        if (!w || !w->is_over || w->is_told)
            continue;
        w->is_told = any = true;
        if (!is_behind(w))
            ct_alarm_tell(all, count, i);
    }
    if (any)
        ct_alarm_tell_calls(all, count);
    return any;
}

static void keep_past(const struct watched *w, uint32_t flag)
{
    struct ct_in_flight *p = &past[past_count++ % CT_WATCH_PAST];
    *p = w->last;
    p->f.flags = (p->f.flags & ~(uint32_t)CT_STUCK_OVER) | flag;
}

/* Things that are no longer there have gone on. */
static bool forget_gone(void)
{
    uint32_t kept = 0;
    bool any = false;
    for (uint32_t i = 0; i < watched_count; i++) {
        struct watched *w = &watched[i];
        if (!w->is_there) {
            if (w->last.f.kind == CT_STUCK_GATE)
                longest_ns[w->last.f.gate] = ct_max(longest_ns[w->last.f.gate], w->counted_ns);
            if (w->is_told)
                keep_past(w, CT_STUCK_PAST);
            any |= w->is_told;
        } else {
            watched[kept++] = *w;
        }
    }
    watched_count = kept;
    return any;
}

/* The drain thread's own call, while it does not return. */
static struct ct_in_flight driver_call(uint64_t now_ns)
{
    return (struct ct_in_flight){
        .f = {.kind = CT_STUCK_DRIVER, .since_ns = now_ns - blocked_ns, .for_ns = blocked_ns},
        .call = ct_api_names[atomic_load_explicit(&ct_asked, memory_order_relaxed)],
        .key = {UINT64_MAX, blocked_asks},
        .seen_ns = now_ns,
        .device = UINT32_MAX};
}

static bool look(bool is_blocked)
{
    struct ct_in_flight *all;
    uint64_t now_ns = ct_clock_monotonic_ns();
    uint32_t count = ct_in_flight_look(&all);
    bool stands = is_blocked && shows_standing(all, count);
    if (is_blocked && count < CT_IN_FLIGHT)
        all[count++] = driver_call(now_ns);
    for (uint32_t i = 0; i < watched_count; i++)
        watched[i].is_there = false;
    for (uint32_t i = 0; i < count; i++)
        follow(&all[i], now_ns, stands);
    bool any = forget_gone();
    for (uint32_t i = 0; i < watched_count; i++)
        judge(&watched[i]);
    set_flags(all, count);
    any |= tell(all, count);
    return any || atomic_load(&asked_ns) + ASKED_NS > now_ns;
}

/* ---- for the profile ---- */

static void list_past(uint32_t *n)
{
    uint64_t first = past_count - ct_min(past_count, CT_WATCH_PAST);
    for (uint64_t i = first; i < past_count; i++)
        listed[(*n)++] = past[i % CT_WATCH_PAST];
}

/* Without a watchdog a question is answered by how long things have been there. */
static void judge_by_age(struct ct_in_flight *e)
{
    uint64_t limit = limit_ns(e);
    e->f.limit_ns = limit == UINT64_MAX ? 0 : limit;
    if (is_work(e) && e->f.for_ns >= limit)
        e->f.flags |= CT_STUCK_OVER;
}

static void list_now(uint32_t *n)
{
    struct ct_in_flight *all;
    uint32_t count = ct_in_flight_look(&all);
    for (uint32_t i = 0; i < count; i++) {
        struct watched *w = find(&all[i]);
        judge_by_age(&all[i]);
        if (atomic_load(&is_on))
            all[i].f.flags =
                (all[i].f.flags & ~(uint32_t)CT_STUCK_OVER) | (w && w->is_over ? CT_STUCK_OVER : 0);
        listed[(*n)++] = all[i];
    }
    if (!ct_is_drain_thread && blocked_ns >= BLOCKED_NS)
        listed[(*n)++] = driver_call(ct_clock_monotonic_ns());
}

uint32_t ct_watch_list(const struct ct_in_flight **all, bool finished)
{
    uint32_t n = 0;
    uint32_t flag = ct_harvest_unfinished() ? CT_STUCK_UNFINISHED : CT_STUCK_PAST;
    for (uint32_t i = 0; finished && i < watched_count; i++)
        if (watched[i].is_told)
            keep_past(&watched[i], flag);
    if (finished)
        watched_count = 0;
    list_past(&n);
    bool is_asked = atomic_load(&asked_ns) + ASKED_NS > ct_clock_monotonic_ns();
    if (!finished && (is_asked || ct_watch_stuck()))
        list_now(&n);
    *all = listed;
    return n;
}

void ct_watch_ask(void)
{
    atomic_store(&asked_ns, ct_clock_monotonic_ns());
    atomic_store_explicit(&ct_harvest_asks_starts, true, memory_order_relaxed);
}

bool ct_watchdog_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

uint32_t ct_watch_stuck(void)
{
    return atomic_load_explicit(&stuck_count, memory_order_relaxed);
}

/* ---- the thread ---- */

/* For how long the drain thread is inside one and the same call, to within a look. */
static void notice_blocking(uint64_t now_ns)
{
    uint64_t asks = atomic_load_explicit(&ct_asks, memory_order_relaxed);
    bool is_away = atomic_load_explicit(&ct_whereabouts, memory_order_relaxed) == CT_AWAY;
    bool is_in_it = is_away && asks == blocked_asks;
    blocked_ns =
        is_in_it ? ct_watch_counted_ns(blocked_ns, now_ns - blocked_look_ns, 2 * LOOK_NS) : 0;
    blocked_asks = asks;
    blocked_look_ns = now_ns;
}

static void *run(void *unused)
{
    (void)unused;
    if (!ct_spare())
        prctl(PR_SET_NAME, "cutrace-watch");
    ct_schedule_everywhere();
    while (ct_drain_watch_wait(LOOK_NS)) {
        notice_blocking(ct_clock_monotonic_ns());
        ct_drain_watch(look, blocked_ns >= BLOCKED_NS ? blocked_asks : UINT64_MAX);
    }
    return NULL;
}

void ct_watchdog_start(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t everything, before;
    if ((!ct_config.watchdog_factor && !ct_config.watchdog_ns) || !ct_proc_may_start_thread() ||
        pthread_attr_init(&attr))
        return;
    atomic_store_explicit(&ct_harvest_asks_starts, true, memory_order_relaxed);
    pthread_attr_setstacksize(&attr, STACK_BYTES + ct_objects_tls_bytes());
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    ct_schedule_ordinary(&attr);
    sigfillset(&everything); /* inherited, as by the drain thread */
    pthread_sigmask(SIG_SETMASK, &everything, &before);
    bool ok = pthread_create(&thread, &attr, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    atomic_store(&is_on, ok);
    ct_drain_is_watched(ok);
}
