/* SPDX-License-Identifier: MIT */
#include "report/profile/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"
#include "report/profile/view.h"

static void add_lines(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    k->line_map =
        ct_memory_grow(k->line_map, &k->line_map_size, s->lines_count, sizeof(*k->line_map));
    for (size_t i = 0; i < s->lines_count; i++) {
        struct ct_file_line l = {
            .file = ct_intern_text(&m->names, ct_summary_text(s, s->lines[i].file)),
            .function = ct_intern_text(&m->names, ct_summary_text(s, s->lines[i].function)),
            .line = s->lines[i].line,
        };
        uint32_t at = ct_intern_add(&k->line_keys, &l, sizeof(l));
        k->lines = ct_memory_grow(k->lines, &k->lines_size, (size_t)at + 1, sizeof(*k->lines));
        k->lines[at] = l;
        k->line_map[i] = at;
    }
}

static void add_frames(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    k->frame_map =
        ct_memory_grow(k->frame_map, &k->frame_map_size, s->frames_count, sizeof(*k->frame_map));
    for (size_t i = 0; i < s->frames_count; i++) {
        const struct ct_file_frame *from = &s->frames[i];
        struct ct_file_frame f = {
            .parent = from->parent ? k->frame_map[from->parent - 1] + 1 : 0,
            .line = k->line_map[from->line],
        };
        uint32_t at = ct_intern_add(&k->frame_keys, &f, sizeof(f));
        k->frames = ct_memory_grow(k->frames, &k->frames_size, (size_t)at + 1, sizeof(*k->frames));
        k->frames[at] = f;
        k->frame_map[i] = at;
    }
}

void ct_stacks_add(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    add_lines(m, s);
    add_frames(m, s);
    for (size_t i = 0; i < s->stacks_count; i++) {
        const struct ct_file_stack *from = &s->stacks[i];
        uint32_t key[] = {m->row_map[from->row], k->frame_map[from->frame]};
        uint32_t at = ct_intern_add(&k->keys, key, sizeof(key));
        k->stacks = ct_memory_grow(k->stacks, &k->stacks_size, (size_t)at + 1, sizeof(*k->stacks));
        struct ct_file_stack *to = &k->stacks[at];
        to->row = key[0];
        to->frame = key[1];
        ct_merge_add_to(&to->count, from->count);
        ct_merge_add_to(&to->timed, from->timed);
        ct_merge_add_to(&to->total_ns, from->total_ns);
    }
}

void ct_stacks_free(struct ct_merged_stacks *k)
{
    ct_intern_free(&k->line_keys);
    ct_intern_free(&k->frame_keys);
    ct_intern_free(&k->keys);
    void *arrays[] = {k->lines, k->frames, k->stacks, k->line_map, k->frame_map};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
}

/* ---- with times ---- */

static void add(struct ct_launched *to, struct ct_launched more)
{
    ct_merge_add_to(&to->count, more.count);
    to->ns += more.ns;
}

/* Mean time of one operation of a row; 0: none was timed. */
static double mean_ns(const struct ct_merged_row *row)
{
    struct ct_durations d = ct_view_durations(row, false);
    return d.estimated > 0 ? d.estimated_ns / d.estimated : 0;
}

/*
 * By row, a part of what its stacks count: those that a sample drew may stand for more than there
 * were, whose number is known. Freed by the caller.
 */
static double *parts(const struct ct_merged *m)
{
    size_t size = 0;
    double *part = ct_memory_grow(NULL, &size, m->row_keys.count + (size_t)1, sizeof(*part));
    for (uint32_t i = 0; i < m->stacks.keys.count; i++)
        part[m->stacks.stacks[i].row] += (double)m->stacks.stacks[i].count;
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        double calls = (double)ct_view_calls(&m->rows[i].sum);
        part[i] = part[i] > calls ? calls / part[i] : 1;
    }
    return part;
}

static struct ct_launched launched(const struct ct_merged *m, const struct ct_file_stack *s,
                                   double part)
{
    double each_ns = s->timed ? (double)s->total_ns / (double)s->timed : mean_ns(&m->rows[s->row]);
    double count = part * (double)s->count;
    return (struct ct_launched){.count = ct_view_whole_ns(count), .ns = each_ns * count};
}

/* Frames in their order, then each row's operations, which are in their frames. */
static void list_calls(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    const struct ct_merged_stacks *k = &m->stacks;
    size_t size = 0, frames = k->frame_keys.count, stacks = k->keys.count;
    double *part = parts(m);
    c->call = ct_memory_grow(NULL, &size, 1 + frames + stacks, sizeof(*c->call));
    c->call[c->count++] = (struct ct_call){.row = CT_CALL_FRAME};
    for (size_t i = 0; i < frames; i++)
        c->call[c->count++] = (struct ct_call){
            .parent = k->frames[i].parent, .line = k->frames[i].line, .row = CT_CALL_FRAME};
    for (size_t i = 0; i < stacks; i++) {
        const struct ct_file_stack *s = &k->stacks[i];
        if (!ct_view_is_of(m->rows[s->row].sum.device, device))
            continue;
        struct ct_call *frame = &c->call[s->frame + 1];
        struct ct_launched own = launched(m, s, part[s->row]);
        c->graphs += m->rows[s->row].sum.kind == CT_ROW_GRAPH ? s->count : 0;
        add(&frame->own, own);
        c->call[c->count++] = (struct ct_call){
            .parent = s->frame + 1, .line = frame->line, .row = s->row, .own = own, .all = own};
    }
    free(part);
}

/* From the last to the first, so that what a frame called is complete before it. */
static void add_up(struct ct_calls *c)
{
    for (size_t i = c->count; i-- > 1;)
        add(&c->call[c->call[i].parent].all, c->call[i].all);
}

static const struct ct_calls *sorted; /* qsort() knows of nothing else */

static int by_time(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct ct_call *x = &sorted->call[i], *y = &sorted->call[j];
    if (x->all.ns != y->all.ns)
        return x->all.ns > y->all.ns ? -1 : 1;
    if (x->all.count != y->all.count)
        return x->all.count > y->all.count ? -1 : 1;
    return i < j ? -1 : 1;
}

/* The shortest first, each before those that are there. */
static void link_children(struct ct_calls *c)
{
    size_t size = 0, n = 0;
    uint32_t *order = ct_memory_grow(NULL, &size, c->count, sizeof(*order));
    for (size_t i = 1; i < c->count; i++)
        if (c->call[i].all.count)
            order[n++] = (uint32_t)i;
    sorted = c;
    if (n)
        qsort(order, n, sizeof(*order), by_time);
    while (n) {
        struct ct_call *call = &c->call[order[--n]], *parent = &c->call[call->parent];
        call->next = parent->first;
        parent->first = order[n];
    }
    free(order);
}

void ct_calls_of(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    *c = (struct ct_calls){.call = NULL};
    list_calls(c, m, device);
    add_up(c);
    link_children(c);
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        const struct ct_file_row *row = &m->rows[i].sum;
        if (!ct_view_is_of(row->device, device))
            continue;
        c->with_rest_ns += mean_ns(&m->rows[i]) * (double)ct_view_calls(row);
        c->is_sampled |= row->lost[CT_LOSS_SAMPLED] || row->lost[CT_LOSS_PROGRAMMATIC];
    }
    if (c->with_rest_ns < c->call[CT_CALL_ROOT].all.ns)
        c->with_rest_ns = c->call[CT_CALL_ROOT].all.ns;
}

void ct_calls_free(struct ct_calls *c)
{
    free(c->call);
}
