/* SPDX-License-Identifier: MIT */
#include "time/place.h"

#include "base/sort.h"
#include "time/estimate.h"

#define RECORDS (2 * CT_PLACE_ROOM + 1)
#define NONE UINT32_MAX

/* An empty segment may be so much longer than a record, which waits for the host. */
#define SLOW_RECORD_NS 700

/* A record as it cut the stream. Its effect was between the two ticks, as all records around say.
 */
struct cut {
    uint64_t at_ns;
    uint64_t after_ticks;
    uint64_t before_ticks;
    uint32_t bracket;
    bool is_stop;
    bool has_waited; /* for work in front of it, for all that is known */
};

/* The segments in which an operation can be: between a cut and the next one. */
struct reach {
    uint32_t first; /* by all that is certain, */
    uint32_t last;
    uint32_t due; /* and by when its call returned it was not later than there */
};

static const struct ct_place_bracket *brackets;
static struct cut cuts[RECORDS];
static unsigned cut_count;
static struct reach reach[CT_PLACE_ROOM];
static uint32_t waiting[CT_PLACE_ROOM]; /* those that can be here already, and have no place yet */
static unsigned waiting_count;
static uint32_t held[RECORDS];     /* how many operations each segment holds, */
static uint32_t first_in[RECORDS]; /* and which: a list that goes on in `next_in` */
static uint32_t next_in[CT_PLACE_ROOM];

/* ---- the stream's line ---- */

static bool is_later(unsigned a, unsigned b)
{
    const struct cut *x = &cuts[a], *y = &cuts[b];
    if (x->at_ns != y->at_ns)
        return x->at_ns > y->at_ns;
    return x->is_stop != y->is_stop ? x->is_stop : x->bracket + 1 > y->bracket + 1; /* NONE first */
}

static void swap(unsigned a, unsigned b)
{
    struct cut was = cuts[a];
    cuts[a] = cuts[b];
    cuts[b] = was;
}

static void add_cut(uint32_t bracket, bool is_stop)
{
    const struct ct_place_bracket *b = &brackets[bracket];
    cuts[cut_count++] = (struct cut){
        .at_ns = ct_max(is_stop ? b->stop_ns : b->start_ns, cuts->at_ns),
        .after_ticks = is_stop ? b->done_ticks : b->open_ticks,
        .before_ticks = is_stop ? b->closed_ticks : b->call_ticks,
        .bracket = bracket,
        .is_stop = is_stop,
    };
}

/* The first cut is where the line begins; nothing is known of it but that all else is behind it. */
static void collect(unsigned count, uint64_t base_ns)
{
    cuts[0] = (struct cut){.at_ns = base_ns, .bracket = NONE};
    cut_count = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (brackets[i].has_start && brackets[i].start_ns > base_ns && !brackets[i].is_settled)
            add_cut(i, false);
        add_cut(i, true);
    }
    ct_sort(cut_count, is_later, swap);
}

/* A later stamp is of a later effect: so each record bounds those before and behind it. */
static void bound(const struct ct_gpu_clock *clock)
{
    uint64_t after = 0, before = UINT64_MAX, idle_ns;
    for (unsigned p = 0; p < cut_count; p++)
        after = cuts[p].after_ticks = ct_max(after, cuts[p].after_ticks);
    for (unsigned p = cut_count; p-- > 1;) {
        before = cuts[p].before_ticks = ct_min(before, cuts[p].before_ticks);
        cuts[p].has_waited =
            !ct_gpu_clock_about(clock, before, &idle_ns) || cuts[p].at_ns > idle_ns + CT_LATE_NS;
    }
}

static uint64_t length_ns(uint32_t segment)
{
    return cuts[segment + 1].at_ns - cuts[segment].at_ns;
}

static bool has_room(uint32_t segment, uint32_t bracket)
{
    return length_ns(segment) >= brackets[bracket].least_ns;
}

/* ---- where each can be ---- */

static uint32_t longest(uint32_t first, uint32_t last)
{
    uint32_t best = last;
    for (uint32_t s = last; s-- > first;)
        if (length_ns(s) > length_ns(best))
            best = s;
    return best;
}

/*
 * A call takes effect close to its end, as it waits for others at its beginning. So an operation
 * whose call returned before a record's did was before that record.
 */
static void narrow(uint32_t bracket, uint32_t start, uint32_t stop)
{
    const struct ct_place_bracket *b = &brackets[bracket];
    struct reach *r = &reach[bracket];
    *r = (struct reach){.first = start, .last = stop - 1};
    while (r->first < r->last && cuts[r->first + 1].before_ticks < b->call_ticks)
        r->first++;
    while (r->last > r->first && cuts[r->last].after_ticks > b->done_ticks)
        r->last--;
    uint32_t due = r->first, s;
    while (due < r->last && cuts[due + 1].before_ticks <= b->done_ticks)
        due++;
    for (s = due + 1; s-- > r->first && !has_room(s, bracket);)
        ;
    if (s + 1 > r->first && has_room(s, bracket)) {
        r->due = s;
        return;
    }
    for (s = due + 1; s <= r->last && !has_room(s, bracket); s++)
        ;
    r->due = s <= r->last ? s : longest(start, stop - 1);
    r->first = ct_min(r->first, r->due);
}

/* A start that was worked out is no cut: the operation is behind the last one before it. */
static void find_reach(unsigned count, uint64_t base_ns)
{
    static uint32_t start[CT_PLACE_ROOM];
    for (uint32_t i = 0; i < count; i++)
        start[i] = 0;
    for (uint32_t p = 1; p < cut_count; p++)
        if (!cuts[p].is_stop)
            start[cuts[p].bracket] = p;
    for (uint32_t p = 1; p < cut_count; p++) {
        uint32_t i = cuts[p].bracket;
        if (!cuts[p].is_stop || brackets[i].is_settled)
            continue;
        if (!brackets[i].has_start && brackets[i].start_ns > base_ns)
            for (uint32_t q = p; q-- > 0 && cuts[start[i] = q].at_ns > brackets[i].start_ns;)
                ;
        narrow(i, ct_min(start[i], p - 1), p);
    }
}

/* ---- which it is ---- */

static void put(unsigned at, uint32_t segment)
{
    next_in[waiting[at]] = first_in[segment];
    first_in[segment] = waiting[at];
    held[segment]++;
    waiting[at] = waiting[--waiting_count];
}

/* The one that has to be somewhere first, of those that can be there; NONE: there is none. */
static uint32_t most_urgent(uint32_t segment)
{
    uint64_t length = length_ns(segment);
    uint32_t best = NONE;
    for (uint32_t k = 0; k < waiting_count; k++) {
        const struct reach *r = &reach[waiting[k]];
        if (r->first <= segment && length >= brackets[waiting[k]].least_ns + SLOW_RECORD_NS &&
            (best == NONE || r->due < reach[waiting[best]].due))
            best = k;
    }
    return best;
}

/* Each goes where it has to be at the latest, or earlier where there must have been one. */
static void fill(uint32_t segment)
{
    for (uint32_t k = 0; k < waiting_count;)
        if (reach[waiting[k]].due <= segment)
            put(k, segment);
        else
            k++;
    if (held[segment] || !cuts[segment + 1].has_waited)
        return;
    uint32_t k = most_urgent(segment);
    if (k != NONE)
        put(k, segment);
}

static void assign(unsigned count)
{
    static uint32_t by_first[RECORDS], next[CT_PLACE_ROOM];
    for (uint32_t s = 0; s < cut_count; s++) {
        held[s] = 0;
        by_first[s] = first_in[s] = NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (brackets[i].is_settled)
            continue;
        next[i] = by_first[reach[i].first];
        by_first[reach[i].first] = i;
    }
    waiting_count = 0;
    for (uint32_t s = 0; s + 1 < cut_count; s++) {
        for (uint32_t i = by_first[s]; i != NONE; i = next[i])
            waiting[waiting_count++] = i;
        fill(s);
    }
}

/* ---- whether the lengths agree ---- */

/* A segment and its operations are as long as each other but for that. */
#define FITS_NS 500
/* An operation is not looked for farther away. */
#define NEAR 48
#define PASSES 3

/* By segment: how long its operations usually are together, and how many are not known. */
static int64_t needed_ns[RECORDS];
static uint32_t unknown[RECORDS];
static int64_t record_ns;

static int64_t needs(uint32_t bracket)
{
    return (int64_t)(brackets[bracket].usual_ns + brackets[bracket].front_ns);
}

static void count_in(uint32_t segment, uint32_t bracket, int by)
{
    needed_ns[segment] += by * needs(bracket);
    unknown[segment] += (uint32_t)(brackets[bracket].usual_ns ? 0 : by);
}

/* By how much they differ if so much more is in it; where the host was late there may be a rest. */
static int64_t misfit(uint32_t segment, int64_t more_ns)
{
    if (unknown[segment])
        return 0;
    int64_t free_ns = (int64_t)length_ns(segment) - record_ns;
    int64_t rest_ns = (free_ns > 0 ? free_ns : 0) - needed_ns[segment] - more_ns;
    if (rest_ns < 0)
        return -rest_ns;
    return cuts[segment + 1].has_waited ? rest_ns : 0;
}

static void take_out(uint32_t bracket, uint32_t segment)
{
    uint32_t *at = &first_in[segment];
    while (*at != bracket)
        at = &next_in[*at];
    *at = next_in[bracket];
    held[segment]--;
    count_in(segment, bracket, -1);
}

static void put_in(uint32_t bracket, uint32_t segment)
{
    next_in[bracket] = first_in[segment];
    first_in[segment] = bracket;
    held[segment]++;
    count_in(segment, bracket, 1);
}

static bool can_be_in(uint32_t bracket, uint32_t segment)
{
    return reach[bracket].first <= segment && segment <= reach[bracket].last &&
           has_room(segment, bracket);
}

/* The best that can be done for an operation: to go elsewhere, or to change places with another. */
struct change {
    int64_t gain_ns;
    uint32_t to;
    uint32_t with; /* NONE: with none */
};

static void consider(struct change *best, uint32_t i, uint32_t from, uint32_t to, uint32_t with)
{
    int64_t mine_ns = needs(i), other_ns = with == NONE ? 0 : needs(with);
    int64_t was_ns = misfit(from, 0) + misfit(to, 0);
    int64_t is_ns = misfit(from, other_ns - mine_ns) + misfit(to, mine_ns - other_ns);
    if (was_ns - is_ns > best->gain_ns)
        *best = (struct change){was_ns - is_ns, to, with};
}

static struct change best_change(uint32_t i, uint32_t from)
{
    struct change best = {FITS_NS, NONE, NONE};
    uint32_t first = ct_max(reach[i].first, from - ct_min(from, NEAR));
    for (uint32_t to = first; to <= reach[i].last && to <= from + NEAR; to++) {
        if (to == from || !can_be_in(i, to) || unknown[to])
            continue;
        consider(&best, i, from, to, NONE);
        for (uint32_t j = first_in[to]; j != NONE; j = next_in[j])
            if (can_be_in(j, from))
                consider(&best, i, from, to, j);
    }
    return best;
}

static bool improve(uint32_t segment)
{
    if (unknown[segment] || misfit(segment, 0) <= FITS_NS)
        return false;
    for (uint32_t i = first_in[segment]; i != NONE; i = next_in[i]) {
        struct change c = best_change(i, segment);
        if (c.to == NONE)
            continue;
        take_out(i, segment);
        put_in(i, c.to);
        if (c.with != NONE) {
            take_out(c.with, c.to);
            put_in(c.with, segment);
        }
        return true;
    }
    return false;
}

/* Where the usual lengths of operations are known, they tell more than when calls returned. */
static void fit(void)
{
    for (uint32_t s = 0; s + 1 < cut_count; s++) {
        needed_ns[s] = unknown[s] = 0;
        for (uint32_t i = first_in[s]; i != NONE; i = next_in[i])
            count_in(s, i, 1);
    }
    bool changed = true;
    for (unsigned pass = 0; pass < PASSES && changed; pass++) {
        changed = false;
        for (uint32_t s = 0; s + 1 < cut_count; s++)
            changed |= improve(s);
    }
}

/* ---- shares ---- */

static uint64_t weight(uint32_t bracket, uint64_t otherwise_ns)
{
    const struct ct_place_bracket *b = &brackets[bracket];
    return (b->usual_ns ? b->usual_ns : otherwise_ns) + b->front_ns;
}

/* Those of a segment, in the order in which their calls returned. */
static unsigned list(uint32_t segment, uint32_t *in)
{
    unsigned n = 0;
    for (uint32_t i = first_in[segment]; i != NONE; i = next_in[i]) {
        unsigned at = n++;
        for (; at && brackets[in[at - 1]].done_ticks > brackets[i].done_ticks; at--)
            in[at] = in[at - 1];
        in[at] = i;
    }
    return n;
}

/* In proportion to the usual time of each; the record is the last one's. */
static void share(uint32_t segment, struct ct_place *places)
{
    static uint32_t in[CT_PLACE_ROOM];
    unsigned n = list(segment, in), known = 0;
    uint64_t sum_ns = 0, usual_ns = 0, end_ns = cuts[segment + 1].at_ns, at_ns = end_ns;
    for (unsigned k = 0; k < n; k++)
        at_ns = ct_min(at_ns, ct_max(cuts[segment].at_ns, brackets[in[k]].start_ns));
    uint64_t free_ns =
        end_ns - at_ns > (uint64_t)record_ns ? end_ns - at_ns - (uint64_t)record_ns : 0;
    for (unsigned k = 0; k < n; k++) {
        usual_ns += brackets[in[k]].usual_ns;
        known += brackets[in[k]].usual_ns != 0;
    }
    usual_ns = known ? usual_ns / known : free_ns / n;
    for (unsigned k = 0; k < n; k++)
        sum_ns += weight(in[k], usual_ns);
    for (unsigned k = 0; k < n; k++) {
        const struct ct_place_bracket *b = &brackets[in[k]];
        uint64_t part = (uint64_t)((double)free_ns * (double)weight(in[k], usual_ns) /
                                   (double)ct_max(sum_ns, 1));
        bool is_last = k + 1 == n;
        places[in[k]] = (struct ct_place){
            .from_ns = at_ns,
            .to_ns = is_last ? end_ns : at_ns + part,
            .cut_ns = end_ns,
            .with = n - 1,
            .is_last = is_last,
            .early_ticks = ct_max(b->call_ticks, cuts[segment].after_ticks),
            .late_ticks = ct_min(b->done_ticks, cuts[segment + 1].before_ticks),
            .end_ticks = cuts[segment + 1].before_ticks,
        };
        at_ns = places[in[k]].to_ns;
    }
}

static void find_idle(struct ct_place *places)
{
    for (uint32_t p = 1; p < cut_count; p++)
        if (!cuts[p].is_stop)
            places[cuts[p].bracket].idle_ns = held[p - 1] ? 0 : length_ns(p - 1);
}

void ct_place_all(const struct ct_place_bracket *list_of, unsigned count, uint64_t base_ns,
                  uint64_t one_record_ns, const struct ct_gpu_clock *clock, struct ct_place *places)
{
    brackets = list_of;
    record_ns = (int64_t)one_record_ns;
    collect(count, base_ns);
    bound(clock);
    find_reach(count, base_ns);
    assign(count);
    fit();
    for (uint32_t s = 0; s + 1 < cut_count; s++)
        if (held[s])
            share(s, places);
    find_idle(places);
}
