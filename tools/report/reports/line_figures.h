/* SPDX-License-Identifier: MIT */
/* The figures of one line of the summary, which reports on GPU activities share. */
#ifndef CT_REPORT_LINE_FIGURES_H
#define CT_REPORT_LINE_FIGURES_H

#include "report/reports.h"

#define CT_FIGURES_GPUS 32

/* The first columns of reports with these figures. */
enum ct_figure {
    CT_FIGURE_SHARE,
    CT_FIGURE_TOTAL,
    CT_FIGURE_INTERVAL,
    CT_FIGURE_CALLS,
    CT_FIGURE_FAILED,
    CT_FIGURE_TIMED,
    CT_FIGURE_BOUNDS,
    CT_FIGURE_AVG,
    CT_FIGURE_DOUBT,
    CT_FIGURE_MEDIAN,
    CT_FIGURE_MIN,
    CT_FIGURE_MAX,
    CT_FIGURE_DEVIATION,
    CT_FIGURE_P90,
    CT_FIGURE_P99,
    CT_FIGURE_BRACKET,
    CT_FIGURES
};

/* clang-format off */
#define CT_FIGURES_COLUMNS                                                                         \
    [CT_FIGURE_SHARE] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_SUM, 2},              \
    [CT_FIGURE_TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},                     \
    [CT_FIGURE_INTERVAL] = {"interval_ns", "95%+-", CT_CELL_TIME_NS,                               \
                            CT_FOLD_NONE, CT_OPTIONAL(5) | CT_QUIET},                              \
    [CT_FIGURE_CALLS] = {"calls", "Calls", CT_CELL_COUNT, CT_FOLD_SUM, 0},                         \
    [CT_FIGURE_FAILED] = {"failed", "Failed", CT_CELL_COUNT, CT_FOLD_SUM, CT_QUIET},               \
    [CT_FIGURE_TIMED] = {"timed", "Timed", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(6) | CT_OF_CALLS},            \
    [CT_FIGURE_BOUNDS] = {"upper_bounds", "Bounds", CT_CELL_COUNT,                                 \
                          CT_FOLD_SUM, CT_OPTIONAL(7) | CT_QUIET},                                 \
    [CT_FIGURE_AVG] = {"avg_ns", "Avg", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},                         \
    [CT_FIGURE_DOUBT] = {"uncertainty_ns", "+-", CT_CELL_TIME_NS,                                  \
                         CT_FOLD_NONE, CT_OPTIONAL(3) | CT_QUIET},                                 \
    [CT_FIGURE_MEDIAN] = {"median_ns", "Median", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},                \
    [CT_FIGURE_MIN] = {"min_ns", "Min", CT_CELL_TIME_NS, CT_FOLD_LEAST, 0},                        \
    [CT_FIGURE_MAX] = {"max_ns", "Max", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},                         \
    [CT_FIGURE_DEVIATION] = {"stddev_ns", "StdDev", CT_CELL_TIME_NS,                               \
                             CT_FOLD_NONE, CT_OPTIONAL(4)},                                        \
    [CT_FIGURE_P90] = {"p90_ns", "P90", CT_CELL_TIME_NS,                                           \
                       CT_FOLD_NONE, CT_OPTIONAL(8) | CT_QUIET},                                   \
    [CT_FIGURE_P99] = {"p99_ns", "P99", CT_CELL_TIME_NS,                                           \
                       CT_FOLD_NONE, CT_OPTIONAL(8) | CT_QUIET},                                   \
    [CT_FIGURE_BRACKET] = {"bracket_avg_ns", "Bracket", CT_CELL_TIME_NS,                           \
                           CT_FOLD_NONE, CT_OPTIONAL(9)}
/* clang-format on */

/* One report: lines of some kinds, their figures, and columns of its own. */
struct ct_figures_report {
    const struct ct_relation *relation; /* columns: the figures, then its own */
    unsigned kinds;                     /* mask of 1 << enum ct_row_kind */
    void (*put)(struct ct_cell *own, const struct ct_line *line, const char *gpus, bool raw);
};

void ct_figures_rows(const struct ct_input *in, struct ct_sink *sink,
                     const struct ct_figures_report *report);
/* As ct_figures_rows(), of a view that the caller has. */
void ct_figures_put(const struct ct_view *gpu, struct ct_sink *sink,
                    const struct ct_figures_report *report, bool raw);

/* The time of all lines of these kinds, ns. */
uint64_t ct_figures_total(const struct ct_view *v, unsigned kinds);
static inline bool ct_figures_is(const struct ct_line *line, unsigned kinds)
{
    return line->kind < 32 && kinds >> line->kind & 1;
}

/* A quantile, and the deviation, of a line with times, ns. */
struct ct_cell ct_figures_quantile(const struct ct_line *line, bool raw, double share);
double ct_figures_deviation(const struct ct_line *line, bool raw);

/* Registers and the like: UINT32_MAX is unknown. */
struct ct_cell ct_figures_known(uint32_t value);

#define CT_FIGURES_KERNELS (1u << CT_ROW_KERNEL)
#define CT_FIGURES_GRAPHS (1u << CT_ROW_GRAPH)
#define CT_FIGURES_MEMORY (~(CT_FIGURES_KERNELS | CT_FIGURES_GRAPHS))

#endif
