/* SPDX-License-Identifier: MIT */
/*
 * A row of the timeline: what one stream ran, or one thread called, in its order, as columns of
 * varints (format/varint.h). What is closer together than a screen could show is one item:
 *
 *   0 start          less the end of the one before, folded (less 0 for the first)
 *   1 duration
 *   2 what           row or function; of several the one that took longest
 *   3 correlation    less that of the one before, folded; of several the first one's
 *   4 bytes          of copies and the like, otherwise 0
 *   5 count          how many it is
 *   6 shape          of a kernel, one more than its number; of several that of the longest; or 0
 */
#ifndef CT_PAGE_LANE_H
#define CT_PAGE_LANE_H

#include <stdint.h>

#include "report/memory.h"

#define CT_LANE_COLUMNS 7

struct ct_lane_item {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t correlation;
    uint64_t bytes;
    uint32_t what;
    uint32_t shape; /* one more than its number; 0: none */
};

/* All zero at first, but for the resolution. */
struct ct_lane {
    uint64_t resolution_ns; /* items within so much are one */
    uint64_t items;         /* in the columns */
    uint64_t records;       /* that they stand for */
    uint64_t busy_ns;       /* sum of the durations */
    struct ct_string columns[CT_LANE_COLUMNS];

    /* lane.c's own: items that are not in the columns yet */
    struct ct_lane_item open;
    uint64_t open_count;
    uint64_t open_longest_ns;
    uint64_t last_end_ns;
    uint64_t last_correlation;
};

void ct_lane_add(struct ct_lane *lane, const struct ct_lane_item *item);
void ct_lane_finish(struct ct_lane *lane);
void ct_lane_free(struct ct_lane *lane);

#endif
