/* SPDX-License-Identifier: MIT */
#include "report/profile/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"

/* ---- finding the pairs ---- */

static void key_text(struct ct_string *key, const char *text)
{
    ct_string_add(key, text, strlen(text) + 1);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct ct_string *)a)->data, ((const struct ct_string *)b)->data);
}

/* Numbers of names differ between the two: a graph's content is spelt. */
static void key_content(struct ct_string *key, const struct ct_merged *m, uint32_t content)
{
    size_t count = ct_merge_content_count(m, content);
    struct ct_string *nodes = ct_memory_array(count, sizeof(*nodes));
    for (size_t i = 0; i < count; i++) {
        struct ct_file_node node = ct_merge_content(m, content, i);
        ct_string_printf(&nodes[i], "%s %llu", ct_merge_name(m, node.name),
                         (unsigned long long)node.count);
    }
    qsort(nodes, count, sizeof(*nodes), by_text);
    for (size_t i = 0; i < count; i++) {
        key_text(key, nodes[i].data);
        ct_string_free(&nodes[i]);
    }
    free(nodes);
}

void ct_pairs_key(struct ct_string *key, const struct ct_merged *m, const struct ct_merged_row *row)
{
    ct_string_printf(key, "row %u %u ", row->sum.kind, row->sum.detail);
    key_text(key, ct_merge_name(m, row->sum.name));
    if (row->content != CT_MERGE_NONE)
        key_content(key, m, row->content);
}

static struct ct_pair *pair_of(struct ct_pairs *p, struct ct_string *key)
{
    uint32_t at = ct_key_table_add(&p->keys, key->data, key->len);
    p->pairs = ct_memory_grow(p->pairs, &p->size, at + 1, sizeof(*p->pairs));
    p->count = p->keys.count;
    ct_string_free(key);
    return &p->pairs[at];
}

static struct ct_diff_side *side_of(struct ct_pair *pair, bool after)
{
    return after ? &pair->after : &pair->before;
}

static void add_row(struct ct_pairs *p, const struct ct_merged *m, const struct ct_merged_row *row,
                    bool after, bool raw, bool demangle)
{
    struct ct_string key = {0};
    ct_pairs_key(&key, m, row);
    struct ct_pair *pair = pair_of(p, &key);
    *side_of(pair, after) = ct_diff_side_of_row(row, raw);
    pair->gpu = true;
    if (!pair->name.len)
        ct_name_row(&pair->name, m, &row->sum, demangle);
}

static void add_api(struct ct_pairs *p, const struct ct_merged *m, const struct ct_merged_api *api,
                    bool after)
{
    struct ct_string key = {0};
    ct_string_printf(&key, "api %u ", api->sum.flags);
    key_text(&key, ct_merge_name(m, api->sum.name));
    struct ct_pair *pair = pair_of(p, &key);
    *side_of(pair, after) = ct_diff_side_of_api(api);
    if (!pair->name.len)
        ct_name_api(&pair->name, ct_merge_name(m, api->sum.name));
}

static void add_side(struct ct_pairs *p, const struct ct_merged *m, bool after, bool raw,
                     bool demangle)
{
    for (uint32_t i = 0; i < m->row_keys.count; i++)
        add_row(p, m, &m->rows[i], after, raw, demangle);
    for (uint32_t i = 0; i < m->api_keys.count; i++)
        add_api(p, m, &m->apis[i], after);
}

/* ---- significance ---- */

static void test(struct ct_pair *pair)
{
    const struct ct_diff_side *a = &pair->before, *b = &pair->after;
    struct ct_stats_value a_total = ct_diff_side_total(a), b_total = ct_diff_side_total(b);
    pair->total_p = pair->mean_p = pair->half_ns = pair->ranks.p = NAN;
    if (!(a->timed > 0) || !(b->timed > 0))
        return;
    pair->total_p = ct_stats_welch(&a_total, &b_total);
    pair->mean_p = ct_stats_welch(&a->mean, &b->mean);
    pair->half_ns = ct_stats_half(&a->mean, &b->mean);
    /* ranks are of operations, each by itself */
    if (a->timed + b->timed > 2 && !a->of_processes && !b->of_processes)
        pair->ranks =
            ct_stats_ranks(a->hist, a->timed, b->hist, b->timed, a->mean.doubt + b->mean.doubt);
}

/* Each kind of test is a family of its own. */
static void correct(struct ct_pairs *p)
{
    double *all = ct_memory_array(p->count, sizeof(*all));
#define CORRECT(member)                                                                            \
    for (size_t i = 0; i < p->count; i++)                                                          \
        all[i] = p->pairs[i].member;                                                               \
    ct_stats_holm(all, p->count);                                                                  \
    for (size_t i = 0; i < p->count; i++)                                                          \
        p->pairs[i].member = all[i];
    CORRECT(total_p)
    CORRECT(mean_p)
    CORRECT(ranks.p)
#undef CORRECT
    free(all);
}

static int by_change(const void *a, const void *b)
{
    const struct ct_pair *x = a, *y = b;
    double x_ns = fabs(ct_pair_change_ns(x)), y_ns = fabs(ct_pair_change_ns(y));
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    if (x->after.total_ns != y->after.total_ns)
        return x->after.total_ns > y->after.total_ns ? -1 : 1;
    return strcmp(x->name.data, y->name.data);
}

/* Drops pairs that ran in neither profile: they would show nothing. */
static void drop_empty(struct ct_pairs *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->pairs[i].before.calls > 0 || p->pairs[i].after.calls > 0)
            p->pairs[kept++] = p->pairs[i];
        else
            ct_string_free(&p->pairs[i].name);
    }
    p->count = kept;
}

void ct_pairs_make(struct ct_pairs *p, const struct ct_merged *before,
                   const struct ct_merged *after, bool raw, bool demangle)
{
    *p = (struct ct_pairs){0};
    add_side(p, before, false, raw, demangle);
    add_side(p, after, true, raw, demangle);
    drop_empty(p);
    for (size_t i = 0; i < p->count; i++)
        test(&p->pairs[i]);
    correct(p);
    if (p->count)
        qsort(p->pairs, p->count, sizeof(*p->pairs), by_change);
}

void ct_pairs_free(struct ct_pairs *p)
{
    for (size_t i = 0; i < p->count; i++)
        ct_string_free(&p->pairs[i].name);
    free(p->pairs);
    ct_key_table_free(&p->keys);
}

/* ---- all together ---- */

struct ct_stats_value ct_pairs_total(const struct ct_pairs *p, bool gpu, bool after)
{
    struct ct_stats_value sum = {0};
    double parts = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_pair *pair = &p->pairs[i];
        struct ct_stats_value one = ct_diff_side_total(after ? &pair->after : &pair->before);
        if (pair->gpu != gpu)
            continue;
        sum.value += one.value;
        sum.doubt += one.doubt;
        sum.variance += one.variance;
        parts += one.freedom > 0 ? one.variance * one.variance / one.freedom : 0;
    }
    sum.freedom = parts > 0 ? sum.variance * sum.variance / parts : INFINITY;
    return sum;
}

/* An operation that ran once may be as long as it was by chance: all of its change is in doubt. */
double ct_pairs_total_p(const struct ct_pairs *p, bool gpu)
{
    struct ct_stats_value before = ct_pairs_total(p, gpu, false);
    struct ct_stats_value after = ct_pairs_total(p, gpu, true);
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_pair *pair = &p->pairs[i];
        bool known = pair->before.mean.freedom > 0 || !(pair->before.calls > 0);
        known &= pair->after.mean.freedom > 0 || !(pair->after.calls > 0);
        if (pair->gpu == gpu && !known)
            after.doubt += fabs(ct_pair_change_ns(pair));
    }
    return ct_stats_welch(&before, &after);
}

static bool significant(double p)
{
    return p < CT_PAIRS_LEVEL;
}

/* The mean says most; where single long operations hide a change, the ranks do. */
static int direction(const struct ct_pair *pair, bool *mostly)
{
    double change = pair->after.mean.value - pair->before.mean.value;
    *mostly = !significant(pair->mean_p);
    if (!*mostly)
        return change > 0 ? 2 : 1;
    if (significant(pair->ranks.p))
        return pair->ranks.superiority > 0.5 ? 2 : 1;
    return 0;
}

double ct_pair_p(const struct ct_pair *pair)
{
    bool mostly;
    return direction(pair, &mostly) && mostly ? pair->ranks.p : pair->mean_p;
}

const char *ct_pair_verdict(const struct ct_pair *pair)
{
    static const char *const texts[2][3][3] = {
        {{NULL, "fewer calls", "more calls"},
         {"faster", "faster, fewer calls", "faster, more calls"},
         {"slower", "slower, fewer calls", "slower, more calls"}},
        {{NULL, "fewer calls", "more calls"},
         {"mostly faster", "mostly faster, fewer calls", "mostly faster, more calls"},
         {"mostly slower", "mostly slower, fewer calls", "mostly slower, more calls"}},
    };
    bool mostly;
    double more = pair->after.calls - pair->before.calls;
    if (!(pair->before.calls > 0) || !(pair->after.calls > 0))
        return pair->after.calls > 0 ? "new" : "vanished";
    int way = direction(pair, &mostly);
    return texts[mostly][way][more > 0 ? 2 : more < 0];
}
