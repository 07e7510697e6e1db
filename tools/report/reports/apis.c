/* SPDX-License-Identifier: MIT */
/* Report "apis". */
#include "report/reports/apis.h"

#include "report/profile/merged_hist.h"

enum {
    SHARE,
    TOTAL,
    CALLS,
    FAILED,
    TIMED,
    AVG,
    MEDIAN,
    MIN,
    MAX,
    DEVIATION,
    P90,
    P99,
    LAYER,
    NAME,
    COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
    [SHARE] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_SUM, 2},
    [TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [CALLS] = {"calls", "Calls", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [FAILED] = {"failed", "Failed", CT_CELL_COUNT, CT_FOLD_SUM, CT_QUIET},
    [TIMED] = {"timed", "Timed", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(3) | CT_OF_CALLS},
    [AVG] = {"avg_ns", "Avg", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [MEDIAN] = {"median_ns", "Median", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [MIN] = {"min_ns", "Min", CT_CELL_TIME_NS, CT_FOLD_LEAST, 0},
    [MAX] = {"max_ns", "Max", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [DEVIATION] = {"stddev_ns", "StdDev", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [P90] = {"p90_ns", "P90", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(2) | CT_QUIET},
    [P99] = {"p99_ns", "P99", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(2) | CT_QUIET},
    [LAYER] = {"layer", "Layer", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(4)},
    [NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"apis", "API calls", columns, COLUMNS};

struct ct_cell ct_apis_quantile(const struct ct_merged_api *api, double share)
{
    const struct ct_file_api *sum = &api->sum;
    if (sum->min_ns == sum->max_ns)
        return ct_cell_count(sum->min_ns);
    if (!api->hist.count)
        return ct_cell_none();
    return ct_cell_count(ct_merged_hist_quantile(&api->hist, share, sum->min_ns, sum->max_ns));
}

/* Calls in the histogram may be fewer than all: the mean is that of all. */
double ct_apis_deviation(const struct ct_file_api *sum)
{
    double share = (double)sum->sampled / (double)sum->calls;
    return ct_merged_hist_deviation((double)sum->sampled, (double)sum->total_ns * share,
                                    sum->square_ns2);
}

static void put(struct ct_sink *sink, const struct ct_view *v, const struct ct_line *line)
{
    const struct ct_file_api *sum = &line->api->sum;
    struct ct_cell cells[COLUMNS] = {
        [SHARE] = ct_cell_number(ct_view_percent(v, line)),
        [TOTAL] = ct_cell_count(line->total_ns),
        [CALLS] = ct_cell_count(line->calls),
        [FAILED] = ct_cell_count(sum->errors),
        [TIMED] = ct_cell_count(sum->timed),
        [AVG] = ct_cell_count(line->avg_ns),
        [MEDIAN] = ct_apis_quantile(line->api, 0.5),
        [MIN] = ct_cell_count(line->min_ns),
        [MAX] = ct_cell_count(line->max_ns),
        [P90] = ct_apis_quantile(line->api, 0.9),
        [P99] = ct_apis_quantile(line->api, 0.99),
        [LAYER] = ct_cell_text(sum->flags & CT_API_RUNTIME ? "runtime" : "driver"),
        [NAME] = ct_cell_text(line->name),
    };
    cells[TOTAL].estimate = cells[AVG].estimate = ct_view_is_estimate(line);
    if (sum->sampled >= 2)
        cells[DEVIATION] = ct_cell_whole(ct_apis_deviation(sum));
    ct_sink_row(sink, cells);
}

int ct_report_apis(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_view apis;
    ct_view_apis(&apis, in->m);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < apis.count; i++)
        put(sink, &apis, &apis.lines[i]);
    ct_sink_end(sink);
    ct_view_free(&apis);
    return 0;
}
