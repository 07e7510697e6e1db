/* SPDX-License-Identifier: MIT */
#include "drain/shared_stream.h"

#include "base/sort.h"
#include "counts/row.h"
#include "drain/settle.h"
#include "state/context.h"
#include "system/clock.h"
#include "system/mem.h"
#include "time/lead.h"

#define LINES 16
#define MISSING 64 /* brackets that may be open at once, one a thread */

/*
 * A thread that lost its processor within a bracket holds up the line: so long at most, as held
 * brackets are in no table meanwhile.
 */
#define PATIENCE_NS 100000000
/* A line waits so long for more brackets, where a row has no prior that could decide on bounds. */
#define FIRST_NS 10000000

/* A bracket is opened so long before its open_ticks, about. */
#define OPENED_NS 1000

/* About the shortest operation: its segment has half of that and of its front end at least. */
#define SHORTEST_NS 500

struct missing {
    uint64_t opened;
    uint64_t since_ticks; /* none of its records was in the stream by then */
};

struct ct_shared_stream {
    struct ct_stream *stream; /* NULL: not in use */
    uint64_t stream_id;
    uint64_t since_ticks;
    uint64_t base_ns; /* all before this has been settled */
    unsigned count;
    unsigned missing_count;
    struct missing missing[MISSING]; /* opened before brackets that are held, and not read yet */
    struct ct_measured held[CT_PLACE_ROOM];
};

static CT_PROCESS struct ct_shared_stream *lines[LINES];
static unsigned next_line; /* to be taken from its stream if all are in use */

/* ---- brackets that have not been read ---- */

static void forget_missing(struct ct_shared_stream *l, unsigned at)
{
    l->missing_count--;
    for (unsigned i = at; i < l->missing_count; i++)
        l->missing[i] = l->missing[i + 1];
}

static void add_missing(struct ct_shared_stream *l, uint64_t opened, uint64_t ticks)
{
    if (l->missing_count == MISSING)
        forget_missing(l, 0);
    l->missing[l->missing_count++] =
        (struct missing){opened, ticks - ct_min(ticks, ct_ns_to_ticks(OPENED_NS))};
}

static void see_late(struct ct_shared_stream *l, uint64_t opened)
{
    for (unsigned i = 0; i < l->missing_count; i++)
        if (l->missing[i].opened == opened) {
            forget_missing(l, i);
            return;
        }
}

static void see(struct ct_stream *s, const struct ct_op *op)
{
    struct ct_shared_stream *l = s->line;
    if (op->opened <= s->newest_opened) {
        if (l)
            see_late(l, op->opened);
        return;
    }
    uint64_t first = ct_max(s->newest_opened + 1, op->opened - ct_min(op->opened - 1, MISSING));
    for (uint64_t o = first; l && o < op->opened; o++)
        add_missing(l, o, s->newest_ticks);
    s->newest_opened = op->opened;
    s->newest_ticks = op->open_ticks;
}

/* No bracket is on its way: any that are missing were dropped, and never come. */
static bool is_quiet(const struct ct_stream *s)
{
    return !s->first_pending && !ct_stream_has_open(s) &&
           atomic_load_explicit(&s->sequence, memory_order_acquire) == s->dealt;
}

static void lose_patience(struct ct_shared_stream *l)
{
    uint64_t now = ct_ticks(), patience = ct_ns_to_ticks(PATIENCE_NS);
    if (is_quiet(l->stream))
        l->missing_count = 0;
    while (l->missing_count && l->missing[0].since_ticks + patience < now)
        forget_missing(l, 0);
}

/* ---- places ---- */

static const struct ct_calibration *figures_of(const struct ct_measured *m)
{
    return ct_device(m->device)->calibration;
}

static uint64_t bias_of(const struct ct_measured *m)
{
    const struct ct_calibration *c = figures_of(m);
    bool is_copy = m->times.work == CT_CLASS_COPY || m->times.work == CT_CLASS_WAIT;
    uint64_t bias_ns = is_copy ? c->bias_copy_ns : c->bias_ready_ns;
    return ct_max(bias_ns, ct_record_ns(c));
}

static uint64_t usual_ns(const struct ct_measured *m)
{
    const struct ct_prior *p = &ct_row(m->op.row)->prior;
    return p->count >= CT_PRIOR_LEAST ? p->median_ns : 0;
}

static struct ct_place_bracket bracket_of(const struct ct_measured *m)
{
    uint64_t record_ns = ct_record_ns(figures_of(m)), more_ns = bias_of(m) - record_ns;
    return (struct ct_place_bracket){
        .start_ns = m->start_ns,
        .stop_ns = m->stop_ns,
        .open_ticks = m->op.open_ticks,
        .call_ticks = m->op.call_ticks,
        .done_ticks = m->op.done_ticks,
        .closed_ticks = m->op.closed_ticks,
        .has_start = ct_op_has_start_record(&m->op),
        .is_settled = m->is_placed,
        .least_ns = (uint32_t)(record_ns + (more_ns + SHORTEST_NS) / 2),
        .front_ns = (uint32_t)more_ns,
        .usual_ns = usual_ns(m),
    };
}

static void move_to(struct ct_measured *m, const struct ct_place *p)
{
    m->is_placed = true;
    m->place = *p;
    m->bracket_ns = m->times.raw_ns;
    m->start_ns = p->from_ns;
    m->stop_ns = p->to_ns + (p->is_last ? 0 : ct_record_ns(figures_of(m)));
    m->times.raw_ns = m->stop_ns - m->start_ns;
    m->times.gap_ns = 0;
    m->times.is_placed = m->times.shared_start = true;
    m->times.is_torn = m->op.flags & (CT_OP_BROKEN | CT_OP_LEGACY_WAIT);
    m->times.with = p->with;
    if (!m->times.is_torn)
        m->op.flags &= ~(uint32_t)CT_OP_OVERLAPPED;
    m->op.flags |= CT_OP_SHARED_START;
}

/* The latest stamp of a record that the host had made by then. */
static uint64_t latest_before(const struct ct_shared_stream *l, uint64_t ticks)
{
    uint64_t ns = l->base_ns;
    for (unsigned i = 0; i < l->count; i++) {
        const struct ct_measured *m = &l->held[i];
        if (m->op.call_ticks < ticks && ct_op_has_start_record(&m->op))
            ns = ct_max(ns, m->start_ns);
        if (m->op.closed_ticks < ticks)
            ns = ct_max(ns, m->stop_ns);
    }
    return ns;
}

/* ---- rows without a prior ---- */

static struct ct_place_bracket brackets[CT_PLACE_ROOM];
static struct ct_place places[CT_PLACE_ROOM];
static uint64_t lengths_ns[CT_PLACE_ROOM];

static bool is_longer(unsigned a, unsigned b)
{
    return lengths_ns[a] > lengths_ns[b];
}

static void swap(unsigned a, unsigned b)
{
    uint64_t was = lengths_ns[a];
    lengths_ns[a] = lengths_ns[b];
    lengths_ns[b] = was;
}

/* The median length of a row's operations with a segment for themselves; 0: there are too few. */
static uint64_t guess_usual_ns(const struct ct_shared_stream *l, uint32_t row)
{
    uint64_t record_ns = ct_record_ns(figures_of(l->held));
    unsigned n = 0;
    for (unsigned i = 0; i < l->count; i++) {
        uint64_t front_ns = record_ns + brackets[i].front_ns;
        uint64_t ns = places[i].to_ns - places[i].from_ns;
        if (l->held[i].op.row == row && !l->held[i].is_placed && !places[i].with && ns > front_ns)
            lengths_ns[n++] = ns - front_ns;
    }
    ct_sort(n, is_longer, swap);
    return n < CT_PRIOR_LEAST ? 0 : lengths_ns[n / 2];
}

/* True: a usual length was guessed, and places may be better with it. */
static bool guess_unknown(const struct ct_shared_stream *l)
{
    bool guessed = false;
    for (unsigned i = 0; i < l->count; i++) {
        uint32_t row = l->held[i].op.row;
        uint64_t ns = brackets[i].usual_ns ? 0 : guess_usual_ns(l, row);
        guessed |= ns != 0;
        for (unsigned k = i; ns && k < l->count; k++)
            if (l->held[k].op.row == row)
                brackets[k].usual_ns = ns;
    }
    return guessed;
}

/* Whether the GPU was just being told of an entry behind the record that ends a place. */
static bool met_intake(const struct ct_shared_stream *l, const struct ct_gpu_clock *clock,
                       uint64_t cut_ns)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->held[i].stop_ns > cut_ns && ct_lead_takes_in(clock, cut_ns, &l->held[i].op))
            return true;
    return ct_lead_met_intake(clock, cut_ns, l->stream->first_pending);
}

/* Settles a copy: the bracket stays for as long as its stop record cuts the stream. */
static void settle(const struct ct_measured *m, const struct ct_place *p, bool met)
{
    struct ct_measured *to = ct_settle_next();
    *to = *m;
    move_to(to, p);
    to->times.met_intake = met;
    ct_settle_keep();
}

/* Settles the brackets whose place ends by then. */
static void settle_until(struct ct_shared_stream *l, uint64_t until_ns)
{
    unsigned kept = 0;
    if (!l->count || until_ns <= l->base_ns)
        return;
    struct ct_gpu_clock *clock = &ct_context(l->held->op.context)->clock;
    for (unsigned i = 0; i < l->count; i++) {
        brackets[i] = bracket_of(&l->held[i]);
        ct_lead_correct(clock, &l->held[i]);
    }
    ct_place_all(brackets, l->count, l->base_ns, ct_record_ns(figures_of(l->held)), clock, places);
    if (guess_unknown(l))
        ct_place_all(brackets, l->count, l->base_ns, ct_record_ns(figures_of(l->held)), clock,
                     places);
    for (unsigned i = 0; i < l->count; i++) {
        struct ct_measured *m = &l->held[i];
        if (!m->is_placed && places[i].cut_ns <= until_ns) {
            if (m->start_ns > l->base_ns)
                ct_lead_pin_idle(clock, m, places[i].idle_ns);
            settle(m, &places[i], met_intake(l, clock, places[i].cut_ns));
            m->is_placed = true;
            l->stream->placed_ns = ct_max(l->stream->placed_ns, places[i].cut_ns);
            l->stream->was_shared = true;
        }
        if (!m->is_placed || m->stop_ns > until_ns)
            l->held[kept++] = *m;
    }
    l->count = kept;
    l->base_ns = until_ns;
}

static void release(struct ct_shared_stream *l)
{
    settle_until(l, UINT64_MAX);
    l->stream->line = NULL;
    l->stream = NULL;
}

static bool is_row_new(const struct ct_measured *m)
{
    return !m->is_placed && ct_row(m->op.row)->prior.count < CT_PRIOR_LEAST;
}

static bool waits_for_more(const struct ct_shared_stream *l)
{
    bool waits = false;
    for (unsigned i = 0; i < l->count && !waits; i++)
        waits = is_row_new(&l->held[i]);
    return waits && l->count < CT_PLACE_ROOM &&
           ct_ticks() < l->since_ticks + ct_ns_to_ticks(FIRST_NS);
}

static void step(struct ct_shared_stream *l)
{
    lose_patience(l);
    if (waits_for_more(l))
        return;
    while (l->missing_count) {
        settle_until(l, latest_before(l, l->missing[0].since_ticks));
        if (l->count < CT_PLACE_ROOM)
            return;
        forget_missing(l, 0);
    }
    release(l);
}

/* ---- the lines ---- */

static struct ct_shared_stream *take(void)
{
    for (unsigned i = 0; i < LINES; i++) {
        if (!lines[i])
            return lines[i] = ct_map(sizeof(*lines[i]));
        if (!lines[i]->stream)
            return lines[i];
    }
    struct ct_shared_stream *l = lines[next_line++ % LINES];
    release(l);
    return l;
}

static struct ct_shared_stream *line_of(struct ct_stream *s, const struct ct_measured *m)
{
    if (s->line && s->line->stream_id != m->stream_id)
        release(s->line);
    if (s->line)
        return s->line;
    struct ct_shared_stream *l = take();
    if (!l)
        return NULL;
    l->stream = s;
    l->stream_id = m->stream_id;
    if (s->alone_context != m->op.context)
        s->alone_stop_ns = s->placed_ns = 0;
    s->alone_context = m->op.context;
    l->base_ns = ct_max(s->alone_stop_ns, s->placed_ns);
    l->since_ticks = ct_ticks();
    l->count = l->missing_count = 0;
    return s->line = l;
}

bool ct_shared_stream_hold(struct ct_stream *s, const struct ct_measured *m)
{
    struct ct_shared_stream *l = line_of(s, m);
    see(s, &m->op);
    if (!l)
        return false;
    if (l->count == CT_PLACE_ROOM) {
        struct ct_measured copy = *m; /* settling overwrites *m */
        step(l);
        return ct_shared_stream_hold(s, &copy);
    }
    l->held[l->count++] = *m;
    return true;
}

void ct_shared_stream_lost(struct ct_stream *s, const struct ct_op *op)
{
    see(s, op);
}

void ct_shared_stream_end(struct ct_stream *s, const struct ct_op *op)
{
    if (ct_unlikely(s->line != NULL))
        release(s->line);
    see(s, op);
}

void ct_shared_streams_step(void)
{
    for (unsigned i = 0; i < LINES; i++)
        if (lines[i] && lines[i]->stream)
            step(lines[i]);
}

void ct_shared_streams_end(void)
{
    for (unsigned i = 0; i < LINES; i++)
        if (lines[i] && lines[i]->stream)
            release(lines[i]);
}
