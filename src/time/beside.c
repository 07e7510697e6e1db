/* SPDX-License-Identifier: MIT */
#include "time/beside.h"

#include "base/sort.h"
#include "system/mem.h"

#define RUNNING 64
#define REMEMBERED 64
#define REMEMBERED_EACH 16 /* of a context */

/* So long after it was asked for, a start stamp on an idle stream tells that nothing was served. */
#define STALL_NS 20000

/* Kernels in flight that fill the device, of which more than a few cannot have any place. */
#define FILLING 32

#define NO_STREAM UINT32_MAX

/* In the order in which those of one time count. */
enum kind {
    STOP,
    START,
    BEGIN, /* without a record: a start that is shared or has been worked out */
};

struct stamp {
    uint64_t at_ns;
    struct ct_measured *m; /* NULL: only beside the others */
    uint64_t filled_to_ns; /* of a start: till then its kernel fills the device; 0: it does not */
    uint32_t stream;
    uint32_t context;
    int32_t priority;
    enum kind kind;
};

/* A bracket of the round before: it may span both rounds. */
struct span {
    uint64_t start_ns;
    uint64_t stop_ns;
    uint32_t stream;
    uint32_t context;
    int32_t priority;
    bool has_record;
    bool fills_device;
};

static CT_PROCESS struct stamp *stamps;
static unsigned stamp_count;
static struct stamp running[RUNNING];
static CT_PROCESS unsigned running_count;
static struct span remembered[REMEMBERED];
static CT_PROCESS unsigned remembered_count;

bool ct_beside_init(void)
{
    stamps = ct_map(sizeof(*stamps) * (2 * (CT_BESIDE_ROOM + REMEMBERED) + RUNNING));
    return stamps;
}

void ct_beside_running(uint32_t stream, uint32_t context, uint64_t start_ns)
{
    if (running_count < RUNNING)
        running[running_count++] =
            (struct stamp){.at_ns = start_ns, .stream = stream, .context = context, .kind = BEGIN};
}

/* ---- stamps by context and time ---- */

static bool is_later(unsigned i, unsigned k)
{
    const struct stamp *a = &stamps[i], *b = &stamps[k];
    if (a->context != b->context)
        return a->context > b->context;
    return a->at_ns != b->at_ns ? a->at_ns > b->at_ns : a->kind > b->kind;
}

static void swap(unsigned a, unsigned b)
{
    struct stamp was = stamps[a];
    stamps[a] = stamps[b];
    stamps[b] = was;
}

static void add(const struct span *s, struct ct_measured *m)
{
    struct stamp at = {.m = m, .stream = s->stream, .context = s->context, .priority = s->priority};
    at.at_ns = s->start_ns;
    at.kind = s->has_record ? START : BEGIN;
    at.filled_to_ns = s->fills_device ? s->stop_ns : 0;
    stamps[stamp_count++] = at;
    at.filled_to_ns = 0;
    at.at_ns = s->stop_ns;
    at.kind = STOP;
    stamps[stamp_count++] = at;
}

static struct span span_of(const struct ct_measured *m)
{
    return (struct span){
        .start_ns = m->start_ns,
        .stop_ns = m->stop_ns,
        .stream = m->op.stream,
        .context = m->op.context,
        .priority = m->priority,
        .has_record = ct_op_has_start_record(&m->op),
        .fills_device = m->fills_device,
    };
}

/* Its bracket begins when the one before on its stream has ended, whenever it was submitted. */
static void add_running(const struct stamp *r, const struct ct_measured *measured, unsigned count)
{
    struct stamp *at = &stamps[stamp_count++];
    *at = *r;
    for (unsigned i = 0; i < count; i++)
        if (measured[i].op.stream == r->stream && measured[i].op.context == r->context)
            at->at_ns = ct_max(at->at_ns, measured[i].stop_ns);
}

static void collect(struct ct_measured *measured, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct span s = span_of(&measured[i]);
        add(&s, &measured[i]);
    }
    for (unsigned i = 0; i < remembered_count; i++)
        add(&remembered[i], NULL);
    for (unsigned i = 0; i < running_count; i++)
        add_running(&running[i], measured, count);
}

/* Most rounds are of one stream: then there is nothing to look at, and no memory to touch. */
static bool is_one_stream(const struct ct_measured *measured, unsigned count)
{
    uint32_t stream = measured->op.stream, context = measured->op.context;
    for (unsigned i = 1; i < count; i++)
        if (measured[i].op.stream != stream || measured[i].op.context != context)
            return false;
    for (unsigned i = 0; i < remembered_count; i++)
        if (remembered[i].stream != stream || remembered[i].context != context)
            return false;
    for (unsigned i = 0; i < running_count; i++)
        if (running[i].stream != stream || running[i].context != context)
            return false;
    return true;
}

static void remember_one_stream(const struct ct_measured *measured, unsigned count)
{
    remembered_count = 0;
    while (remembered_count < ct_min(count, REMEMBERED_EACH)) {
        remembered[remembered_count] = span_of(&measured[count - 1 - remembered_count]);
        remembered_count++;
    }
}

/* Until `end`: those behind come again. */
static void remember(const struct ct_measured *end)
{
    unsigned each = 0;
    uint32_t context = 0;
    remembered_count = 0;
    for (unsigned i = stamp_count; i-- && remembered_count < REMEMBERED;) {
        const struct stamp *s = &stamps[i];
        if (s->context != context)
            each = 0;
        context = s->context;
        if (s->kind == STOP && s->m && s->m < end && each++ < REMEMBERED_EACH)
            remembered[remembered_count++] = span_of(s->m);
    }
}

/* ---- waits of each bracket ---- */

/* How far the sweep has come, in one context. */
struct sweep {
    uint32_t context;
    uint32_t in_flight;
    uint64_t chain_ns; /* since then the front end has gone from turn to turn, */
    uint32_t most;     /* with so many in flight, */
    bool stalled;      /* and has served nobody at first */
    struct stamp latest;
    struct stamp other;                   /* the latest of another stream than `latest` */
    const struct stamp *filling[FILLING]; /* starts */
    unsigned filling_count;
};

static bool is_within_turn(const struct stamp *before, const struct stamp *s)
{
    uint64_t turn_ns = before->kind == STOP ? CT_STOP_TURN_NS : CT_START_TURN_NS;
    return before->stream != NO_STREAM && s->at_ns <= before->at_ns + turn_ns;
}

static bool is_stalled(const struct stamp *s)
{
    return s->kind == START && s->m && s->m->asked_ns && s->m->asked_ns + STALL_NS < s->at_ns;
}

static void note_record(struct sweep *w, const struct stamp *s)
{
    if (!is_within_turn(&w->latest, s)) {
        w->chain_ns = s->at_ns;
        w->most = w->in_flight;
        w->stalled = false;
    }
    if (is_stalled(s)) {
        w->chain_ns = ct_min(w->chain_ns, s->m->asked_ns);
        w->stalled = true;
    }
    if (w->latest.stream != s->stream)
        w->other = w->latest;
    w->latest = *s;
}

/* The latest record of another stream. */
static const struct stamp *other(const struct sweep *w, const struct stamp *s)
{
    return w->latest.stream != s->stream ? &w->latest : &w->other;
}

static uint64_t after_other_ns(const struct sweep *w, const struct stamp *s)
{
    const struct stamp *before = other(w, s);
    return before->stream != NO_STREAM ? s->at_ns - before->at_ns : 0;
}

/* Unless the front end stood still, each of the others had a turn at most. */
static uint64_t held_ns(const struct sweep *w, const struct stamp *s)
{
    if (!is_within_turn(other(w, s), s))
        return 0;
    uint64_t ns = s->at_ns - ct_max(w->chain_ns, s->m->start_ns);
    return w->stalled ? ns : ct_min(ns, (uint64_t)w->most * CT_START_TURN_NS);
}

/* A kernel that begins now has its blocks behind theirs, but for streams of less priority. */
static void find_filling(struct sweep *w, const struct stamp *s)
{
    struct ct_bracket_times *t = &s->m->times;
    unsigned kept = 0;
    t->filled_ns = 0;
    t->filled_past = false;
    for (unsigned i = 0; i < w->filling_count; i++) {
        const struct stamp *f = w->filling[i];
        if (f->filled_to_ns <= s->at_ns)
            continue;
        w->filling[kept++] = f;
        if (f->stream == s->stream || f->priority > s->priority)
            continue;
        if (f->filled_to_ns < s->m->stop_ns)
            t->filled_ns = ct_max(t->filled_ns, f->filled_to_ns - s->at_ns);
        else
            t->filled_past = true;
    }
    w->filling_count = kept;
}

static void note_filling(struct sweep *w, const struct stamp *s)
{
    if (s->filled_to_ns && w->filling_count < FILLING)
        w->filling[w->filling_count++] = s;
}

static void pass(struct sweep *w, const struct stamp *s)
{
    w->most = ct_max(w->most, w->in_flight);
    if (s->kind == STOP && w->in_flight)
        w->in_flight--;
    if (s->m && s->kind == STOP) {
        s->m->times.beside = w->in_flight;
        s->m->times.held_ns = held_ns(w, s);
        s->m->times.stalled = w->stalled && s->m->times.held_ns;
    } else if (s->m) {
        s->m->times.beside_start = w->in_flight;
        s->m->times.after_other_ns = after_other_ns(w, s);
        find_filling(w, s);
    }
    note_filling(w, s);
    w->in_flight += s->kind != STOP;
    if (s->kind != BEGIN)
        note_record(w, s);
}

/* The first stamp after one that is later than that. */
static unsigned first_after(unsigned i, uint64_t at_ns)
{
    unsigned low = i + 1, high = stamp_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (stamps[middle].context == stamps[i].context && stamps[middle].at_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * The latest stop of another stream that was stamped between the start of this one and the moment
 * when its operation, of which the GPU was told late, could begin.
 */
uint64_t ct_beside_taken_ns(const struct ct_measured *m)
{
    unsigned start = m->start_stamp;
    int64_t lead_ns = m->times.lead_ns;
    if (!stamp_count || lead_ns == CT_LEAD_UNKNOWN || lead_ns <= CT_LEAD_READY_NS)
        return 0;
    uint64_t told_ns = m->start_ns + (uint64_t)lead_ns;
    for (unsigned i = first_after(start, told_ns + CT_PERHAPS_BEFORE_NS); --i > start;) {
        uint64_t after_ns = stamps[i].at_ns - m->start_ns;
        if ((int64_t)after_ns + CT_AFTER_STOP_NS < lead_ns)
            break;
        if (stamps[i].kind == STOP && stamps[i].stream != m->op.stream)
            return after_ns;
    }
    return 0;
}

static void look(void)
{
    struct sweep w = {.context = UINT32_MAX};
    for (unsigned i = 0; i < stamp_count; i++) {
        const struct stamp *s = &stamps[i];
        if (s->context != w.context)
            w = (struct sweep){.context = s->context,
                               .latest = {.stream = NO_STREAM},
                               .other = {.stream = NO_STREAM}};
        if (s->m && s->kind != STOP)
            s->m->start_stamp = i;
        pass(&w, s);
    }
}

bool ct_beside_is_open(const struct ct_measured *measured, unsigned count)
{
    return count && !is_one_stream(measured, count);
}

void ct_beside_find(struct ct_measured *measured, unsigned count, unsigned settled)
{
    stamp_count = 0;
    if (settled && is_one_stream(measured, count)) {
        remember_one_stream(measured, settled);
    } else if (settled) { /* otherwise the remembered ones stay */
        collect(measured, count);
        ct_sort(stamp_count, is_later, swap);
        look();
        remember(measured + settled);
    }
    running_count = 0;
}
