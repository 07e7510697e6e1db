/* SPDX-License-Identifier: MIT */
/*
 * The ranges of a timeline that have begun and not ended: a trace has a record of each of the two.
 * An end finds its beginning by the number if it has one, or by the label, the last one first.
 * Where either was lost the other stands alone: such an end finds nothing, and a range pushed
 * inside another is over when the outer one is.
 */
#ifndef CT_REPORT_OPEN_RANGES_H
#define CT_REPORT_OPEN_RANGES_H

#include "report/trace/timeline.h"

#define CT_OPEN_RANGES_MOST 256 /* in a thread; the oldest of more, which lost their ends, go */

struct ct_range_span {
    uint64_t start_ns;
    uint64_t number; /* 0: it was pushed */
    uint32_t label;
    uint32_t thread;
    uint32_t lane; /* the lowest that no other of the thread, style and domain is in, from 0 */
    int64_t own;   /* the caller's */
};

/* All zero at first. */
struct ct_open_ranges {
    struct ct_open_file {
        struct ct_open_list {
            struct ct_range_span *at;
            size_t count;
            size_t size;
        } * threads;
        size_t size;
    } * files;
    size_t size;
};

/* Opens the range that begins with the event; the pointer is valid until the next call. */
struct ct_range_span *ct_open_ranges_begin(struct ct_open_ranges *o, const struct ct_event *e);

/*
 * Ends a range: puts the ranges that are over with it into `over`, the newest first, and returns
 * their number.
 */
size_t ct_open_ranges_end(struct ct_open_ranges *o, const struct ct_event *e,
                          struct ct_range_span over[CT_OPEN_RANGES_MOST]);

/*
 * Makes the key of the lane in which the event's range lies: file, thread, style, lane, domain.
 */
void ct_open_ranges_key(struct ct_string *key, const struct ct_event *e, uint32_t lane);

/*
 * Takes out the ranges of a file that never end, one at a time, the last one of each thread first.
 */
bool ct_open_ranges_left(struct ct_open_ranges *o, const struct ct_timeline_file *f,
                         struct ct_range_span *range);

void ct_open_ranges_free(struct ct_open_ranges *o);

#endif
