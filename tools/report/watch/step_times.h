/* SPDX-License-Identifier: MIT */
/*
 * Time of a step of each rank of a job: of its kernels, its copies and NCCL's kernels, and how far
 * it is behind the others. Operations are compared by their mean times, and a step has as many of
 * each in all ranks unless one has more by a whole step, so that it does not matter where in a step
 * a profile was written.
 */
#ifndef CT_REPORT_STEP_TIMES_H
#define CT_REPORT_STEP_TIMES_H

#include "report/profile/merge.h"
#include "report/watch/step_range.h"

enum ct_step_part { CT_STEP_KERNELS, CT_STEP_COPIES, CT_STEP_NCCL, CT_STEP_PARTS };

/* One row of one rank. */
struct ct_step_row {
    double calls, timed;
    double estimated, ns; /* operations whose times are known, and the sum of these */
    double longer_ns;     /* in a step, than the median of the other ranks; 0: not compared */
};

struct ct_step_rank {
    struct ct_file_process process; /* host: of ct_merged.names */
    double window_ns;               /* time that the figures are of */
    bool is_between;                /* two profiles' figures are of the time between them */
    struct ct_step_row *rows;       /* by row of ct_merged */
    size_t rows_size;
    struct ct_step_ranges ranges;

    double steps, step_ns;
    double part_ns[CT_STEP_PARTS];   /* of a step */
    double longer_ns[CT_STEP_PARTS]; /* sums of the rows' */
    /*
     * Time that the others are in NCCL above its own; without NCCL that it takes longer for a step
     * that is a range, or for kernels and copies.
     */
    double behind_ns;
    bool is_idle;      /* it launched nothing */
    bool is_straggler; /* it is behind by more than ranks differ anyway */
};

/* All zero at first. */
struct ct_step_times {
    struct ct_merged m;            /* keys and names alone: a process may have been added twice */
    struct ct_key_table processes; /* numbers are indices of ranks, as long as some are added */
    struct ct_step_rank *ranks;
    size_t count, size;
    size_t all;    /* ranks from `count` on are left out of the comparison */
    double *calls; /* of each row, in the ranks' median */
    double steps;  /* likewise; 0: none were found */
    bool has_nccl;
    bool has_untimed; /* rows of which too few were timed are not compared */
    struct ct_key_table range_names;
    const char *range; /* the time of a step is theirs; NULL: the window's, by launches */
};

#define CT_STEP_BEHIND 0.01     /* of a step: less than that is not told of, */
#define CT_STEP_BEHIND_FEW 0.02 /* nor less than that where there are fewer than */
#define CT_STEP_MANY 4          /* ranks, which show how much they differ anyway */

/* A second profile of a process makes it the time between both. NULL, or why it cannot be. */
const char *ct_step_times_add(struct ct_step_times *t, const struct ct_summary *s);
/* When all have been added: the ranks' figures, the furthest behind first. */
void ct_step_times_compare(struct ct_step_times *t);
/* The part of being behind that nothing on the GPU accounts for is the host's. */
static inline double ct_step_host_ns(const struct ct_step_rank *r)
{
    return r->behind_ns - r->longer_ns[CT_STEP_KERNELS] - r->longer_ns[CT_STEP_COPIES];
}
/* The row of that part that is longest above the other ranks', and by how much in a step. */
double ct_step_times_longest(const struct ct_step_times *t, const struct ct_step_rank *r,
                             enum ct_step_part part, uint32_t *row);
void ct_step_times_free(struct ct_step_times *t);

#endif
