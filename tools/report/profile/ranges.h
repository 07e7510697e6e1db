/* SPDX-License-Identifier: MIT */
/*
 * Ranges of the program over any number of files. Those of the same name in the same place are one;
 * threads are the same when they are the n-th of their process and have the same name.
 */
#ifndef CT_REPORT_RANGES_H
#define CT_REPORT_RANGES_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/host_memory.h"
#include "report/profile/key_table.h"

struct ct_merged;
struct ct_merged_hist;

struct ct_merged_ranges {
    struct ct_key_table thread_keys; /* numbers are indices of the array, here and below */
    struct ct_file_thread *threads; /* name: of ct_merged.names; tid 0: not the same in all files */
    size_t threads_size;
    struct ct_key_table range_keys;
    struct ct_file_range *ranges; /* texts: of ct_merged.names; buckets: none, see below */
    size_t ranges_size;
    struct ct_merged_hist *hists; /* of ranges, where details are kept */
    size_t hists_size;
    struct ct_key_table cell_keys;
    struct ct_file_cell *cells; /* of ct_merged.rows and .apis */
    size_t cells_size;

    uint32_t *thread_map; /* of the file being added: its index to ours */
    size_t thread_map_size;
    uint32_t *range_map;
    size_t range_map_size;
};

/* Adds a file's ranges, once its rows and functions have been added. */
void ct_ranges_add(struct ct_merged *m, const struct ct_summary *s);
void ct_ranges_free(struct ct_merged_ranges *r);

/* ---- ranges by name ---- */

/* Properties that the ranges of a group share, beside domain and name. */
enum ct_group_by {
    CT_GROUP_BY_THREAD = 1,
    CT_GROUP_BY_STYLE = 2,
    CT_GROUP_FOLDED = 4, /* names that differ in numbers alone are one */
};

/*
 * A group; operations and calls in a range inside one of its ranges are in the group as well, and
 * once.
 */
struct ct_range_group {
    uint32_t range;           /* one of it, for thread, style and texts */
    struct ct_file_range sum; /* of figures */
    struct ct_merged_hist *hist;
    struct ct_file_cell *cells; /* by section and index */
    size_t cell_count;
    uint64_t gpu_ns; /* of the operations among the cells, */
    uint64_t own_ns; /* less those in ranges inside of it */
    bool is_folded;  /* it has several names */
};

/* "step 12" as "step #": numbers that letters do not touch. */
void ct_range_fold(struct ct_string *out, const char *name);

struct ct_range_groups {
    struct ct_range_group *groups; /* those of which one at least ended, in the order of nvprof */
    size_t count;
    struct ct_file_cell *cells; /* cells of all groups */
    uint64_t unclosed;
    uint64_t marks;
};

void ct_range_groups(struct ct_range_groups *g, const struct ct_merged *m, unsigned by);
void ct_range_groups_free(struct ct_range_groups *g);

#endif
