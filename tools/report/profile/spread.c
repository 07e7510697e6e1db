/* SPDX-License-Identifier: MIT */
#include "report/profile/spread.h"

#include <math.h>
#include <stdlib.h>

#include "report/names.h"
#include "report/profile/view.h"

/* A row's operations that ran, those without a time taken to be like the others. */
static void add_row(struct ct_merged_spread *to, const struct ct_file_row *row)
{
    if (!row->timed)
        return;
    double count = row->estimated ? (double)row->estimated : (double)row->timed;
    double ns = row->estimated ? row->estimated_ns : (double)row->total_ns;
    double calls = (double)ct_view_calls(row);
    to->part_calls += calls;
    to->part_ns += ns * calls / count;
}

static void add_total(struct ct_file_total *to, const struct ct_merged_spread *part, uint32_t kind)
{
    uint64_t ns = ct_view_whole_ns(part->part_ns);
    ct_merge_add_to(&to->gpu_ns, ns);
    if (kind == CT_ROW_KERNEL || kind == CT_ROW_GRAPH)
        ct_merge_add_to(&to->compute_ns, ns);
}

/* Folds a process's part of one row or function into the spread, once. */
static void take_part(struct ct_merged_spread *spread, uint32_t process)
{
    struct ct_file_spread *to = &spread->sum;
    uint64_t ns = ct_view_whole_ns(spread->part_ns);
    if (!(spread->part_calls > 0))
        return;
    double mean_ns = spread->part_ns / spread->part_calls;
    if (!to->processes || ns < to->min_ns) {
        to->min_ns = ns;
        to->least = process;
    }
    if (!to->processes || ns > to->max_ns) {
        to->max_ns = ns;
        to->most = process;
    }
    to->processes++;
    to->total_ns += spread->part_ns;
    to->square_ns2 += spread->part_ns * spread->part_ns;
    to->mean_ns += mean_ns;
    to->mean_square_ns2 += mean_ns * mean_ns;
    spread->part_ns = spread->part_calls = 0;
}

/* The last of the processes, all of whose rows and functions are in s. */
static void add_process(struct ct_merged *m, const struct ct_summary *s)
{
    uint32_t process = (uint32_t)m->process_count - 1;
    struct ct_file_total *total = &m->totals[process];
    for (size_t i = 0; i < s->rows_count; i++) {
        add_row(&m->rows[m->row_map[i]].spread, &s->rows[i]);
        ct_merge_add_to(&total->operations, ct_view_calls(&s->rows[i]));
    }
    for (size_t i = 0; i < s->rows_count; i++) {
        struct ct_merged_row *row = &m->rows[m->row_map[i]];
        add_total(total, &row->spread, row->sum.kind);
        take_part(&row->spread, process);
    }
    for (size_t i = 0; i < s->apis_count; i++) {
        struct ct_merged_spread *spread = &m->apis[m->api_map[i]].spread;
        spread->part_ns += (double)s->apis[i].total_ns;
        spread->part_calls += (double)s->apis[i].calls;
        ct_merge_add_to(&total->api_ns, s->apis[i].total_ns);
        ct_merge_add_to(&total->calls, s->apis[i].calls);
    }
    for (size_t i = 0; i < s->apis_count; i++)
        take_part(&m->apis[m->api_map[i]].spread, process);
}

/* `first` is the number of the file's first process among all. */
static void add_spread(struct ct_file_spread *to, const struct ct_file_spread *from, uint32_t first)
{
    if (!from->processes)
        return;
    if (!to->processes || from->min_ns < to->min_ns) {
        to->min_ns = from->min_ns;
        to->least = first + from->least;
    }
    if (!to->processes || from->max_ns > to->max_ns) {
        to->max_ns = from->max_ns;
        to->most = first + from->most;
    }
    ct_merge_add_to(&to->processes, from->processes);
    to->total_ns += from->total_ns;
    to->square_ns2 += from->square_ns2;
    to->mean_ns += from->mean_ns;
    to->mean_square_ns2 += from->mean_square_ns2;
}

/* ---- merged files ---- */

static double mean_of(const struct ct_file_spread *s)
{
    return s->mean_ns / (double)s->processes;
}

static double deviation_of(const struct ct_file_spread *s)
{
    double squares = s->mean_square_ns2 - s->mean_ns * mean_of(s);
    return s->processes > 1 && squares > 0 ? sqrt(squares / (double)(s->processes - 1)) : 0;
}

/*
 * One more name of a group, whose share of the calls is `share`. A cause that makes a process slow
 * makes all its kernels so: deviations add up, which is the most that processes with equal shares
 * can differ by.
 */
static void add_name(struct ct_file_spread *to, const struct ct_file_spread *from, double share)
{
    double mean = (1 - share) * mean_of(to) + share * mean_of(from);
    double deviation = (1 - share) * deviation_of(to) + share * deviation_of(from);
    uint64_t processes = ct_max(to->processes, from->processes);
    add_spread(to, from, 0);
    to->processes = processes;
    to->mean_ns = (double)processes * mean;
    to->mean_square_ns2 = to->mean_ns * mean + (double)(processes - 1) * deviation * deviation;
}

/* A merged file's spread of a row or function, and the entry it is added to. */
struct share {
    struct ct_merged_spread *to;
    const struct ct_file_spread *from;
    uint32_t device;
    double calls;
};

static struct share share_of(const struct ct_merged *m, const struct ct_summary *s,
                             const struct ct_file_spread *from)
{
    if (from->section == CT_SECTION_ROWS)
        return (struct share){.to = &m->rows[m->row_map[from->index]].spread,
                              .from = from,
                              .device = s->rows[from->index].device,
                              .calls = (double)ct_view_calls(&s->rows[from->index])};
    return (struct share){.to = &m->apis[m->api_map[from->index]].spread,
                          .from = from,
                          .calls = (double)s->apis[from->index].calls};
}

static int by_group(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->to != y->to)
        return (uintptr_t)x->to < (uintptr_t)y->to ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* The names of one group on one model of GPU. */
static size_t add_names(struct ct_file_spread *sum, double *calls, const struct share *all,
                        size_t count)
{
    size_t i = 1;
    *sum = *all->from;
    *calls = all->calls;
    for (; i < count && all[i].to == all->to && all[i].device == all->device; i++) {
        *calls += all[i].calls;
        add_name(sum, all[i].from, all[i].calls / *calls);
        all->to->unknown = true;
    }
    return i;
}

/* Whether of so many processes some must be in both. */
static bool overlap(const struct ct_file_spread *a, const struct ct_file_spread *b,
                    size_t processes)
{
    return ct_merge_sum(a->processes, b->processes) > processes || a->least == b->least ||
           a->least == b->most || a->most == b->least || a->most == b->most;
}

/* Rows on another model of GPU are of other processes, unless these were too few. */
static size_t add_group(const struct share *all, size_t count, size_t processes, uint32_t first)
{
    struct ct_file_spread sum, more;
    double calls, more_calls;
    size_t i = add_names(&sum, &calls, all, count);
    while (i < count && all[i].to == all->to) {
        i += add_names(&more, &more_calls, &all[i], count - i);
        calls += more_calls;
        if (overlap(&sum, &more, processes)) {
            add_name(&sum, &more, more_calls / calls);
            all->to->unknown = true;
        } else {
            add_spread(&sum, &more, 0);
        }
    }
    add_spread(&all->to->sum, &sum, first);
    return i;
}

static void add_spreads(struct ct_merged *m, const struct ct_summary *s, uint32_t first)
{
    size_t count = 0;
    struct share *all = ct_memory_array(s->spreads_count, sizeof(*all));
    for (size_t i = 0; i < s->spreads_count; i++)
        if (s->spreads[i].processes)
            all[count++] = share_of(m, s, &s->spreads[i]);
    qsort(all, count, sizeof(*all), by_group);
    for (size_t i = 0; i < count;)
        i += add_group(&all[i], count - i, s->processes_count, first);
    free(all);
}

static void add_merged_file(struct ct_merged *m, const struct ct_summary *s)
{
    size_t first = m->process_count - s->processes_count;
    for (size_t i = 0; i < s->totals_count; i++)
        m->totals[first + i] = s->totals[i];
    add_spreads(m, s, (uint32_t)first);
}

void ct_spread_add(struct ct_merged *m, const struct ct_summary *s)
{
    m->totals = ct_memory_grow(m->totals, &m->totals_size, m->process_count, sizeof(*m->totals));
    if (s->processes_count)
        add_merged_file(m, s);
    else
        add_process(m, s);
}

/* ---- ranks ---- */

static void add_to_rank(struct ct_rank_total *to, const struct ct_file_total *from)
{
    to->processes++;
    ct_merge_add_to(&to->total.gpu_ns, from->gpu_ns);
    ct_merge_add_to(&to->total.compute_ns, from->compute_ns);
    ct_merge_add_to(&to->total.api_ns, from->api_ns);
    ct_merge_add_to(&to->total.operations, from->operations);
    ct_merge_add_to(&to->total.calls, from->calls);
}

/* Order: by rank, those without one (0) last; then as the files were given. */
static int by_rank(const void *a, const void *b, void *merged)
{
    const struct ct_merged *m = merged;
    const struct ct_rank_total *x = a, *y = b;
    uint32_t x_rank = m->processes[x->process].rank - 1, y_rank = m->processes[y->process].rank - 1;
    if (x_rank != y_rank)
        return x_rank < y_rank ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

struct ct_rank_total *ct_spread_ranks(const struct ct_merged *m, size_t *count)
{
    size_t kept = 0;
    struct ct_rank_total *ranks = ct_memory_array(m->process_count, sizeof(*ranks));
    for (size_t i = 0; i < m->process_count; i++)
        ranks[i].process = (uint32_t)i;
    qsort_r(ranks, m->process_count, sizeof(*ranks), by_rank, (void *)m);
    for (size_t i = 0; i < m->process_count; i++) {
        uint32_t process = ranks[i].process, rank = m->processes[process].rank;
        if (!kept || !rank || m->processes[ranks[kept - 1].process].rank != rank)
            ranks[kept++] = (struct ct_rank_total){.process = process};
        add_to_rank(&ranks[kept - 1], &m->totals[process]);
    }
    *count = kept;
    return ranks;
}

void ct_spread_name(struct ct_string *out, const struct ct_merged *m, uint32_t process)
{
    const struct ct_file_process *p = &m->processes[process];
    if (p->rank) {
        ct_string_printf(out, "%u", p->rank - 1);
        return;
    }
    ct_string_printf(out, "%u@", p->pid);
    ct_name_safe(out, ct_merge_name(m, p->host));
}

/* ---- imbalance ---- */

static struct ct_imbalance finish(struct ct_imbalance i, double total_ns)
{
    i.mean_ns = i.ranks ? total_ns / (double)i.ranks : 0;
    i.ratio = i.mean_ns > 0 ? (double)i.max_ns / i.mean_ns : 1;
    i.lost_ns = i.mean_ns > 0 ? (double)i.max_ns - i.mean_ns : 0;
    return i;
}

struct ct_imbalance ct_spread_of(const struct ct_file_spread *spread)
{
    return finish((struct ct_imbalance){.ranks = spread->processes,
                                        .min_ns = spread->min_ns,
                                        .max_ns = spread->max_ns,
                                        .least = spread->least,
                                        .most = spread->most},
                  spread->total_ns);
}

struct ct_imbalance ct_spread_imbalance(const struct ct_merged *m)
{
    struct ct_imbalance i = {.min_ns = UINT64_MAX};
    double total_ns = 0;
    struct ct_rank_total *ranks = ct_spread_ranks(m, &i.ranks);
    for (size_t k = 0; k < i.ranks; k++) {
        uint64_t ns = ranks[k].total.gpu_ns;
        total_ns += (double)ns;
        if (!k || ns < i.min_ns) {
            i.min_ns = ns;
            i.least = ranks[k].process;
        }
        if (!k || ns > i.max_ns) {
            i.max_ns = ns;
            i.most = ranks[k].process;
        }
    }
    free(ranks);
    return finish(i, total_ns);
}
