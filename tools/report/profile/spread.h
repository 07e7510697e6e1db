/* SPDX-License-Identifier: MIT */
/*
 * How processes differ: least, mean and most of each row and function, and the cost of an
 * imbalance. A process is known by its rank where it has one.
 */
#ifndef CT_REPORT_SPREAD_H
#define CT_REPORT_SPREAD_H

#include "report/profile/merge.h"

/* Adds a summary's processes to the spreads; its rows and functions are where m's maps say. */
void ct_spread_add(struct ct_merged *m, const struct ct_summary *s);

/* One rank: all its processes together. Processes without a rank stand for themselves. */
struct ct_rank_total {
    uint32_t process; /* the first of them: of ct_merged.processes */
    size_t processes;
    struct ct_file_total total;
};

/* All ranks in their order, processes without a rank last; the caller frees. */
struct ct_rank_total *ct_spread_ranks(const struct ct_merged *m, size_t *count);

/* "3", or of a process without a rank "4711@host"; safe to be shown. */
void ct_spread_name(struct ct_string *out, const struct ct_merged *m, uint32_t process);

/*
 * Rows and functions that are not spread evenly. While all wait for the slowest, each loses most -
 * mean on average.
 */
struct ct_imbalance {
    size_t ranks;
    double mean_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint32_t least; /* of ct_merged.processes */
    uint32_t most;
    double ratio;   /* most to mean; 1: even, or nothing to compare */
    double lost_ns; /* most - mean */
};

/* Spread of the time on the GPU over the ranks. */
struct ct_imbalance ct_spread_imbalance(const struct ct_merged *m);

/* Spread of one row or function over the processes that have it. */
struct ct_imbalance ct_spread_of(const struct ct_file_spread *spread);

#endif
