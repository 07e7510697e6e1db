/* SPDX-License-Identifier: MIT */
#include "report/profile/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"
#include "report/profile/merged_hist.h"

static uint32_t text_of(struct ct_merged *m, const struct ct_summary *s, uint32_t offset)
{
    return ct_key_table_text(&m->names, ct_summary_text(s, offset));
}

static void add_threads(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_ranges *r = &m->ranges;
    r->thread_map = ct_memory_grow(r->thread_map, &r->thread_map_size, s->threads_count,
                                   sizeof(*r->thread_map));
    for (size_t i = 0; i < s->threads_count; i++) {
        uint32_t key[] = {(uint32_t)i, text_of(m, s, s->threads[i].name)};
        uint32_t known = r->thread_keys.count,
                 at = ct_key_table_add(&r->thread_keys, key, sizeof(key));
        r->threads = ct_memory_grow(r->threads, &r->threads_size, at + 1, sizeof(*r->threads));
        struct ct_file_thread *to = &r->threads[at];
        if (at == known)
            *to = (struct ct_file_thread){.tid = s->threads[i].tid, .name = key[1]};
        if (to->tid != s->threads[i].tid)
            to->tid = 0;
        ct_merge_add_to(&to->count, s->threads[i].count);
        r->thread_map[i] = at;
    }
}

/* Figures of ranges that ended, and how many did not. */
static void add_figures(struct ct_file_range *to, const struct ct_file_range *from)
{
    ct_merge_add_to(&to->unclosed, from->unclosed);
    if (!from->count)
        return;
    ct_merge_widen(&to->min_ns, &to->max_ns, !to->count, from->min_ns, from->max_ns);
    ct_merge_add_to(&to->count, from->count);
    ct_merge_add_to(&to->total_ns, from->total_ns);
    ct_merge_add_to(&to->sampled, from->sampled);
    to->square_ns2 += from->square_ns2;
}

static void add_range(struct ct_merged *m, const struct ct_summary *s, size_t i)
{
    struct ct_merged_ranges *r = &m->ranges;
    const struct ct_file_range *from = &s->ranges[i];
    uint32_t key[] = {from->parent ? r->range_map[from->parent - 1] + 1 : 0,
                      r->thread_map[from->thread], text_of(m, s, from->domain),
                      text_of(m, s, from->name), from->style};
    uint32_t known = r->range_keys.count, at = ct_key_table_add(&r->range_keys, key, sizeof(key));
    r->ranges = ct_memory_grow(r->ranges, &r->ranges_size, at + 1, sizeof(*r->ranges));
    r->hists = ct_memory_grow(r->hists, &r->hists_size, at + 1, sizeof(*r->hists));
    if (at == known)
        r->ranges[at] = (struct ct_file_range){.parent = key[0],
                                               .thread = key[1],
                                               .domain = key[2],
                                               .name = key[3],
                                               .style = key[4],
                                               .color = from->color};
    add_figures(&r->ranges[at], from);
    if (m->details && from->bucket_count)
        ct_merged_hist_merge(&r->hists[at], s->buckets + from->bucket_first, from->bucket_count);
    r->range_map[i] = at;
}

static void add_count(struct ct_file_cell *to, const struct ct_file_cell *from)
{
    ct_merge_widen(&to->min_ns, &to->max_ns, !to->count, from->min_ns, from->max_ns);
    ct_merge_add_to(&to->count, from->count);
    ct_merge_add_to(&to->total_ns, from->total_ns);
    to->square_ns2 += from->square_ns2;
}

/* The cell of a key in an array that grows with the keys. */
static void add_cell(struct ct_key_table *keys, struct ct_file_cell **cells, size_t *size,
                     const struct ct_file_cell *from)
{
    uint32_t key[] = {from->range, from->section, from->index};
    uint32_t at = ct_key_table_add(keys, key, sizeof(key));
    *cells = ct_memory_grow(*cells, size, at + 1, sizeof(**cells));
    struct ct_file_cell *to = &(*cells)[at];
    to->range = from->range;
    to->section = from->section;
    to->index = from->index;
    add_count(to, from);
}

void ct_ranges_add(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_ranges *r = &m->ranges;
    add_threads(m, s);
    r->range_map =
        ct_memory_grow(r->range_map, &r->range_map_size, s->ranges_count, sizeof(*r->range_map));
    for (size_t i = 0; i < s->ranges_count; i++)
        add_range(m, s, i);
    for (size_t i = 0; i < s->cells_count; i++) {
        struct ct_file_cell c = s->cells[i];
        c.range = r->range_map[c.range];
        c.index = c.section == CT_SECTION_ROWS ? m->row_map[c.index] : m->api_map[c.index];
        if (c.count)
            add_cell(&r->cell_keys, &r->cells, &r->cells_size, &c);
    }
}

void ct_ranges_free(struct ct_merged_ranges *r)
{
    for (uint32_t i = 0; i < r->range_keys.count; i++)
        free(r->hists[i].buckets);
    ct_key_table_free(&r->thread_keys);
    ct_key_table_free(&r->range_keys);
    ct_key_table_free(&r->cell_keys);
    void *arrays[] = {r->threads, r->ranges, r->hists, r->cells, r->thread_map, r->range_map};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
}

/* ---- ranges by name ---- */

static bool is_of_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c & 0x80;
}

void ct_range_fold(struct ct_string *out, const char *name)
{
    for (const char *p = name; *p;) {
        size_t len = strspn(p, "0123456789");
        bool is_number = len && !(p > name && is_of_word(p[-1])) && !is_of_word(p[len]);
        if (is_number)
            ct_string_put(out, "#");
        else
            ct_string_add(out, p, len + !len);
        p += len + !len;
    }
    ct_string_put(out, "");
}

struct grouping {
    const struct ct_merged *m;
    struct ct_key_table keys;
    struct ct_key_table folded;
    uint32_t *group_of; /* groups, by range */
    struct ct_range_group *groups;
    size_t groups_size;
    struct ct_key_table cell_keys;
    struct ct_file_cell *cells; /* range: the group */
    size_t cells_size;
    size_t *seen; /* by group: the last cell that was added to it, plus one */
};

static uint32_t folded_name(struct grouping *g, uint32_t name)
{
    struct ct_string text = {0};
    ct_range_fold(&text, ct_merge_name(g->m, name));
    uint32_t at = ct_key_table_text(&g->folded, text.data);
    ct_string_free(&text);
    return at;
}

static void add_to_group(struct grouping *g, uint32_t i, unsigned by)
{
    const struct ct_merged_ranges *r = &g->m->ranges;
    const struct ct_file_range *from = &r->ranges[i];
    uint32_t key[] = {by & CT_GROUP_BY_THREAD ? from->thread : 0,
                      by & CT_GROUP_BY_STYLE ? from->style : 0, from->domain,
                      by & CT_GROUP_FOLDED ? folded_name(g, from->name) : from->name};
    uint32_t known = g->keys.count, at = ct_key_table_add(&g->keys, key, sizeof(key));
    g->groups = ct_memory_grow(g->groups, &g->groups_size, at + 1, sizeof(*g->groups));
    if (at == known) {
        g->groups[at].range = i;
        g->groups[at].hist = ct_memory_copy(&(struct ct_merged_hist){0}, sizeof(*r->hists));
    }
    g->groups[at].is_folded |= r->ranges[g->groups[at].range].name != from->name;
    add_figures(&g->groups[at].sum, from);
    if (r->hists[i].count)
        ct_merged_hist_merge(g->groups[at].hist, r->hists[i].buckets, r->hists[i].count);
    g->group_of[i] = at;
}

/* A name that is above itself counts its cells once. */
static void spread_cell(struct grouping *g, size_t i)
{
    const struct ct_merged_ranges *r = &g->m->ranges;
    uint32_t first = r->cells[i].range + 1;
    for (uint32_t at = first; at; at = r->ranges[at - 1].parent) {
        uint32_t group = g->group_of[at - 1];
        struct ct_file_cell c = r->cells[i];
        if (g->seen[group] == i + 1)
            continue;
        g->seen[group] = i + 1;
        c.range = group;
        if (c.section == CT_SECTION_ROWS) {
            ct_merge_add_to(&g->groups[group].gpu_ns, c.total_ns);
            ct_merge_add_to(&g->groups[group].own_ns, at == first ? c.total_ns : 0);
        }
        add_cell(&g->cell_keys, &g->cells, &g->cells_size, &c);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct ct_file_cell *x = a, *y = b;
    if (x->range != y->range)
        return x->range < y->range ? -1 : 1;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void give_cells(struct grouping *g)
{
    size_t count = g->cell_keys.count;
    if (count)
        qsort(g->cells, count, sizeof(*g->cells), by_place);
    for (size_t i = 0; i < count; i++) {
        struct ct_range_group *to = &g->groups[g->cells[i].range];
        to->cells = to->cells ? to->cells : &g->cells[i];
        to->cell_count++;
    }
}

static const struct ct_merged *sorted; /* qsort() knows of nothing else */

/* Order: by thread; named domains by name, then the default one; by name and style. */
static int by_name(const void *a, const void *b)
{
    const struct ct_file_range *x =
        &sorted->ranges.ranges[((const struct ct_range_group *)a)->range];
    const struct ct_file_range *y =
        &sorted->ranges.ranges[((const struct ct_range_group *)b)->range];
    const char *x_domain = ct_merge_name(sorted, x->domain);
    const char *y_domain = ct_merge_name(sorted, y->domain);
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (!*x_domain != !*y_domain)
        return *x_domain ? -1 : 1;
    int order = strcmp(x_domain, y_domain);
    if (!order)
        order = strcmp(ct_merge_name(sorted, x->name), ct_merge_name(sorted, y->name));
    return order ? order : (int)x->style - (int)y->style;
}

static void group_ranges(struct grouping *g, struct ct_range_groups *out, unsigned by)
{
    const struct ct_merged_ranges *r = &g->m->ranges;
    g->group_of = ct_memory_array(r->range_keys.count, sizeof(*g->group_of));
    for (uint32_t i = 0; i < r->range_keys.count; i++) {
        bool mark = r->ranges[i].style == CT_RANGE_MARK;
        add_to_group(g, i, mark ? by | CT_GROUP_BY_STYLE : by);
        if (mark)
            ct_merge_add_to(&out->marks, r->ranges[i].count);
        ct_merge_add_to(&out->unclosed, r->ranges[i].unclosed);
    }
}

static void group_free(struct ct_range_group *group)
{
    free(group->hist->buckets);
    free(group->hist);
}

/* Drops marks, and ranges that never ended: they are not shown. */
static void keep_ended(struct ct_range_groups *g, const struct ct_merged *m, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ct_range_group *group = &g->groups[i];
        if (group->sum.count && m->ranges.ranges[group->range].style != CT_RANGE_MARK)
            g->groups[g->count++] = *group;
        else
            group_free(group);
    }
}

void ct_range_groups(struct ct_range_groups *out, const struct ct_merged *m, unsigned by)
{
    struct grouping g = {.m = m};
    memset(out, 0, sizeof(*out));
    group_ranges(&g, out, by);
    g.seen = ct_memory_array(g.keys.count, sizeof(*g.seen));
    for (size_t i = 0; i < m->ranges.cell_keys.count; i++)
        spread_cell(&g, i);
    give_cells(&g);
    out->groups = g.groups;
    out->cells = g.cells;
    keep_ended(out, m, g.keys.count);
    sorted = m;
    if (out->count)
        qsort(out->groups, out->count, sizeof(*out->groups), by_name);
    ct_key_table_free(&g.keys);
    ct_key_table_free(&g.folded);
    ct_key_table_free(&g.cell_keys);
    free(g.group_of);
    free(g.seen);
}

void ct_range_groups_free(struct ct_range_groups *g)
{
    for (size_t i = 0; i < g->count; i++)
        group_free(&g->groups[i]);
    free(g->groups);
    free(g->cells);
}
