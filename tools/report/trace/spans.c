/* SPDX-License-Identifier: MIT */
#include "report/trace/spans.h"

#include <stdlib.h>

#include "report/trace/trace_options.h"

/* A call that a range was open at: when it was made, and in which. */
struct call {
    uint64_t start_ns;
    uint32_t span; /* plus one */
};

struct reading {
    struct ct_spans *s;
    ct_spans_take *take;
    void *user;
    struct ct_open_ranges open;
    struct ct_links *calls_of; /* by file: a call's place plus one */
    struct call *calls;
    size_t count;
    size_t size;
};

/* The ranges that a thread has open, the newest last; NULL: it has had none. */
static const struct ct_open_list *open_of(const struct reading *r, const struct ct_timeline_file *f,
                                          uint32_t thread)
{
    if (f->index >= r->open.size || thread >= r->open.files[f->index].size)
        return NULL;
    return &r->open.files[f->index].threads[thread];
}

static uint32_t newest(const struct ct_open_list *list, bool pushed_only)
{
    for (size_t i = list ? list->count : 0; i-- > 0;)
        if (!pushed_only || !list->at[i].number)
            return (uint32_t)list->at[i].own + 1;
    return 0;
}

static void begin(struct reading *r, const struct ct_event *e)
{
    struct ct_spans *s = r->s;
    const struct ct_open_list *list = open_of(r, e->file, e->range.thread);
    struct ct_span span = {.file = e->file->index,
                           .thread = e->range.thread,
                           .label = e->range.label,
                           .is_pushed = !e->range.number,
                           .outer = newest(list, false),
                           .start_ns = e->start_ns,
                           .first_ns = UINT64_MAX};
    if (span.is_pushed)
        span.parent = newest(list, true);
    if (span.parent) {
        span.level = s->at[span.parent - 1].level + 1;
        s->at[span.parent - 1].children++;
    }
    ct_open_ranges_begin(&r->open, e)->own = (int64_t)s->count;
    s->at = ct_memory_grow(s->at, &s->size, s->count + 1, sizeof(*s->at));
    s->at[s->count++] = span;
}

static void end(struct reading *r, const struct ct_event *e)
{
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    size_t count = ct_open_ranges_end(&r->open, e, over);
    for (size_t i = 0; i < count; i++) {
        struct ct_span *span = &r->s->at[over[i].own];
        span->has_ended = true;
        span->end_ns = e->start_ns;
        if (span->parent)
            r->s->at[span->parent - 1].children_ns += span->end_ns - span->start_ns;
    }
}

static void take_call(struct reading *r, const struct ct_event *e)
{
    uint32_t span = newest(open_of(r, e->file, e->call.thread), false);
    uint32_t *place = span ? ct_links_at(&r->calls_of[e->file->index], e->call.correlation) : NULL;
    if (!place)
        return;
    r->calls = ct_memory_grow(r->calls, &r->size, r->count + 1, sizeof(*r->calls));
    r->calls[r->count++] = (struct call){e->start_ns, span};
    *place = (uint32_t)r->count;
}

/* The spans that an operation's call was made in, the newest first. */
static size_t spans_of(const struct reading *r, const struct ct_event *e,
                       uint32_t spans[CT_OPEN_RANGES_MOST])
{
    size_t count = 0;
    uint32_t place = ct_links_get(&r->calls_of[e->file->index], e->op.correlation);
    if (!place)
        return 0;
    const struct call *call = &r->calls[place - 1];
    for (uint32_t at = call->span; at && count < CT_OPEN_RANGES_MOST; at = r->s->at[at - 1].outer) {
        const struct ct_span *span = &r->s->at[at - 1];
        if (span->has_ended && span->end_ns < call->start_ns)
            continue; /* a started range, over before the newer range that encloses the call */
        spans[count++] = at - 1;
    }
    return count;
}

static void take_op(struct reading *r, const struct ct_event *e)
{
    uint32_t spans[CT_OPEN_RANGES_MOST];
    size_t count = spans_of(r, e, spans);
    for (size_t i = 0; i < count; i++) {
        struct ct_span *span = &r->s->at[spans[i]];
        span->ops++;
        span->first_ns = ct_min(span->first_ns, e->start_ns);
        span->last_ns = ct_max(span->last_ns, e->end_ns);
    }
    if (r->take)
        r->take(r->user, e, spans, count);
}

static void take(struct reading *r, const struct ct_event *e)
{
    if (e->is_range && e->range.phase == CT_TRACE_RANGE_BEGINS)
        begin(r, e);
    else if (e->is_range && e->range.phase == CT_TRACE_RANGE_ENDS)
        end(r, e);
    else if (e->is_call)
        take_call(r, e);
    else if (!e->is_range)
        take_op(r, e);
}

void ct_spans_read(struct ct_spans *s, const struct ct_options *o, ct_spans_take *taker, void *user)
{
    struct reading r = {.s = s, .take = taker, .user = user};
    struct ct_timeline_options all = ct_trace_all(o);
    const struct ct_event *e;
    *s = (struct ct_spans){.count = 0};
    ct_timeline_open(&s->tl, o->files, o->file_count, &all);
    r.calls_of = ct_memory_array(s->tl.file_count, sizeof(*r.calls_of));
    while (ct_timeline_next(&s->tl, &e))
        take(&r, e);
    for (uint32_t i = 0; i < s->tl.file_count; i++)
        ct_links_free(&r.calls_of[i]);
    free(r.calls_of);
    free(r.calls);
    ct_open_ranges_free(&r.open);
}

void ct_spans_free(struct ct_spans *s)
{
    free(s->at);
    ct_timeline_close(&s->tl);
}
