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

/* Facts about a row that are known from all of its stacks. */
struct share {
    double part;      /* of what its stacks count: more than there were, as a sample's stand for */
    double inside_ns; /* graphs: of their nodes that are in stacks */
    double scale;     /* of that: nodes that ran side by side took no more than the graph */
};

/* The others of that name are as long, where none from this frame was timed. */
static double inside_ns(const struct ct_merged *m, const struct ct_inside *n)
{
    const struct ct_merged_row *row = &m->rows[n->row];
    size_t i = ct_merge_node_named(m, row, n->name);
    struct ct_file_node all = {0};
    if (n->timed)
        return (double)n->total_ns / (double)n->timed * (double)n->count;
    if (row->content != CT_MERGE_NONE && i < ct_merge_content_count(m, row->content))
        all = ct_merge_node(m, row, i);
    return all.timed ? (double)all.total_ns / (double)all.timed * (double)n->count : 0;
}

/* By row. Freed by the caller. */
static struct share *shares(const struct ct_merged *m)
{
    struct share *s = ct_memory_array(m->row_keys.count, sizeof(*s));
    for (uint32_t i = 0; i < m->stacks.keys.count; i++)
        s[m->stacks.stacks[i].row].part += (double)m->stacks.stacks[i].count;
    for (uint32_t i = 0; i < m->stacks.inside_keys.count; i++)
        s[m->stacks.inside[i].row].inside_ns += inside_ns(m, &m->stacks.inside[i]);
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        double calls = (double)ct_view_calls(&m->rows[i].sum),
               all_ns = mean_ns(&m->rows[i]) * calls;
        s[i].part = s[i].part > calls ? calls / s[i].part : 1;
        s[i].scale = s[i].inside_ns > all_ns ? all_ns / s[i].inside_ns : 1;
        s[i].inside_ns *= s[i].scale;
    }
    return s;
}

/* A graph has the rest of its time, in proportion. */
static double rest_of(const struct ct_merged_row *row, const struct share *share)
{
    double all_ns = mean_ns(row) * (double)ct_view_calls(&row->sum);
    return all_ns > 0 ? 1 - share->inside_ns / all_ns : 1;
}

static struct ct_launched launched(const struct ct_merged *m, const struct ct_file_stack *s,
                                   const struct share *share)
{
    const struct ct_merged_row *row = &m->rows[s->row];
    double each_ns = s->timed ? (double)s->total_ns / (double)s->timed : mean_ns(row);
    double count = share->part * (double)s->count;
    return (struct ct_launched){.count = ct_view_whole_ns(count),
                                .ns = each_ns * count * rest_of(row, share)};
}

/* Operations of a frame by what they do: a number is that of the call, less the first one's. */
struct leaves {
    struct ct_key_table keys;
    size_t first;
};

/* Adds to the call that does the same on that device, wherever it was launched, or makes it. */
static void add_leaf(struct ct_calls *c, struct leaves *l, const struct ct_merged *m,
                     const struct ct_call *leaf, const struct ct_file_node *does)
{
    uint32_t own = does->kind == CT_ROW_KERNEL  ? does->name
                   : does->kind == CT_ROW_GRAPH ? leaf->row
                                                : 0;
    uint32_t key[] = {leaf->parent, m->rows[leaf->row].sum.device, does->kind, does->detail, own};
    size_t at = l->first + ct_key_table_add(&l->keys, key, sizeof(key));
    ct_launched_add(&c->call[leaf->parent].own, &leaf->own);
    if (at == c->count) {
        c->call[c->count] = *leaf;
        c->call[c->count].line = c->call[leaf->parent].line;
        c->call[c->count++].all = leaf->own;
        return;
    }
    ct_launched_add(&c->call[at].own, &leaf->own);
    ct_launched_add(&c->call[at].all, &leaf->own);
    c->call[at].inside_ns += leaf->inside_ns;
}

static void list_rows(struct ct_calls *c, struct leaves *l, const struct ct_merged *m,
                      uint32_t device, const struct share *shares, const uint32_t *map)
{
    for (size_t i = 0; i < m->stacks.keys.count; i++) {
        const struct ct_file_stack *s = &m->stacks.stacks[i];
        const struct ct_file_row *row = &m->rows[s->row].sum;
        struct ct_file_node does = {.kind = row->kind, .detail = row->detail, .name = row->name};
        struct ct_call leaf = {.parent = map[s->frame + 1], .row = s->row};
        if (!ct_view_is_of(row->device, device))
            continue;
        leaf.own = launched(m, s, &shares[s->row]);
        c->graphs += row->kind == CT_ROW_GRAPH ? s->count : 0;
        add_leaf(c, l, m, &leaf, &does);
    }
}

static void list_inside(struct ct_calls *c, struct leaves *l, const struct ct_merged *m,
                        uint32_t device, const struct share *shares, const uint32_t *map)
{
    for (uint32_t i = 0; i < m->stacks.inside_keys.count; i++) {
        const struct ct_inside *n = &m->stacks.inside[i];
        const struct ct_merged_row *row = &m->rows[n->row];
        struct ct_file_node does = ct_merge_node(m, row, ct_merge_node_named(m, row, n->name));
        struct ct_call leaf = {.parent = map[n->frame + 1], .row = n->row, .inside = i + 1};
        if (!ct_view_is_of(row->sum.device, device))
            continue;
        leaf.inside_ns = inside_ns(m, n) * shares[n->row].scale;
        leaf.own = (struct ct_launched){.count = n->count, .ns = leaf.inside_ns};
        c->inside += n->count;
        c->timeless += leaf.inside_ns > 0 ? 0 : n->count;
        add_leaf(c, l, m, &leaf, &does);
    }
}

/* Frames that differ in their modules alone are one: their calls by their numbers plus one. */
static uint32_t *list_frames(struct ct_calls *c, const struct ct_merged_stacks *k)
{
    struct ct_key_table keys = {0};
    uint32_t *map = ct_memory_array(k->frame_keys.count + (size_t)1, sizeof(*map));
    c->call[c->count++] = (struct ct_call){.row = CT_CALL_FRAME};
    for (uint32_t i = 0; i < k->frame_keys.count; i++) {
        uint32_t key[] = {map[k->frames[i].parent], k->frames[i].line};
        map[i + 1] = 1 + ct_key_table_add(&keys, key, sizeof(key));
        if (map[i + 1] == c->count)
            c->call[c->count++] =
                (struct ct_call){.parent = key[0], .line = key[1], .row = CT_CALL_FRAME};
    }
    ct_key_table_free(&keys);
    return map;
}

/* Frames in their order, then operations, which are in their frames. */
static void list_calls(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    const struct ct_merged_stacks *k = &m->stacks;
    size_t frames = k->frame_keys.count, leaves = k->keys.count + k->inside_keys.count;
    struct share *share = shares(m);
    c->call = ct_memory_array(1 + frames + leaves, sizeof(*c->call));
    uint32_t *map = list_frames(c, k);
    struct leaves l = {.first = c->count};
    list_rows(c, &l, m, device, share, map);
    list_inside(c, &l, m, device, share, map);
    ct_key_table_free(&l.keys);
    free(map);
    free(share);
}

static void add_to_module(struct ct_calls *c, const struct ct_merged *m, uint32_t frame,
                          struct ct_launched own)
{
    struct ct_call *call = &c->call[m->stacks.frames[frame].module];
    ct_launched_add(&call->own, &own);
    ct_launched_add(&call->all, &own);
}

static void list_modules(struct ct_calls *c, const struct ct_merged *m, uint32_t device)
{
    const struct ct_merged_stacks *k = &m->stacks;
    size_t modules = k->module_keys.count;
    struct share *share = shares(m);
    c->call = ct_memory_array(1 + modules, sizeof(*c->call));
    c->call[c->count++] = (struct ct_call){.row = CT_CALL_FRAME};
    for (uint32_t i = 0; i < modules; i++)
        c->call[c->count++] =
            (struct ct_call){.parent = k->modules[i].parent, .module = i, .row = CT_CALL_FRAME};
    for (uint32_t i = 0; i < k->keys.count; i++) {
        const struct ct_file_stack *s = &k->stacks[i];
        if (!ct_view_is_of(m->rows[s->row].sum.device, device))
            continue;
        c->graphs += m->rows[s->row].sum.kind == CT_ROW_GRAPH ? s->count : 0;
        add_to_module(c, m, s->frame, launched(m, s, &share[s->row]));
    }
    for (uint32_t i = 0; i < k->inside_keys.count; i++) {
        const struct ct_inside *n = &k->inside[i];
        double ns = inside_ns(m, n) * share[n->row].scale;
        if (!ct_view_is_of(m->rows[n->row].sum.device, device))
            continue;
        c->inside += n->count;
        c->timeless += ns > 0 ? 0 : n->count;
        add_to_module(c, m, n->frame, (struct ct_launched){.count = n->count, .ns = ns});
    }
    free(share);
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
    size_t n = 0;
    uint32_t *order = ct_memory_array(c->count, sizeof(*order));
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

/* Nothing called a thread's name, and it is in no file. */
static void add_names(struct ct_calls *c, const struct ct_merged *m)
{
    for (uint32_t at = c->call[CT_CALL_ROOT].first; at; at = c->call[at].next)
        if (ct_calls_is_thread(m, c->call[at].line))
            c->named_ns += c->call[at].all.ns;
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
    add_names(c, m);
    add_rest(c, m, device);
}

/* By module, index plus one as in the calls, the time of all of its type in its parent. */
static double *times_of_types(const struct ct_calls *c, const struct ct_merged *m)
{
    struct ct_key_table keys = {0};
    double *sum = ct_memory_array(2 * c->count, sizeof(*sum)), *of = sum + c->count;
    uint32_t *map = ct_memory_array(c->count, sizeof(*map));
    for (size_t i = 1; i < c->count; i++) {
        const struct ct_file_module *f = &m->stacks.modules[i - 1];
        uint32_t key[] = {f->parent, f->type};
        map[i] = ct_key_table_add(&keys, key, sizeof(key));
        of[map[i]] += c->call[i].all.ns;
    }
    for (size_t i = 1; i < c->count; i++)
        sum[i] = of[map[i]];
    ct_key_table_free(&keys);
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

/* "python3.11/", as directories of the interpreter's modules are named. */
static bool is_version(const char *name)
{
    const char *digits = name + strlen("python");
    size_t len = strspn(digits, "0123456789.");
    return len && digits[len] == '/';
}

/* A program or a library in the place of a source: the line of native code is not known. */
static bool is_object(const char *file)
{
    const char *name = strrchr(file, '/');
    return name && (!strchr(name, '.') || strstr(name, ".so"));
}

bool ct_calls_is_library(const char *file, uint32_t line)
{
    static const char *const packages[] = {"/site-packages/", "/dist-packages/"},
                             *const modules[] = {"/lib/python", "/lib64/python"};
    bool is = !strncmp(file, "<frozen ", 8) || !strncmp(file, "/usr/include/", 13) ||
              (!line && is_object(file));
    for (int i = 0; i < 2; i++) {
        is |= strstr(file, packages[i]) != NULL;
        for (const char *at = file; !is && (at = strstr(at, modules[i])); at++)
            is = is_version(strstr(at, "python"));
    }
    return is;
}

/* ---- in words ---- */

static void put_operation(struct ct_string *out, const struct ct_merged *m,
                          const struct ct_call *call, const struct ct_options *o)
{
    struct ct_string name = {0};
    const struct ct_merged_row *row = &m->rows[call->row];
    uint32_t kind = row->sum.kind;
    if (call->inside) {
        uint32_t of = m->stacks.inside[call->inside - 1].name;
        struct ct_file_node node = ct_merge_node(m, row, ct_merge_node_named(m, row, of));
        ct_name_node(&name, m, &node, !o->mangled);
        kind = node.kind;
    } else {
        ct_name_row(&name, m, &row->sum, !o->mangled);
    }
    if (o->base && kind == CT_ROW_KERNEL)
        ct_name_base(&name);
    ct_string_add(out, name.data, name.len);
    ct_string_free(&name);
}

void ct_calls_name(struct ct_string *out, const struct ct_merged *m, const struct ct_call *call,
                   const struct ct_options *o)
{
    if (call->row != CT_CALL_FRAME)
        put_operation(out, m, call, o);
    else
        ct_name_safe(out, ct_merge_name(m, m->stacks.lines[call->line].function));
}

void ct_calls_line(struct ct_string *out, const struct ct_merged *m, uint32_t line)
{
    const struct ct_file_line *l = &m->stacks.lines[line];
    ct_name_safe(out, ct_merge_name(m, l->function));
    if (ct_calls_is_thread(m, line))
        return;
    ct_string_put(out, " (");
    ct_name_safe(out, ct_merge_name(m, l->file));
    if (l->line)
        ct_string_printf(out, ":%u", l->line);
    ct_string_put(out, ")");
}

void ct_calls_notes(struct ct_string *out, const struct ct_calls *c)
{
    if (c->count < 2) {
        ct_string_put(out, "No stacks are in the profile: cutrace --stacks python records them\n");
        return;
    }
    double rest_ns = c->with_rest_ns - c->call[CT_CALL_ROOT].all.ns + c->named_ns;
    double rest = ct_calls_percent(rest_ns, c->with_rest_ns);
    if (rest >= 0.05)
        ct_string_printf(out, "%.1f%% of the GPU time was launched by no known line%s\n", rest,
                         c->is_sampled ? ", or is what the sample missed" : "");
    if (c->graphs && !c->inside)
        ct_string_put(out, "A CUDA graph counts for the line that launched it\n");
    if (c->inside)
        ct_string_put(out, "Work in a CUDA graph counts for the line that captured it\n");
    if (c->timeless)
        ct_string_put(out, "Time in graphs that --graph-nodes did not measure counts for the line "
                           "that launched the graph\n");
}
