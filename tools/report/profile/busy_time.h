/* SPDX-License-Identifier: MIT */
/* When devices were busy, and copies by kinds of memory: the sections of summaries, added up. */
#ifndef CT_REPORT_BUSY_TIME_H
#define CT_REPORT_BUSY_TIME_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/key_table.h"

/* Elements as in a file, with our devices and rows. All zero at first. */
struct ct_merged_activity {
    struct ct_key_table device_keys; /* by device */
    struct ct_file_activity *devices;
    size_t devices_size;
    struct ct_key_table gap_keys; /* by device and octave */
    struct ct_file_gap *gaps;
    size_t gaps_size;
    struct ct_key_table transfer_keys; /* by row, octave and kinds of memory */
    struct ct_file_transfer *transfers;
    size_t transfers_size;
};

/* device_map, row_map: of the file's elements to ours. */
void ct_activity_add(struct ct_merged_activity *a, const struct ct_summary *s,
                     const uint32_t *device_map, const uint32_t *row_map);
void ct_activity_free(struct ct_merged_activity *a);

struct ct_merged;

/*
 * The share of all operations, 0 to 1, that the activity holds: those that have a duration, and
 * could be put into their place. device: of ct_merged.devices, or CT_ACTIVITY_ALL.
 */
#define CT_ACTIVITY_ALL UINT32_MAX
double ct_activity_coverage(const struct ct_merged *m, uint32_t device);

/* The span from first to last; the observed time; the time idle for any reason. */
uint64_t ct_activity_span_ns(const struct ct_file_activity *a);
uint64_t ct_activity_time_ns(const struct ct_file_activity *a);
uint64_t ct_activity_idle_ns(const uint64_t idle_ns[CT_FILE_IDLES]);

/* Several devices, or several processes on one, as if they had run one after the other. */
void ct_activity_sum(struct ct_file_activity *to, const struct ct_file_activity *from);

#endif
