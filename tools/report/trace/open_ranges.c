/* SPDX-License-Identifier: MIT */
#include "report/trace/open_ranges.h"

#include <stdlib.h>
#include <string.h>

static struct ct_open_file *file_of(struct ct_open_ranges *o, const struct ct_timeline_file *f)
{
    o->files = ct_memory_grow(o->files, &o->size, (size_t)f->index + 1, sizeof(*o->files));
    return &o->files[f->index];
}

static struct ct_open_list *list_of(struct ct_open_ranges *o, const struct ct_event *e)
{
    struct ct_open_file *f = file_of(o, e->file);
    f->threads =
        ct_memory_grow(f->threads, &f->size, (size_t)e->range.thread + 1, sizeof(*f->threads));
    return &f->threads[e->range.thread];
}

/* Whether an open range has the event's style (pushed or started) and domain. */
static bool is_beside(const struct ct_range_span *r, const struct ct_event *e)
{
    const struct ct_trace_label *labels = e->file->t->labels.at;
    return !r->number == !e->range.number &&
           (r->label == e->range.label ||
            !strcmp(labels[r->label].domain, labels[e->range.label].domain));
}

/* Quadratic at worst: a thread has few ranges open at once. */
static uint32_t free_lane(const struct ct_open_list *list, const struct ct_event *e)
{
    uint32_t lane = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].lane == lane && is_beside(&list->at[i], e)) {
            lane++;
            i = (size_t)-1;
        }
    return lane;
}

struct ct_range_span *ct_open_ranges_begin(struct ct_open_ranges *o, const struct ct_event *e)
{
    struct ct_open_list *list = list_of(o, e);
    if (list->count == CT_OPEN_RANGES_MOST)
        memmove(list->at, list->at + 1, --list->count * sizeof(*list->at));
    uint32_t lane = free_lane(list, e);
    list->at = ct_memory_grow(list->at, &list->size, list->count + 1, sizeof(*list->at));
    list->at[list->count] = (struct ct_range_span){
        .start_ns = e->start_ns,
        .number = e->range.number,
        .label = e->range.label,
        .thread = e->range.thread,
        .lane = lane,
    };
    return &list->at[list->count++];
}

/* The index of the newest range that the event ends; list->count: none. */
static size_t find(const struct ct_open_list *list, const struct ct_event *e)
{
    size_t i = list->count;
    while (i-- > 0)
        if (list->at[i].number == e->range.number && list->at[i].label == e->range.label)
            return i;
    return list->count;
}

size_t ct_open_ranges_end(struct ct_open_ranges *o, const struct ct_event *e,
                          struct ct_range_span over[CT_OPEN_RANGES_MOST])
{
    struct ct_open_list *list = list_of(o, e);
    size_t own = find(list, e), n = 0;
    for (size_t at = list->count; at > own; at--) {
        struct ct_range_span *range = &list->at[at - 1];
        if (at - 1 > own && (e->range.number || !is_beside(range, e)))
            continue;
        over[n++] = *range;
        memmove(range, range + 1, (list->count-- - at) * sizeof(*range));
    }
    return n;
}

void ct_open_ranges_key(struct ct_string *key, const struct ct_event *e, uint32_t lane)
{
    ct_string_printf(key, "%u %u %u %u %s", e->file->index, e->range.thread, e->range.number != 0,
                     lane, e->file->t->labels.at[e->range.label].domain);
}

bool ct_open_ranges_left(struct ct_open_ranges *o, const struct ct_timeline_file *f,
                         struct ct_range_span *range)
{
    struct ct_open_file *file = file_of(o, f);
    for (size_t i = 0; i < file->size; i++)
        if (file->threads[i].count) {
            *range = file->threads[i].at[--file->threads[i].count];
            return true;
        }
    return false;
}

void ct_open_ranges_free(struct ct_open_ranges *o)
{
    for (size_t i = 0; i < o->size; i++) {
        for (size_t j = 0; j < o->files[i].size; j++)
            free(o->files[i].threads[j].at);
        free(o->files[i].threads);
    }
    free(o->files);
    *o = (struct ct_open_ranges){0};
}
