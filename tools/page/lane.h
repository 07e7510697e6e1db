/* SPDX-License-Identifier: MIT */
/*
 * A lane of the timeline: a stream's operations or a thread's calls or ranges in their order, as
 * columns of varints (format/varint.h). Those closer than a screen could show are one item:
 *
 *   0 start          less the end of the item before, folded (less 0 for the first)
 *   1 duration
 *   2 what           row, function or label; of several that of the longest
 *   3 correlation    less that of the item before, folded; of several that of the first
 *   4 bytes          of copies and the like, their sum; otherwise 0
 *   5 count          of operations, calls or ranges in the item
 *   6 shape          of a kernel, one more than the shape's number; of several as 2; or 0
 */
#ifndef CT_PAGE_LANE_H
#define CT_PAGE_LANE_H

#include <stdint.h>

#include "report/host_memory.h"

#define CT_LANE_COLUMNS 7

struct ct_lane_item {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t correlation;
    uint64_t bytes;
    uint32_t what;
    uint32_t shape; /* one more than the shape's number; 0: none */
};

/* All zero at first, but for the resolution. */
struct ct_lane {
    uint64_t resolution_ns; /* records within so much are one item */
    uint64_t items;         /* in the columns */
    uint64_t records;       /* that the items stand for */
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
