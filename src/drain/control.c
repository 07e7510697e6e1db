/* SPDX-License-Identifier: MIT */
#include "drain/control.h"

#include "base/root.h"
#include "counts/api_count.h"
#include "counts/pass.h"
#include "counts/sample.h"
#include "drain/api_stats.h"
#include "state/context.h"
#include "system/clock.h"

/* Host times of a bracket, a look and a pass until they are measured, with an H200; in ns. */
#define EVENT_NS_MOST 10000
#define BRACKET_HOST_NS 400
#define PASSED_HOST_NS 50
#define HOST_NS_MOST 1000000 /* more is not believed */
#define PASS_HOST_NS 25

/* The drain thread spends one part in so many of its time here. */
#define IDLE_PARTS 20

#define STEP_NS 5000000u
#define EARLY_NS 1000000000u
#define EARLY_OPERATIONS 20000 /* where all are timed at first: some 50 ms of brackets */
#define WINDOW_NS 100000000.0
#define LONGEST_NS 20000000.0 /* a drain thread that was held up does not make up for it */

#define FILL_SHARE 0.75
#define PURSE_SHARE 0.125
#define SPEND_SHARE 0.70
#define CLUSTER_SHARE 0.75 /* of that; the rest is for cells that come seldom or are uneven */
#define UNIFORM_SHARE 0.1  /* where cells are known well enough: all operations are alike there */

/* The least for brackets, whatever else costs: with too few, first launches would stand for all. */
#define FLOOR_SHARE 0.12

/* How fast a rate that was seen is forgotten: bursts come again. */
#define MEMORY_NS 200000000.0

static struct {
    uint64_t seen;
    uint64_t passed;
    double rate;        /* operations a second, */
    double in_clusters; /* and those timed in clusters */
    double part;        /* of the operations, that is to be timed */
    double due;         /* the cell's share of all brackets that can be paid */
} pace[CT_CELLS];

static uint64_t last_ns, first_ns; /* the last step, and the one before operations began */
static uint64_t operations;        /* seen so far */

/* In the child of a fork: half a megabyte of `pace` is not touched unless it was in use. */
void ct_control_forget(void)
{
    if (!last_ns)
        return;
    last_ns = first_ns = operations = 0;
    __builtin_memset(pace, 0, sizeof(pace));
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Totals of other files, as last read. */
static uint64_t passes_seen, clocks_seen, counted_seen;

static uint64_t since(uint64_t *seen, uint64_t now)
{
    uint64_t n = now - *seen;
    *seen = now;
    return n;
}

/* Takes the cells' counts; returns how many operations were passed over since the last time. */
static uint64_t look(double dt_ns)
{
    uint64_t all = 0;
    double keep = most(0, 1 - dt_ns / MEMORY_NS);
    for (uint32_t i = 1; i < ct_cells_count(); i++) {
        struct ct_cell_count n = ct_cell_count(i);
        int64_t came = (int64_t)(n.seen - pace[i].seen); /* some are taken back */
        int64_t passed = (int64_t)(n.seen - n.chosen - pace[i].passed);
        pace[i].rate = most(came > 0 ? (double)came * 1e9 / dt_ns : 0, pace[i].rate * keep);
        pace[i].seen = n.seen;
        pace[i].passed = n.seen - n.chosen;
        all += passed > 0 ? (uint64_t)passed : 0;
        operations += (uint64_t)came;
    }
    return all;
}

/* How much a cell's total gains from brackets: its rate times the scatter of its durations. */
static double need_of(uint32_t i)
{
    const struct ct_stratum *t = ct_cell_stratum(i);
    return pace[i].rate * ct_root(ct_stratum_spread_ns2(t));
}

/* All that a budget pays, or as many as the mean is known by, to the target. */
static double part_of(uint32_t i)
{
    double target = ct_sample_policy()->target_ppm * 1e-6;
    return target > 0 ? ct_stratum_part(ct_cell_stratum(i), pace[i].passed, target) : 1;
}

/*
 * Half of the brackets are for the sum of all times, where they tell most; the other half is the
 * same for each cell, so that each has a mean of its own.
 */
static void set_dues(void)
{
    double need = 0, active = 0;
    for (uint32_t i = 1; i < ct_cells_count(); i++) {
        pace[i].due = pace[i].rate > 0 ? need_of(i) : 0;
        need += pace[i].due;
        active += pace[i].rate > 0;
    }
    for (uint32_t i = 1; i < ct_cells_count(); i++)
        if (pace[i].rate > 0)
            pace[i].due = 0.5 / active + (need > 0 ? 0.5 * pace[i].due / need : 0.5 / active);
}

/* Operations of a cell that are to be timed a second, beyond those in clusters. */
static double beyond_clusters(uint32_t i, double value)
{
    double wanted = pace[i].rate * pace[i].part;
    return most(0, least(wanted, pace[i].due * value) - pace[i].in_clusters);
}

static double all_beyond_clusters(double value)
{
    double sum = 0;
    for (uint32_t i = 1; i < ct_cells_count(); i++)
        sum += beyond_clusters(i, value);
    return sum;
}

#define ANY 1e100 /* brackets a second for a due of 1: more than there are operations */

/*
 * Brackets a second for a due of 1, where `brackets` a second are for cells by themselves: cells
 * that come less often than their due, or often enough in clusters, leave the rest to the others.
 * To a thousandth.
 */
static double level(double brackets)
{
    double low = 0, high = most(brackets, 1);
    if (all_beyond_clusters(ANY) <= brackets)
        return ANY;
    for (int i = 0; i < 20 && all_beyond_clusters(high) < brackets; i++)
        high *= 2;
    for (int i = 0; i < 10; i++) {
        double middle = (low + high) / 2;
        if (all_beyond_clusters(middle) < brackets)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Where a rate more than doubles, launches no longer go by that were drawn to at the old one. */
static void set_cell_rates(double brackets)
{
    bool are_more_wanted = false;
    set_dues();
    double value = level(brackets);
    for (uint32_t i = 1; i < ct_cells_count(); i++) {
        double timed = beyond_clusters(i, value), others = pace[i].rate - pace[i].in_clusters;
        double every = timed > 0 ? others / timed : pace[i].rate > 0 ? CT_EVERY_MOST : 1;
        every = most(least(every + 0.5, CT_EVERY_MOST), ct_sample_policy()->every);
        uint32_t before = atomic_load_explicit(&ct_cell(i)->every, memory_order_relaxed);
        are_more_wanted |= every < before / 2;
        atomic_store_explicit(&ct_cell(i)->every, (uint32_t)every, memory_order_relaxed);
    }
    if (are_more_wanted)
        ct_pass_renew();
}

/* Operations a second in cells of which more than that part is to be timed. */
static double wanting_more(double part)
{
    double sum = 0;
    for (uint32_t i = 1; i < ct_cells_count(); i++)
        sum += pace[i].part > part ? pace[i].in_clusters : 0;
    return sum;
}

/*
 * Returns the ns a second that clusters may cost. With a target they time all operations alike, a
 * part that no more need be in than pays: an operation in a cluster costs less than one by itself,
 * but takes others along. A tenth of all is spent in any case, as are rare lengths not seen yet.
 */
static double for_clusters_ns(double spend_ns, double rate, const struct ct_costs *costs)
{
    double ns = CLUSTER_SHARE * spend_ns, uniform_ns = UNIFORM_SHARE * spend_ns;
    if (!ct_sample_policy()->target_ppm || !(rate > 0))
        return ns;
    double enough = rate * costs->next_ns / costs->bracket_ns;
    while (ns > uniform_ns && wanting_more(ns / (rate * costs->next_ns)) < enough)
        ns /= 2;
    return most(ns, uniform_ns);
}

/* Returns the cost of clusters, in ns a second. */
static double set_cluster_rate(double spend_ns, const struct ct_costs *costs)
{
    double rate = 0, cluster_ns = costs->bracket_ns + (CT_CLUSTER - 1) * (double)costs->next_ns;
    for (uint32_t i = 1; i < ct_cells_count(); i++) {
        pace[i].part = pace[i].rate > 0 ? part_of(i) : 1;
        pace[i].in_clusters = ct_cell_is_in_clusters(i) ? pace[i].rate : 0;
        rate += pace[i].in_clusters;
    }
    double cycle = most(rate * cluster_ns / for_clusters_ns(spend_ns, rate, costs), CT_CLUSTER);
    for (uint32_t i = 1; i < ct_cells_count(); i++)
        pace[i].in_clusters *= CT_CLUSTER / cycle;
    atomic_store_explicit(&ct_purse.cluster_cycle, (uint32_t)least(cycle + 0.5, CT_EVERY_MOST),
                          memory_order_relaxed);
    return rate / cycle * cluster_ns;
}

/* Single brackets get the part that clusters do not need. */
static void set_rates(double spend_ns, const struct ct_costs *costs)
{
    set_cell_rates((spend_ns - set_cluster_rate(spend_ns, costs)) / costs->bracket_ns);
}

/* The cost of all that cutrace does in calls, brackets aside, since the last step. */
static double spent_ns(double dt_ns, const struct ct_costs *costs)
{
    uint64_t passed = look(dt_ns), passes = since(&passes_seen, ct_passes_collected());
    uint64_t clocks = since(&clocks_seen, ct_api_stats_collected());
    uint64_t counted = since(&counted_seen, ct_api_stats_counted());
    uint64_t looked_at = passed > passes ? passed - passes : 0;
    return (double)looked_at * costs->passed_ns + (double)passes * costs->pass_ns +
           (double)clocks * costs->clocks_ns + (double)counted * costs->count_ns;
}

/* Fills the purse; the cost of all else is not there for brackets. */
static void fill(double budget, double dt_ns, double other_ns)
{
    int64_t size_ns = (int64_t)(budget * WINDOW_NS * PURSE_SHARE);
    int64_t left_ns = atomic_load_explicit(&ct_purse.left_ns, memory_order_relaxed);
    int64_t more_ns = dt_ns > 0 ? (int64_t)most(budget * dt_ns * FILL_SHARE - other_ns,
                                                budget * dt_ns * FLOOR_SHARE)
                                : size_ns;
    more_ns = (int64_t)least((double)more_ns, (double)(size_ns - left_ns));
    more_ns = (int64_t)most((double)more_ns, (double)(-size_ns - left_ns));
    atomic_store_explicit(&ct_purse.size_ns, size_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&ct_purse.left_ns, more_ns, memory_order_relaxed);
}

/* The first operation, which may come late, is one since the last step. */
static bool is_early(uint64_t now_ns)
{
    if (!first_ns && ct_cells_count() > CT_CELL_NONE + 1)
        first_ns = last_ns;
    return !first_ns || now_ns - first_ns < EARLY_NS ||
           (ct_sample_policy()->target_ppm && operations < EARLY_OPERATIONS);
}

void ct_control_step(uint64_t now_ns, const struct ct_costs *costs)
{
    if (!ct_sample_is_on || !ct_sample_policy()->budget_ppm)
        return;
    bool is_first = !last_ns;
    if (is_first)
        last_ns = now_ns;
    double dt_ns = (double)(now_ns - last_ns), budget = ct_sample_policy()->budget_ppm * 1e-6;
    if (!is_first && dt_ns < STEP_NS)
        return;
    atomic_store_explicit(&ct_purse.early, is_early(now_ns), memory_order_relaxed);
    last_ns = now_ns;
    atomic_store_explicit(&ct_purse.bracket_ns, costs->bracket_ns, memory_order_relaxed);
    atomic_store_explicit(&ct_purse.next_ns, costs->next_ns, memory_order_relaxed);
    double other_ns = dt_ns > 0 ? spent_ns(dt_ns, costs) : 0;
    fill(budget, least(dt_ns, LONGEST_NS), least(other_ns, dt_ns));
    bool all_timed = ct_sample_policy()->target_ppm && is_early(now_ns);
    if (dt_ns > 0 && !all_timed)
        set_rates(most(budget * FLOOR_SHARE, budget * SPEND_SHARE - other_ns / dt_ns) * 1e9, costs);
}

/* The front end's time for one event, on the slowest device. */
static uint32_t event_ns(void)
{
    uint32_t ns = 0;
    for (uint32_t i = 0; i < ct_devices_count(); i++) {
        uint32_t gap_ns = ct_device(i)->calibration->gap_busy_ns;
        if (gap_ns < EVENT_NS_MOST && gap_ns > ns)
            ns = gap_ns;
    }
    return ns ? ns : ct_record_ns(ct_calibration_of("", 0));
}

static uint32_t host_ns(enum ct_cost cost, uint32_t standard_ns)
{
    uint64_t ticks = ct_sample_ticks(cost);
    return ticks ? (uint32_t)ct_min(ct_ticks_to_ns(ticks), HOST_NS_MOST) : standard_ns;
}

/* A bracket costs the host's time or the GPU's, whichever is more: a program waits for one. */
void ct_control_run(void)
{
    static uint64_t next_ns; /* many cells in many threads take a while */
    uint64_t now_ns;
    if (!ct_sample_is_on || !ct_sample_policy()->budget_ppm ||
        (now_ns = ct_clock_monotonic_ns()) < next_ns)
        return;
    uint32_t events_ns = 2 * event_ns();
    struct ct_costs costs = {
        .bracket_ns = (uint32_t)ct_max(host_ns(CT_COST_BRACKET, BRACKET_HOST_NS), events_ns),
        .next_ns = (uint32_t)ct_max(host_ns(CT_COST_NEXT, BRACKET_HOST_NS), events_ns),
        .passed_ns = host_ns(CT_COST_PASSED, PASSED_HOST_NS),
        .pass_ns = host_ns(CT_COST_PASS, PASS_HOST_NS),
        .clocks_ns = CT_API_CLOCKS_NS,
        .count_ns = CT_API_COUNT_NS,
    };
    ct_control_step(now_ns, &costs);
    next_ns = now_ns + IDLE_PARTS * (ct_clock_monotonic_ns() - now_ns);
}
