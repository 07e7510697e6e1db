/* SPDX-License-Identifier: MIT */
#include "page/page_ranks.h"

#include <stdlib.h>

#include "format/trace_read.h"
#include "page/json.h"
#include "report/names.h"
#include "report/profile/files.h"
#include "report/profile/spread.h"

#define MOST_RANKS 1024 /* that a picture has room for */
#define MOST_ROWS 200

static void add_name(json_t *to, const char *key, const struct ct_merged *m, uint32_t process)
{
    struct ct_string name = {0};
    ct_spread_name(&name, m, process);
    ct_json_text(to, key, name.data);
    ct_string_free(&name);
}

static json_t *rank_of(const struct ct_merged *m, const struct ct_rank_total *r)
{
    const struct ct_file_process *p = &m->processes[r->process];
    json_t *to = ct_json_object();
    add_name(to, "name", m, r->process);
    ct_json_safe(to, "host", ct_merge_name(m, p->host));
    ct_json_count(to, "pid", p->pid);
    ct_json_flag(to, "ranked", p->rank != 0);
    ct_json_count(to, "processes", r->processes);
    ct_json_count(to, "total", r->total.gpu_ns);
    ct_json_count(to, "compute", r->total.compute_ns);
    ct_json_count(to, "api", r->total.api_ns);
    ct_json_count(to, "operations", r->total.operations);
    return to;
}

static void add_imbalance(json_t *to, const struct ct_merged *m, const struct ct_imbalance *i)
{
    ct_json_count(to, "ranks", i->ranks);
    ct_json_real(to, "mean", i->mean_ns);
    ct_json_count(to, "min", i->min_ns);
    ct_json_count(to, "max", i->max_ns);
    ct_json_real(to, "ratio", i->ratio);
    ct_json_real(to, "lost", i->lost_ns);
    if (i->ranks) {
        add_name(to, "least", m, i->least);
        add_name(to, "most", m, i->most);
    }
}

/* A row over the processes, with the cost of its imbalance. */
struct spread {
    const struct ct_merged_row *row;
    struct ct_imbalance i;
};

static int by_lost(const void *a, const void *b)
{
    const struct spread *x = a, *y = b;
    if (x->i.lost_ns != y->i.lost_ns)
        return x->i.lost_ns > y->i.lost_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static json_t *spreads_of(const struct ct_merged *m, bool demangle)
{
    json_t *all = ct_json_array();
    struct ct_string name = {0};
    size_t count = 0;
    struct spread *found = ct_memory_array(m->row_keys.count, sizeof(*found));
    for (uint32_t i = 0; i < m->row_keys.count; i++)
        if (m->rows[i].spread.sum.processes && !m->rows[i].spread.unknown)
            found[count++] = (struct spread){&m->rows[i], ct_spread_of(&m->rows[i].spread.sum)};
    qsort(found, count, sizeof(*found), by_lost);
    for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
        json_t *to = ct_json_object();
        ct_string_clear(&name);
        ct_name_row(&name, m, &found[i].row->sum, demangle);
        ct_json_text(to, "name", name.data);
        ct_json_count(to, "total", ct_view_whole_ns(found[i].row->spread.sum.total_ns));
        add_imbalance(to, m, &found[i].i);
        ct_json_append(all, to);
    }
    ct_string_free(&name);
    free(found);
    ct_json_add_short(all, "name", "short");
    return all;
}

/*
 * Each rank has a GPU of its own: over the ranks rows are those of all GPUs together, which takes
 * another reading. No rows where a file cannot be read: that was said, and is not to be again.
 */
static json_t *rows_of(const struct ct_input *in)
{
    const struct ct_options *o = in->o;
    struct ct_merged m = {.grouped = o->grouped, .devices_as = CT_DEVICES_AS_ONE};
    char **files = ct_memory_copy(o->files, (size_t)o->file_count * sizeof(*files));
    size_t count = 0;
    for (int i = 0; i < o->file_count && !in->partial; i++)
        if (!ct_trace_is_file(o->files[i]))
            files[count++] = o->files[i];
    ct_files_merge(&m, files, count, 0);
    json_t *rows = spreads_of(&m, !o->mangled);
    ct_merge_free(&m);
    free(files);
    return rows;
}

json_t *ct_page_ranks(const struct ct_input *in)
{
    struct ct_imbalance gpu = ct_spread_imbalance(in->m);
    json_t *to, *all;
    size_t count;
    if (gpu.ranks < 2)
        return NULL;
    struct ct_rank_total *ranks = ct_spread_ranks(in->m, &count);
    to = ct_json_object();
    all = ct_json_array();
    for (size_t i = 0; i < count && i < MOST_RANKS; i++)
        ct_json_append(all, rank_of(in->m, &ranks[i]));
    free(ranks);
    add_imbalance(to, in->m, &gpu);
    ct_json_set(to, "all", all);
    ct_json_set(to, "rows", rows_of(in));
    return to;
}
