/* SPDX-License-Identifier: MIT */
/* The second reading of traces: records wait for earlier records. */
#include <stdlib.h>

#include "report/trace/timeline_part.h"

static int by_start(const void *a, const void *b)
{
    const struct ct_timeline_key *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Brings the records that still wait to the front, in their order. */
static void pack(struct ct_timeline_part *p)
{
    uint32_t left = p->count - p->at;
    p->spare = ct_memory_grow(p->spare, &p->spare_size, left, sizeof(*p->spare));
    for (uint32_t i = 0; i < left; i++) {
        p->spare[i] = p->held[p->keys[p->at + i].at];
        p->keys[i] = (struct ct_timeline_key){p->spare[i].start_ns, i};
    }
    struct ct_event *held = p->held;
    size_t size = p->held_size;
    p->held = p->spare;
    p->held_size = p->spare_size;
    p->spare = held;
    p->spare_size = size;
    p->count = left;
    p->at = 0;
}

static void fill(struct ct_event *e, struct ct_timeline_file *f, const struct ct_trace_record *r)
{
    e->file = f;
    e->is_call = r->call;
    e->is_range = r->range;
    if (r->range)
        e->range = *r->range;
    else if (r->call)
        e->call = *r->call;
    else
        e->op = *r->op;
    e->start_ns = ct_timeline_start_ns(r);
    e->end_ns = ct_timeline_end_ns(r);
}

static void hold(struct ct_timeline_file *f, const struct ct_trace_record *r)
{
    struct ct_timeline_part *p = f->part;
    p->held = ct_memory_grow(p->held, &p->held_size, p->count + 1, sizeof(*p->held));
    p->keys = ct_memory_grow(p->keys, &p->keys_size, p->count + 1, sizeof(*p->keys));
    fill(&p->held[p->count], f, r);
    p->keys[p->count] = (struct ct_timeline_key){p->held[p->count].start_ns, p->count};
    p->count++;
}

static bool is_sorted(const struct ct_timeline_part *p)
{
    for (uint32_t i = 1; i < p->count; i++)
        if (p->keys[i].start_ns < p->keys[i - 1].start_ns)
            return false;
    return true;
}

/*
 * Reads as many more records as wait already, so that each is moved only a few times however long
 * it waits.
 */
static void read_more(struct ct_timeline *tl, struct ct_timeline_file *f)
{
    struct ct_timeline_part *p = f->part;
    struct ct_trace_record r;
    pack(p);
    for (uint32_t chunks = p->count / CT_TIMELINE_CHUNK + 1; chunks && p->chunk < p->chunks;
         chunks--) {
        for (unsigned i = 0; i < CT_TIMELINE_CHUNK && p->left && ct_timeline_read(tl, f, &r);
             i++, p->left--)
            hold(f, &r);
        p->ready_ns = p->after_ns[p->chunk++];
    }
    if (!is_sorted(p))
        qsort(p->keys, p->count, sizeof(*p->keys), by_start);
}

/* The next record of a file, or NULL. */
static struct ct_event *head(struct ct_timeline *tl, struct ct_timeline_file *f)
{
    struct ct_timeline_part *p = f->part;
    while (p->chunk < p->chunks && (p->at == p->count || p->keys[p->at].start_ns > p->ready_ns))
        read_more(tl, f);
    return p->at < p->count ? &p->held[p->keys[p->at].at] : NULL;
}

/* ---- one from many ---- */

static uint64_t head_ns(const struct ct_timeline *tl, uint32_t file)
{
    const struct ct_timeline_part *p = tl->files[file].part;
    return p->keys[p->at].start_ns + p->shift_ns;
}

static bool is_before(const struct ct_timeline *tl, uint32_t a, uint32_t b)
{
    uint64_t x = head_ns(tl, a), y = head_ns(tl, b);
    return x < y || (x == y && a < b);
}

static void sift_down(struct ct_timeline *tl, uint32_t at)
{
    uint32_t *heap = tl->heap;
    for (uint32_t child; (child = 2 * at + 1) < tl->heap_count; at = child) {
        if (child + 1 < tl->heap_count && is_before(tl, heap[child + 1], heap[child]))
            child++;
        if (!is_before(tl, heap[child], heap[at]))
            return;
        uint32_t file = heap[at];
        heap[at] = heap[child];
        heap[child] = file;
    }
}

void ct_timeline_start(struct ct_timeline *tl)
{
    tl->heap = ct_memory_array(tl->file_count, sizeof(*tl->heap));
    for (uint32_t i = 0; i < tl->file_count; i++) {
        struct ct_timeline_file *f = &tl->files[i];
        f->part->left = f->part->records;
        if (ct_timeline_open_file(tl, f) && head(tl, f))
            tl->heap[tl->heap_count++] = i;
    }
    for (uint32_t i = tl->heap_count / 2; i--;)
        sift_down(tl, i);
}

/* Shifts a record from its file's clock to the timeline's. */
static const struct ct_event *shift(const struct ct_timeline *tl, struct ct_event *e)
{
    uint64_t shift_ns = e->file->part->shift_ns - tl->zero_ns;
    e->start_ns += shift_ns;
    e->end_ns += shift_ns;
    return e;
}

bool ct_timeline_next_in(struct ct_timeline *tl, struct ct_timeline_file *f,
                         const struct ct_event **e)
{
    struct ct_trace_record r;
    if ((!f->t && !ct_timeline_open_file(tl, f)) || !ct_timeline_read(tl, f, &r))
        return false;
    fill(&tl->event, f, &r);
    *e = shift(tl, &tl->event);
    return true;
}

static bool next_as_read(struct ct_timeline *tl, const struct ct_event **e)
{
    for (; tl->reading < tl->file_count; tl->reading++) {
        struct ct_timeline_file *f = &tl->files[tl->reading];
        if (ct_timeline_next_in(tl, f, e))
            return true;
        ct_timeline_close_file(f);
    }
    return false;
}

static struct ct_event *next_in_order(struct ct_timeline *tl)
{
    if (tl->given) { /* only now may it go */
        struct ct_timeline_file *f = &tl->files[tl->heap[0]];
        f->part->at++;
        if (!head(tl, f))
            tl->heap[0] = tl->heap[--tl->heap_count];
        sift_down(tl, 0);
    }
    tl->given = tl->heap_count;
    return tl->given ? head(tl, &tl->files[tl->heap[0]]) : NULL;
}

bool ct_timeline_next(struct ct_timeline *tl, const struct ct_event **e)
{
    if (tl->o.as_read)
        return next_as_read(tl, e);
    struct ct_event *next = next_in_order(tl);
    if (!next)
        return false;
    *e = shift(tl, next);
    return true;
}
