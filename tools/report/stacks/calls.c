/* SPDX-License-Identifier: MIT */
#include "report/stacks/calls.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/profile/view.h"

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

/* Those that differ in their modules alone are one; in room for all of them. */
static uint32_t find_call(struct ct_calls *c, struct ct_intern *keys, struct ct_call call)
{
    uint32_t key[] = {call.parent, call.line, call.row};
    uint32_t at = 1 + ct_intern_add(keys, key, sizeof(key));
    if (at == c->count)
        c->call[c->count++] = call;
    return at;
}

/* Frames in their order, then each row's operations, which are in their frames. */
static void list_calls(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    const struct ct_merged_stacks *k = &m->stacks;
    struct ct_intern keys = {0};
    size_t size = 0, map_size = 0, frames = k->frame_keys.count, stacks = k->keys.count;
    double *part = parts(m);
    uint32_t *map = ct_memory_grow(NULL, &map_size, frames + 1, sizeof(*map));
    c->call = ct_memory_grow(NULL, &size, 1 + frames + stacks, sizeof(*c->call));
    c->call[c->count++] = (struct ct_call){.row = CT_CALL_FRAME};
    for (size_t i = 0; i < frames; i++)
        map[i + 1] = find_call(c, &keys,
                               (struct ct_call){.parent = map[k->frames[i].parent],
                                                .line = k->frames[i].line,
                                                .row = CT_CALL_FRAME});
    for (size_t i = 0; i < stacks; i++) {
        const struct ct_file_stack *s = &k->stacks[i];
        if (!ct_view_is_of(m->rows[s->row].sum.device, device))
            continue;
        uint32_t frame = map[s->frame + 1];
        struct ct_launched own = launched(m, s, part[s->row]);
        uint32_t at = find_call(
            c, &keys,
            (struct ct_call){.parent = frame, .line = c->call[frame].line, .row = s->row});
        c->graphs += m->rows[s->row].sum.kind == CT_ROW_GRAPH ? s->count : 0;
        ct_launched_add(&c->call[frame].own, &own);
        ct_launched_add(&c->call[at].own, &own);
        ct_launched_add(&c->call[at].all, &own);
    }
    ct_intern_free(&keys);
    free(map);
    free(part);
}

static void list_modules(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    const struct ct_merged_stacks *k = &m->stacks;
    size_t size = 0, modules = k->module_keys.count;
    double *part = parts(m);
    c->call = ct_memory_grow(NULL, &size, 1 + modules, sizeof(*c->call));
    c->call[c->count++] = (struct ct_call){.row = CT_CALL_FRAME};
    for (uint32_t i = 0; i < modules; i++)
        c->call[c->count++] =
            (struct ct_call){.parent = k->modules[i].parent, .module = i, .row = CT_CALL_FRAME};
    for (uint32_t i = 0; i < k->keys.count; i++) {
        const struct ct_file_stack *s = &k->stacks[i];
        if (!ct_view_is_of(m->rows[s->row].sum.device, device))
            continue;
        struct ct_call *call = &c->call[k->frames[s->frame].module];
        struct ct_launched own = launched(m, s, part[s->row]);
        c->graphs += m->rows[s->row].sum.kind == CT_ROW_GRAPH ? s->count : 0;
        ct_launched_add(&call->own, &own);
        ct_launched_add(&call->all, &own);
    }
    free(part);
}

/* From the last to the first, so that what a frame called is complete before it. */
static void add_up(struct ct_calls *c)
{
    for (size_t i = c->count; i-- > 1;)
        ct_launched_add(&c->call[c->call[i].parent].all, &c->call[i].all);
}

/* qsort() knows of nothing else. */
static const struct ct_calls *sorted;
static const struct ct_file_module *sorted_module; /* and the time of each one's type: */
static const double *sorted_ns;

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

static int by_type(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct ct_file_module *x = &sorted_module[i - 1], *y = &sorted_module[j - 1];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->type == y->type)
        return x->number < y->number ? -1 : x->number > y->number;
    if (sorted_ns[i] != sorted_ns[j])
        return sorted_ns[i] > sorted_ns[j] ? -1 : 1;
    return x->type < y->type ? -1 : 1;
}

/* The last first, each before those that are there. */
static void link_children(struct ct_calls *c, int (*compare)(const void *, const void *))
{
    size_t size = 0, n = 0;
    uint32_t *order = ct_memory_grow(NULL, &size, c->count, sizeof(*order));
    for (size_t i = 1; i < c->count; i++)
        if (c->call[i].all.count)
            order[n++] = (uint32_t)i;
    sorted = c;
    if (n)
        qsort(order, n, sizeof(*order), compare);
    while (n) {
        struct ct_call *call = &c->call[order[--n]], *parent = &c->call[call->parent];
        call->next = parent->first;
        parent->first = order[n];
    }
    free(order);
}

static void add_rest(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
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

void ct_calls_of(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    *c = (struct ct_calls){.call = NULL};
    list_calls(c, m, device);
    add_up(c);
    link_children(c, by_time);
    add_rest(c, m, device);
}

/* By module, index plus one as in the calls, the time of all of its type in its parent. */
static double *times_of_types(const struct ct_calls *c, const struct ct_merged *m)
{
    size_t size = 0, map_size = 0;
    struct ct_intern keys = {0};
    double *sum = ct_memory_grow(NULL, &size, 2 * c->count, sizeof(*sum)), *of = sum + c->count;
    uint32_t *map = ct_memory_grow(NULL, &map_size, c->count, sizeof(*map));
    for (size_t i = 1; i < c->count; i++) {
        const struct ct_file_module *f = &m->stacks.modules[i - 1];
        uint32_t key[] = {f->parent, f->type};
        map[i] = ct_intern_add(&keys, key, sizeof(key));
        of[map[i]] += c->call[i].all.ns;
    }
    for (size_t i = 1; i < c->count; i++)
        sum[i] = of[map[i]];
    ct_intern_free(&keys);
    free(map);
    return sum;
}

void ct_calls_of_modules(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    *c = (struct ct_calls){.call = NULL};
    list_modules(c, m, device);
    add_up(c);
    double *ns = times_of_types(c, m);
    sorted_module = m->stacks.modules;
    sorted_ns = ns;
    link_children(c, by_type);
    free(ns);
    add_rest(c, m, device);
}

void ct_calls_free(struct ct_calls *c)
{
    free(c->call);
}

uint32_t ct_calls_next(const struct ct_calls *c, uint32_t at)
{
    if (c->call[at].first)
        return c->call[at].first;
    while (at && !c->call[at].next)
        at = c->call[at].parent;
    return at ? c->call[at].next : 0;
}

size_t ct_calls_stack(const struct ct_calls *c, const struct ct_call *call,
                      uint32_t lines[CT_FILE_STACK_DEPTH])
{
    size_t depth = 0;
    for (uint32_t i = call->parent; i && depth < CT_FILE_STACK_DEPTH; i = c->call[i].parent)
        lines[depth++] = c->call[i].line;
    return depth;
}

/* ---- in words ---- */

static void put_operation(struct ct_string *out, const struct ct_merged *m,
                          const struct ct_file_row *row, const struct ct_options *o)
{
    struct ct_string name = {0};
    ct_name_row(&name, m, row, !o->mangled);
    if (o->base && row->kind == CT_ROW_KERNEL)
        ct_name_base(&name);
    ct_string_add(out, name.data, name.len);
    ct_string_free(&name);
}

void ct_calls_name(struct ct_string *out, const struct ct_merged *m, const struct ct_call *call,
                   const struct ct_options *o)
{
    if (call->row != CT_CALL_FRAME)
        put_operation(out, m, &m->rows[call->row].sum, o);
    else
        ct_name_safe(out, ct_merge_name(m, m->stacks.lines[call->line].function));
}

void ct_calls_notes(struct ct_string *out, const struct ct_calls *c)
{
    if (c->count < 2) {
        ct_string_put(out, "No stacks are in the profile: cutrace --stacks python records them\n");
        return;
    }
    double rest_ns = c->with_rest_ns - c->call[CT_CALL_ROOT].all.ns;
    double rest = ct_calls_percent(rest_ns, c->with_rest_ns);
    if (rest >= 0.05)
        ct_string_printf(out, "%.1f%% of the GPU time was launched by no known line of Python%s\n",
                         rest, c->is_sampled ? ", or is what the sample missed" : "");
    if (c->graphs)
        ct_string_put(out, "A CUDA graph counts for the line that launched it\n");
}
