/* SPDX-License-Identifier: MIT */
/*
 * The records of ranges that a window shows. A range's begin and end are two records, that may be
 * far apart and both outside of a window that the range overlaps; so all are looked at once before
 * all else, and a bit for each is kept.
 */
#include "report/trace/open_ranges.h"
#include "report/trace/timeline_part.h"

static void show(struct ct_timeline_part *p, uint64_t record, bool is_shown)
{
    uint8_t bit = (uint8_t)(1 << record % 8);
    p->shown = ct_memory_grow(p->shown, &p->shown_size, (size_t)(record / 8) + 1, 1);
    if (is_shown)
        p->shown[record / 8] |= bit;
    else
        p->shown[record / 8] &= (uint8_t)~bit;
}

bool ct_timeline_shows_range(const struct ct_timeline_part *p, uint64_t record)
{
    return record / 8 < p->shown_size && p->shown[record / 8] >> record % 8 & 1;
}

/* A range that has begun is shown until it is known to end before the window. */
static bool choose(struct ct_timeline_part *p, struct ct_open_ranges *open, uint64_t record,
                   const struct ct_event *e)
{
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    bool is_early = e->start_ns < p->since_ns, is_late = e->start_ns >= p->until_ns;
    if (e->range.phase == CT_TRACE_RANGE_MARKS)
        return !is_early && !is_late;
    if (e->range.phase == CT_TRACE_RANGE_BEGINS) {
        ct_open_ranges_begin(open, e)->own = (int64_t)record;
        return !is_late;
    }
    size_t count = ct_open_ranges_end(open, e, over);
    bool is_shown = false;
    for (size_t i = 0; i < count; i++)
        if (is_early)
            show(p, (uint64_t)over[i].own, false);
        else
            is_shown |= over[i].start_ns < p->until_ns;
    return is_shown;
}

void ct_timeline_choose_ranges(struct ct_timeline *tl, struct ct_timeline_file *f)
{
    struct ct_open_ranges open = {0};
    struct ct_trace_record r;
    struct ct_read_error error; /* the reading that follows says it */
    uint64_t record = 0;
    if (!ct_timeline_open_file(tl, f))
        return;
    show(f->part, 0, false); /* it is all bits from now on */
    f->t->since_ns = UINT64_MAX;
    f->t->until_ns = 0;
    f->t->all_ranges = true;
    while (ct_trace_next(f->t, &r, &error) > 0) {
        if (!r.range)
            continue;
        struct ct_event e = {
            .file = f, .start_ns = r.range->at_ns, .is_range = true, .range = *r.range};
        show(f->part, record, choose(f->part, &open, record, &e));
        record++;
    }
    ct_open_ranges_free(&open);
    ct_timeline_close_file(f);
}
