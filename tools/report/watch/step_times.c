/* SPDX-License-Identifier: MIT */
#include "report/watch/step_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/profile/view.h"

#define SHARE 10       /* a step's rows: one in so many are launched once in it, */
#define TOLERANCE 0.05 /* give or take that, and one launch at either end */
#define MANY 4         /* ranks that show how much they differ anyway, */
#define NOISE 4        /* of which a straggler is so many times as far behind */

/* ---- reading ---- */

static struct ct_step_rank *rank_of(struct ct_step_times *t, const struct ct_file_process *p)
{
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_rank *r = &t->ranks[i];
        if (r->process.pid == p->pid && r->process.host == p->host &&
            r->process.start_unix_ns == p->start_unix_ns)
            return r;
    }
    return NULL;
}

static void add_row(struct ct_step_rank *r, uint32_t row, const struct ct_file_row *f, double sign)
{
    r->rows = ct_memory_grow(r->rows, &r->rows_size, (size_t)row + 1, sizeof(*r->rows));
    r->rows[row].calls += sign * (double)ct_view_calls(f);
    /* Files of before samples have no estimates: all that is timed is all there is. */
    r->rows[row].estimated += sign * (double)(f->estimated ? f->estimated : f->timed);
    r->rows[row].ns += sign * (f->estimated ? f->estimated_ns : (double)f->total_ns);
}

static struct ct_step_rank *new_rank(struct ct_step_times *t, const struct ct_file_process *p)
{
    t->ranks = ct_memory_grow(t->ranks, &t->size, t->count + 1, sizeof(*t->ranks));
    struct ct_step_rank *r = &t->ranks[t->count++];
    r->process = *p;
    r->window_ns = (double)p->duration_ns;
    return r;
}

/* The sign of the profile that comes second, once the rank's rows are as of the time between. */
static double begin_window(struct ct_step_rank *r, const struct ct_file_process *p)
{
    double sign = p->duration_ns < r->process.duration_ns ? -1 : 1;
    r->window_ns = fabs((double)p->duration_ns - r->window_ns);
    r->is_between = true;
    if (sign < 0)
        return sign;
    ct_step_ranges_negate(&r->ranges);
    for (size_t i = 0; i < r->rows_size; i++) {
        struct ct_step_row *row = &r->rows[i];
        *row = (struct ct_step_row){-row->calls, -row->estimated, -row->ns, 0};
    }
    return sign;
}

const char *ct_step_times_add(struct ct_step_times *t, const struct ct_summary *s)
{
    if (s->processes_count)
        return "several processes were merged into it: their steps are not known";
    t->m.devices_as = CT_DEVICES_AS_ONE;
    ct_merge_add(&t->m, s);
    struct ct_file_process p = *s->process;
    p.host = ct_key_table_text(&t->m.names, ct_summary_text(s, p.host));
    struct ct_step_rank *r = rank_of(t, &p);
    if (r && r->is_between)
        return "there are two profiles of its process already";
    double sign = r ? begin_window(r, &p) : 1;
    r = r ? r : new_rank(t, &p);
    for (size_t i = 0; i < s->rows_count; i++)
        add_row(r, t->m.row_map[i], &s->rows[i], sign);
    ct_step_ranges_add(&r->ranges, &t->range_names, s, sign);
    return NULL;
}

/* ---- rows ---- */

static bool is_nccl(const struct ct_step_times *t, uint32_t row)
{
    const char *name = ct_merge_name(&t->m, t->m.rows[row].sum.name);
    return strstr(name, "ncclDevKernel") || strstr(name, "ncclKernel");
}

static enum ct_step_part part_of(const struct ct_step_times *t, uint32_t row)
{
    uint32_t kind = t->m.rows[row].sum.kind;
    if (kind == CT_ROW_COPY || kind == CT_ROW_PREFETCH)
        return CT_STEP_COPIES;
    return is_nccl(t, row) ? CT_STEP_NCCL : CT_STEP_KERNELS;
}

static double calls_of(const struct ct_step_rank *r, uint32_t row)
{
    return row < r->rows_size ? fmax(r->rows[row].calls, 0) : 0;
}

/* Rows that a rank may have: an array that has grown is longer. */
static size_t row_count(const struct ct_step_times *t, const struct ct_step_rank *r)
{
    return ct_min(t->m.row_keys.count, r->rows_size);
}

/* NAN: no operation's time is known. */
static double mean_ns(const struct ct_step_rank *r, uint32_t row)
{
    return row < r->rows_size && r->rows[row].estimated > 0.5
               ? r->rows[row].ns / r->rows[row].estimated
               : NAN;
}

static void find_calls(struct ct_step_times *t)
{
    t->calls = ct_memory_array(t->m.row_keys.count, sizeof(*t->calls));
    for (size_t i = 0; i < t->count; i++)
        for (uint32_t row = 0; row < t->m.row_keys.count; row++)
            t->calls[row] += calls_of(&t->ranks[i], row) / (double)t->count;
}

/* ---- steps ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double least_shared(const double *calls, size_t count)
{
    size_t least = ct_max(ct_min(count, 2), (count + SHARE - 1) / SHARE);
    for (size_t i = 0; least && i + least <= count; i++)
        if (calls[i + least - 1] <= calls[i] * (1 + TOLERANCE) + 1)
            return calls[i];
    return 0;
}

/*
 * Steps in the ranks' mean: the least number of launches that a tenth of the rows have in common.
 * Layers have more, what is done now and then has less.
 */
static double count_steps(const struct ct_step_times *t)
{
    size_t count = 0;
    double *calls = ct_memory_array(t->m.row_keys.count + 1, sizeof(*calls));
    for (uint32_t row = 0; row < t->m.row_keys.count; row++) {
        if (t->calls[row] > 1.5)
            calls[count++] = t->calls[row];
    }
    qsort(calls, count, sizeof(*calls), by_value);
    double steps = least_shared(calls, count);
    free(calls);
    return steps;
}

/* A rank that makes more launches than the mean has made more steps. */
static void find_step(const struct ct_step_times *t, struct ct_step_rank *r)
{
    double own = 0, mean = 0;
    for (uint32_t row = 0; row < t->m.row_keys.count; row++) {
        own += calls_of(r, row);
        mean += t->calls[row];
    }
    r->steps = mean > 0 ? t->steps * own / mean : 0;
    r->step_ns = r->steps > 0 ? r->window_ns / r->steps : 0;
}

/* The time of all ranks' ranges of that name, which are their steps; 0: not in each rank. */
static double range_ns(const struct ct_step_times *t, uint32_t name)
{
    double ns = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_range range = ct_step_range_of(&t->ranks[i].ranges, name);
        if (!ct_step_range_fits(&range, t->ranks[i].steps))
            return 0;
        ns += range.ns;
    }
    return ns;
}

/* Where several ranges are as often as steps, the longest is one. */
static void find_range(struct ct_step_times *t)
{
    uint32_t found = 0;
    double most_ns = 0;
    for (uint32_t name = 0; name < t->range_names.count; name++) {
        double ns = range_ns(t, name);
        if (ns <= most_ns)
            continue;
        most_ns = ns;
        found = name;
    }
    if (!(most_ns > 0))
        return;
    t->range = ct_key_table_get(&t->range_names, found);
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_rank *r = &t->ranks[i];
        struct ct_step_range range = ct_step_range_of(&r->ranges, found);
        r->steps = range.count;
        r->step_ns = range.ns / range.count;
    }
}

/* ---- comparison ---- */

/* Median of all values but one that is `own`; they are sorted, and two at least. */
static double median_of_others(const double *values, size_t count, double own)
{
    size_t at = 0;
    while (at < count - 1 && values[at] < own)
        at++;
    size_t low = (count - 2) / 2, high = (count - 1) / 2;
    return (values[low + (low >= at)] + values[high + (high >= at)]) / 2;
}

/* `means`: room for one of each rank. */
static void compare_row(struct ct_step_times *t, uint32_t row, double *means)
{
    bool all = t->count > 1;
    for (size_t i = 0; i < t->count; i++) {
        means[i] = mean_ns(&t->ranks[i], row);
        all = all && isfinite(means[i]);
    }
    if (!all)
        return;
    qsort(means, t->count, sizeof(*means), by_value);
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_rank *r = &t->ranks[i];
        double own = mean_ns(r, row), others = median_of_others(means, t->count, own);
        r->rows[row].longer_ns = (own - others) * t->calls[row] / t->steps;
    }
}

static void compare_rows(struct ct_step_times *t)
{
    double *means = ct_memory_array(t->count, sizeof(*means));
    for (uint32_t row = 0; row < t->m.row_keys.count; row++)
        compare_row(t, row, means);
    free(means);
}

static void add_parts(struct ct_step_times *t, struct ct_step_rank *r)
{
    for (uint32_t row = 0; row < row_count(t, r); row++) {
        enum ct_step_part part = part_of(t, row);
        double ns = mean_ns(r, row);
        t->has_nccl |= part == CT_STEP_NCCL;
        r->longer_ns[part] += r->rows[row].longer_ns;
        if (!isnan(ns) && r->steps > 0)
            r->part_ns[part] += ns * calls_of(r, row) / r->steps;
    }
}

/* `steps_ns`: all ranks' times of a step, sorted. */
static double behind_ns(const struct ct_step_times *t, const struct ct_step_rank *r,
                        const double *steps_ns)
{
    double work_ns = r->longer_ns[CT_STEP_KERNELS] + r->longer_ns[CT_STEP_COPIES];
    if (t->has_nccl)
        return -r->longer_ns[CT_STEP_NCCL];
    if (!t->range || t->count < 2)
        return work_ns;
    return fmax(work_ns, r->step_ns - median_of_others(steps_ns, t->count, r->step_ns));
}

static void find_distances(struct ct_step_times *t)
{
    double *steps_ns = ct_memory_array(t->count, sizeof(*steps_ns));
    for (size_t i = 0; i < t->count; i++)
        steps_ns[i] = t->ranks[i].step_ns;
    qsort(steps_ns, t->count, sizeof(*steps_ns), by_value);
    for (size_t i = 0; i < t->count; i++)
        t->ranks[i].behind_ns = behind_ns(t, &t->ranks[i], steps_ns);
    free(steps_ns);
}

/* Ranks that are behind by more than the others are before or behind each other, in the median. */
static void find_stragglers(struct ct_step_times *t)
{
    double *all = ct_memory_array(t->count, sizeof(*all));
    for (size_t i = 0; i < t->count; i++)
        all[i] = fabs(t->ranks[i].behind_ns);
    qsort(all, t->count, sizeof(*all), by_value);
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_rank *r = &t->ranks[i];
        double noise_ns =
            t->count >= MANY ? NOISE * median_of_others(all, t->count, fabs(r->behind_ns)) : 0;
        r->is_straggler =
            r->behind_ns > 0 && r->behind_ns >= fmax(CT_STEP_BEHIND * r->step_ns, noise_ns);
    }
    free(all);
}

static int by_distance(const void *a, const void *b)
{
    double x = ((const struct ct_step_rank *)a)->behind_ns;
    double y = ((const struct ct_step_rank *)b)->behind_ns;
    return (x < y) - (x > y);
}

static void free_rank(struct ct_step_rank *r)
{
    free(r->rows);
    free(r->ranges.at);
}

/* Processes that are no ranks, where others are, and those that did nothing, are left out. */
static void keep_ranks(struct ct_step_times *t)
{
    bool has_ranks = false;
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        has_ranks |= t->ranks[i].process.rank != 0;
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_rank r = t->ranks[i];
        double calls = 0;
        for (uint32_t row = 0; row < t->m.row_keys.count; row++)
            calls += calls_of(&r, row);
        if (calls > 0 && (r.process.rank || !has_ranks))
            t->ranks[kept++] = r;
        else
            free_rank(&r);
    }
    t->count = kept;
}

void ct_step_times_compare(struct ct_step_times *t)
{
    keep_ranks(t);
    find_calls(t);
    t->steps = count_steps(t);
    if (!(t->steps > 0))
        return;
    for (size_t i = 0; i < t->count; i++)
        find_step(t, &t->ranks[i]);
    find_range(t);
    compare_rows(t);
    for (size_t i = 0; i < t->count; i++)
        add_parts(t, &t->ranks[i]);
    find_distances(t);
    find_stragglers(t);
    qsort(t->ranks, t->count, sizeof(*t->ranks), by_distance);
}

double ct_step_times_longest(const struct ct_step_times *t, const struct ct_step_rank *r,
                             enum ct_step_part part, uint32_t *row)
{
    double most_ns = 0;
    for (uint32_t i = 0; i < row_count(t, r); i++) {
        if (part_of(t, i) != part || r->rows[i].longer_ns <= most_ns)
            continue;
        most_ns = r->rows[i].longer_ns;
        *row = i;
    }
    return most_ns;
}

void ct_step_times_free(struct ct_step_times *t)
{
    for (size_t i = 0; i < t->count; i++)
        free_rank(&t->ranks[i]);
    free(t->ranks);
    free(t->calls);
    ct_key_table_free(&t->range_names);
    ct_merge_free(&t->m);
    *t = (struct ct_step_times){0};
}
