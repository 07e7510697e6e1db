/* SPDX-License-Identifier: MIT */
#include "report/watch/step_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/profile/view.h"
#include "report/watch/step_count.h"

#define NOISE 4         /* a straggler is so many times as far behind as ranks are in the median */
#define TIMED 30        /* operations that a mean is of at least, */
#define TIMED_SHARE 0.5 /* or that part of them */

/* ---- reading ---- */

/* The number of the process; a new one has an empty place. */
static struct ct_step_rank *rank_of(struct ct_step_times *t, const struct ct_file_process *p)
{
    struct {
        uint64_t start_unix_ns;
        uint32_t pid, host;
    } key = {p->start_unix_ns, p->pid, p->host};
    uint32_t at = ct_key_table_add(&t->processes, &key, sizeof(key));
    if (at < t->count)
        return &t->ranks[at];
    t->ranks = ct_memory_grow(t->ranks, &t->size, t->count + 1, sizeof(*t->ranks));
    return &t->ranks[t->count++];
}

static void add_row(struct ct_step_rank *r, uint32_t row, const struct ct_file_row *f, double sign)
{
    r->rows = ct_memory_grow(r->rows, &r->rows_size, (size_t)row + 1, sizeof(*r->rows));
    r->rows[row].calls += sign * (double)ct_view_calls(f);
    r->rows[row].timed += sign * (double)f->timed;
    /* Files of before samples have no estimates: all that is timed is all there is. */
    r->rows[row].estimated += sign * (double)(f->estimated ? f->estimated : f->timed);
    r->rows[row].ns += sign * (f->estimated ? f->estimated_ns : (double)f->total_ns);
}

/* Time from a process's first operation to its last; 0: not known. */
static double span_ns(const struct ct_summary *s)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    for (size_t i = 0; i < s->activities_count; i++) {
        first_ns = ct_min(first_ns, s->activities[i].first_ns);
        last_ns = ct_max(last_ns, s->activities[i].last_ns);
    }
    return last_ns > first_ns ? (double)(last_ns - first_ns) : 0;
}

/* A whole run, without its start. */
static void begin(struct ct_step_rank *r, const struct ct_summary *s,
                  const struct ct_file_process *p)
{
    r->process = *p;
    r->window_ns = span_ns(s);
    if (!(r->window_ns > 0))
        r->window_ns = (double)p->duration_ns;
}

/* The sign of the profile that comes second, once the rank's figures are as of the time between. */
static double begin_window(struct ct_step_rank *r, const struct ct_file_process *p)
{
    double sign = p->duration_ns < r->process.duration_ns ? -1 : 1;
    r->window_ns = fabs((double)p->duration_ns - (double)r->process.duration_ns);
    r->is_between = true;
    if (sign < 0)
        return sign;
    ct_step_ranges_negate(&r->ranges);
    for (size_t i = 0; i < r->rows_size; i++) {
        struct ct_step_row *row = &r->rows[i];
        *row = (struct ct_step_row){-row->calls, -row->timed, -row->estimated, -row->ns, 0};
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
    bool is_new = !r->process.pid;
    if (r->is_between)
        return "there are two profiles of its process already";
    if (!is_new && r->process.duration_ns == p.duration_ns)
        return "it is as old as the other profile of its process";
    double sign = is_new ? 1 : begin_window(r, &p);
    if (is_new)
        begin(r, s, &p);
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

/* NAN: too few were timed to tell. */
static double mean_ns(const struct ct_step_rank *r, uint32_t row)
{
    const struct ct_step_row *x = row < r->rows_size ? &r->rows[row] : NULL;
    if (!x || x->estimated < 0.5 || (x->timed < TIMED && x->timed < TIMED_SHARE * x->calls))
        return NAN;
    return x->ns / x->estimated;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Median of all values but one that is `own`; they are sorted, and two at least. */
static double median_of_others(const double *values, size_t count, double own)
{
    size_t at = 0, end = count - 1;
    while (at < end) {
        size_t middle = (at + end) / 2;
        if (values[middle] < own)
            at = middle + 1;
        else
            end = middle;
    }
    size_t low = (count - 2) / 2, high = (count - 1) / 2;
    return (values[low + (low >= at)] + values[high + (high >= at)]) / 2;
}

/* ---- steps ---- */

static void find_calls(struct ct_step_times *t)
{
    double *calls = ct_memory_array(t->count, sizeof(*calls));
    t->calls = ct_memory_array(t->m.row_keys.count, sizeof(*t->calls));
    for (uint32_t row = 0; row < t->m.row_keys.count && t->count; row++) {
        for (size_t i = 0; i < t->count; i++)
            calls[i] = calls_of(&t->ranks[i], row);
        t->calls[row] = median(calls, t->count);
    }
    free(calls);
}

static double count_steps(const struct ct_step_times *t)
{
    struct ct_step_launches *rows = ct_memory_array(t->m.row_keys.count, sizeof(*rows));
    for (uint32_t row = 0; row < t->m.row_keys.count; row++) {
        rows[row].calls = t->calls[row];
        for (size_t i = 0; i < t->count; i++)
            rows[row].ns += row < t->ranks[i].rows_size ? t->ranks[i].rows[row].ns : 0;
    }
    double steps = ct_step_count(rows, t->m.row_keys.count);
    free(rows);
    return steps;
}

/* A rank that makes more launches than others has made more steps. */
static void find_step(const struct ct_step_times *t, struct ct_step_rank *r)
{
    double own = 0, usual = 0;
    for (uint32_t row = 0; row < t->m.row_keys.count; row++) {
        own += t->calls[row] > 0 ? calls_of(r, row) : 0;
        usual += t->calls[row];
    }
    r->steps = usual > 0 ? t->steps * own / usual : 0;
    r->step_ns = r->steps > 0 ? r->window_ns / r->steps : 0;
}

/* The time of all ranks' ranges of that name, which are their steps; 0: not in each rank. */
static double range_ns(const struct ct_step_times *t, uint32_t name)
{
    double ns = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct ct_step_rank *r = &t->ranks[i];
        struct ct_step_range range = ct_step_range_of(&r->ranges, name);
        if (!ct_step_range_fits(&range, r->steps, r->window_ns))
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
        struct ct_step_range range = ct_step_range_of(&t->ranks[i].ranges, found);
        t->ranks[i].step_ns = range.ns / range.count;
    }
}

/* ---- comparison ---- */

/* Launches in a step: as in other ranks, but where it is not the ends of the window that differ. */
static double calls_in_step(const struct ct_step_times *t, const struct ct_step_rank *r,
                            uint32_t row)
{
    double own = calls_of(r, row), usual = t->calls[row] * r->steps / t->steps;
    double ends = 1 + t->calls[row] / t->steps + CT_STEP_TOLERANCE * usual;
    return fabs(own - usual) <= ends ? t->calls[row] / t->steps : own / r->steps;
}

/* Time of it in a step; NAN: not known, as of kernels of NCCL that the rank lacks. */
static double row_ns(const struct ct_step_times *t, const struct ct_step_rank *r, uint32_t row,
                     enum ct_step_part part)
{
    if (!(calls_of(r, row) > 0) && part != CT_STEP_NCCL)
        return 0;
    return mean_ns(r, row) * calls_in_step(t, r, row);
}

/* `values`: room for one of each rank. */
static void compare_row(struct ct_step_times *t, uint32_t row, enum ct_step_part part,
                        double *values)
{
    bool all = t->count > 1;
    for (size_t i = 0; i < t->count; i++) {
        values[i] = row_ns(t, &t->ranks[i], row, part);
        all = all && isfinite(values[i]);
    }
    t->has_untimed |= !all && t->count > 1 && t->calls[row] > 0;
    if (!all)
        return;
    t->has_nccl |= part == CT_STEP_NCCL && t->calls[row] >= t->steps / 2;
    qsort(values, t->count, sizeof(*values), by_value);
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_rank *r = &t->ranks[i];
        double own = row_ns(t, r, row, part);
        double longer_ns = own - median_of_others(values, t->count, own);
        if (row >= r->rows_size)
            continue;
        r->rows[row].longer_ns = longer_ns;
        r->longer_ns[part] += longer_ns;
    }
}

static void add_part(struct ct_step_rank *r, uint32_t row, enum ct_step_part part)
{
    double ns = mean_ns(r, row);
    if (!isnan(ns))
        r->part_ns[part] += ns * calls_of(r, row) / r->steps;
}

static void compare_rows(struct ct_step_times *t)
{
    double *values = ct_memory_array(t->count, sizeof(*values));
    for (uint32_t row = 0; row < t->m.row_keys.count; row++) {
        enum ct_step_part part = part_of(t, row);
        compare_row(t, row, part, values);
        for (size_t i = 0; i < t->count; i++)
            add_part(&t->ranks[i], row, part);
    }
    free(values);
}

/* `steps_ns`: all ranks' times of a step, sorted. */
static double behind_ns(const struct ct_step_times *t, const struct ct_step_rank *r,
                        const double *steps_ns)
{
    double work_ns = r->longer_ns[CT_STEP_KERNELS] + r->longer_ns[CT_STEP_COPIES];
    if (t->has_nccl)
        return 0 - r->longer_ns[CT_STEP_NCCL];
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
    bool many = t->count >= CT_STEP_MANY;
    double *all = ct_memory_array(t->count, sizeof(*all));
    for (size_t i = 0; i < t->count; i++)
        all[i] = fabs(t->ranks[i].behind_ns);
    qsort(all, t->count, sizeof(*all), by_value);
    for (size_t i = 0; i < t->count; i++) {
        struct ct_step_rank *r = &t->ranks[i];
        double noise_ns = many ? NOISE * median_of_others(all, t->count, fabs(r->behind_ns)) : 0;
        double least_ns = (many ? CT_STEP_BEHIND : CT_STEP_BEHIND_FEW) * r->step_ns;
        r->is_straggler = r->step_ns > 0 && r->behind_ns >= fmax(least_ns, noise_ns);
    }
    free(all);
}

static int by_distance(const void *a, const void *b)
{
    double x = ((const struct ct_step_rank *)a)->behind_ns;
    double y = ((const struct ct_step_rank *)b)->behind_ns;
    return (x < y) - (x > y);
}

static bool has_launched(const struct ct_step_times *t, const struct ct_step_rank *r)
{
    double calls = 0;
    for (uint32_t row = 0; row < t->m.row_keys.count; row++)
        calls += calls_of(r, row);
    return calls > 0;
}

/* Puts rank i behind those that are kept so far. */
static void keep(struct ct_step_times *t, size_t *kept, size_t i)
{
    struct ct_step_rank r = t->ranks[i];
    t->ranks[i] = t->ranks[*kept];
    t->ranks[(*kept)++] = r;
}

/*
 * Processes that are no ranks, where others are, those that launched nothing, and whole runs beside
 * windows go to the end.
 */
static void keep_ranks(struct ct_step_times *t)
{
    bool has_ranks = false, has_windows = false;
    size_t kept = 0;
    t->all = t->count;
    for (size_t i = 0; i < t->all; i++) {
        has_ranks |= t->ranks[i].process.rank != 0;
        has_windows |= t->ranks[i].is_between;
    }
    for (size_t i = 0; i < t->all; i++) {
        struct ct_step_rank *r = &t->ranks[i];
        r->is_idle = !has_launched(t, r);
        if (!r->is_idle && (!has_ranks || r->process.rank) && (!has_windows || r->is_between))
            keep(t, &kept, i);
    }
    t->count = kept;
}

/* Ranks that have nothing in common with the others are of another job. */
static void keep_job(struct ct_step_times *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->ranks[i].steps > 0)
            keep(t, &kept, i);
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
    keep_job(t);
    find_range(t);
    compare_rows(t);
    find_distances(t);
    find_stragglers(t);
    qsort(t->ranks, t->count, sizeof(*t->ranks), by_distance);
}

double ct_step_times_longest(const struct ct_step_times *t, const struct ct_step_rank *r,
                             enum ct_step_part part, uint32_t *row)
{
    double most_ns = 0;
    for (uint32_t i = 0; i < ct_min(t->m.row_keys.count, r->rows_size); i++) {
        if (r->rows[i].longer_ns <= most_ns || part_of(t, i) != part)
            continue;
        most_ns = r->rows[i].longer_ns;
        *row = i;
    }
    return most_ns;
}

void ct_step_times_free(struct ct_step_times *t)
{
    for (size_t i = 0; i < ct_max(t->count, t->all); i++) {
        free(t->ranks[i].rows);
        free(t->ranks[i].ranges.at);
    }
    free(t->ranks);
    free(t->calls);
    ct_key_table_free(&t->processes);
    ct_key_table_free(&t->range_names);
    ct_merge_free(&t->m);
    *t = (struct ct_step_times){0};
}
