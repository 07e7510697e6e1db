/* SPDX-License-Identifier: MIT */
/* Sums over ranges (counts/range.h): durations, and operations by range and row. Drain thread. */
#ifndef CT_RANGE_SUMS_H
#define CT_RANGE_SUMS_H

#include "base/base.h"
#include "counts/range.h"

/* Takes a thread's records: durations of ranges, and all for the trace. True: there were some. */
bool ct_ranges_collect(struct ct_thread *t);
/* `count` operations of a row in a range took `time_ns` each. */
CT_COLD void ct_range_add(uint32_t range, uint32_t row, uint64_t count, uint64_t time_ns);

/* Operations of one row in one range. */
struct ct_range_cell {
    struct ct_ranges *ranges; /* of the range's thread */
    uint32_t range;
    uint32_t row;
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    double square_ns2;
};
uint32_t ct_range_cells(void); /* how many there are */
const struct ct_range_cell *ct_range_cell(uint32_t i);

#endif
