/* SPDX-License-Identifier: MIT */
/* A range of the program's (NVTX) that is its step: outermost, as often as steps were found, and
 * nearly all of the time. */
#ifndef CT_REPORT_STEP_RANGE_H
#define CT_REPORT_STEP_RANGE_H

#include "format/read.h"
#include "report/profile/key_table.h"

/* Ranges of one name, of one rank. */
struct ct_step_range {
    double count, ns; /* that ended, and the sum of their times */
};

/* By name, as a table of names numbers them. All zero at first. */
struct ct_step_ranges {
    struct ct_step_range *at;
    size_t size;
};

/* Adds a profile's; sign: as of its rows. */
void ct_step_ranges_add(struct ct_step_ranges *r, struct ct_key_table *names,
                        const struct ct_summary *s, double sign);
void ct_step_ranges_negate(struct ct_step_ranges *r);
/* All zero: the rank has none of that name. */
struct ct_step_range ct_step_range_of(const struct ct_step_ranges *r, uint32_t name);
/* Whether they are a rank's steps, of which so many were counted in that time. */
bool ct_step_range_fits(const struct ct_step_range *r, double steps, double window_ns);

#endif
