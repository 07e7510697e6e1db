/* SPDX-License-Identifier: MIT */
#include "report/profile/diff_side.h"

#include <math.h>

#include "report/profile/view.h"

/* A sum of squares, as the variance of one value; NAN: there are too few. */
static double scatter(double n, double total_ns, double square_ns2)
{
    double variance = n > 1 ? (square_ns2 - total_ns * (total_ns / n)) / (n - 1) : NAN;
    return variance < 0 ? 0 : variance;
}

/* Adds an independent source of error to the mean. */
static void add_variance(struct ct_stats_value *mean, double variance, double freedom)
{
    if (!(variance > 0) || !(freedom > 0))
        return;
    double sum = mean->variance + variance;
    double parts = variance * variance / freedom;
    if (mean->freedom > 0)
        parts += mean->variance * mean->variance / mean->freedom;
    mean->variance = sum;
    mean->freedom = parts > 0 ? sum * sum / parts : freedom;
}

/*
 * Means of several processes scatter more than their operations make them, as everything of a
 * process is shared by all its operations: the processes are the sample then. Two may be alike by
 * chance, so that the variance is no less than the operations', and no better known.
 */
static void use_processes(struct ct_diff_side *side, const struct ct_file_spread *spread)
{
    struct ct_stats_value *mean = &side->mean;
    double k = (double)spread->processes;
    double variance = scatter(k, spread->mean_ns, spread->mean_square_ns2) / k;
    side->of_processes = k > 1;
    if (!side->of_processes)
        return;
    if (variance > mean->variance || !(mean->freedom > 0))
        mean->variance = variance;
    mean->freedom = k - 1;
}

struct ct_diff_side ct_diff_side_of_row(const struct ct_merged_row *row, bool raw)
{
    struct ct_durations d = ct_view_durations(row, raw);
    const struct ct_file_row *sum = &row->sum;
    struct ct_diff_side side = {.calls = (double)ct_view_calls(sum), .hist = d.hist};
    double timed = (double)sum->timed;
    if (!sum->timed)
        return side;
    side.timed = timed;
    side.mean.value = d.estimated_ns / d.estimated;
    side.mean.doubt = (double)d.doubt_ns / timed;
    side.total_ns = side.mean.value * side.calls;
    double variance = scatter(d.estimated, d.estimated_ns, d.estimated_square_ns2);
    if (timed > 1) {
        side.mean.variance = variance / d.estimated;
        side.mean.freedom = timed - 1;
    }
    if (!raw && sum->freedom_ns4 > 0)
        add_variance(&side.mean, sum->variance_ns2 / (d.estimated * d.estimated),
                     sum->variance_ns2 * (sum->variance_ns2 / sum->freedom_ns4));
    if (!raw)
        use_processes(&side, &row->spread.sum);
    return side;
}

struct ct_diff_side ct_diff_side_of_api(const struct ct_merged_api *api)
{
    const struct ct_file_api *sum = &api->sum;
    struct ct_diff_side side = {
        .calls = (double)sum->calls, .total_ns = (double)sum->total_ns, .hist = &api->hist};
    double timed = (double)(sum->timed ? sum->timed : sum->calls), n = (double)sum->sampled;
    if (!sum->calls)
        return side;
    side.timed = timed;
    side.mean.value = side.total_ns / side.calls;
    if (timed > 1 && n > 1) {
        side.mean.variance = scatter(n, side.mean.value * n, sum->square_ns2) / timed;
        side.mean.freedom = timed - 1;
    }
    use_processes(&side, &api->spread.sum);
    return side;
}

struct ct_stats_value ct_diff_side_total(const struct ct_diff_side *side)
{
    struct ct_stats_value total = side->mean;
    total.value *= side->calls;
    total.variance *= side->calls * side->calls;
    total.doubt *= side->calls;
    return total;
}
