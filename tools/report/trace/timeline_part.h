/* SPDX-License-Identifier: MIT */
/* The state that the two readings of a timeline's files share; for timeline*.c alone. */
#ifndef CT_REPORT_TIMELINE_PART_H
#define CT_REPORT_TIMELINE_PART_H

#include "report/trace/timeline.h"

#define CT_TIMELINE_CHUNK 4096 /* records */

/* A record that waits for earlier records. */
struct ct_timeline_key {
    uint64_t start_ns;
    uint32_t at; /* index into held */
};

struct ct_timeline_part {
    uint64_t shift_ns; /* from the file's clock to that of the file that began first */
    uint64_t since_ns; /* of the file's own clock, as all times here */
    uint64_t until_ns;
    uint64_t first_ns;
    bool broken; /* it was said */

    /*
     * A bit for each record of a range, with a window: whether it is shown. NULL: its time decides.
     */
    uint8_t *shown;
    size_t shown_size;
    uint64_t range; /* number of the next record of a range to be read */

    /* Found by the first reading: no record behind chunk i starts before after_ns[i]. */
    uint64_t *after_ns;
    size_t chunks;
    size_t after_size;
    uint64_t records;

    /* The second reading. */
    size_t chunk; /* the next chunk to be read */
    uint64_t left;
    uint64_t ready_ns; /* records that start until then may go */
    struct ct_event *held;
    struct ct_event *spare;
    size_t held_size;
    size_t spare_size;
    struct ct_timeline_key *keys;
    size_t keys_size;
    uint32_t count;
    uint32_t at; /* the next key */
};

/* When a record starts and ends. */
static inline uint64_t ct_timeline_start_ns(const struct ct_trace_record *r)
{
    return r->op ? r->op->start_ns : r->call ? r->call->start_ns : r->range->at_ns;
}

static inline uint64_t ct_timeline_end_ns(const struct ct_trace_record *r)
{
    return r->op ? r->op->end_ns : r->call ? r->call->end_ns : r->range->at_ns;
}

/* False: it cannot be read, which was said. */
bool ct_timeline_open_file(struct ct_timeline *tl, struct ct_timeline_file *f);
/* The next record that is shown. From a damaged file come the records before the damage. */
bool ct_timeline_read(struct ct_timeline *tl, struct ct_timeline_file *f,
                      struct ct_trace_record *r);

/*
 * Chooses the records of ranges to be shown, once the window is known; and tells the choice for a
 * record, numbered from 0.
 */
void ct_timeline_choose_ranges(struct ct_timeline *tl, struct ct_timeline_file *f);
bool ct_timeline_shows_range(const struct ct_timeline_part *p, uint64_t record);

/* Starts the second reading: after the first one, before the first ct_timeline_next(). */
void ct_timeline_start(struct ct_timeline *tl);

#endif
