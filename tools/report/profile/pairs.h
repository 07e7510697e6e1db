/* SPDX-License-Identifier: MIT */
/* Two profiles side by side: each operation and function with its figures in both. */
#ifndef CT_REPORT_PAIRS_H
#define CT_REPORT_PAIRS_H

#include "report/profile/diff_side.h"

#define CT_PAIRS_LEVEL 0.05 /* changes less likely by chance are significant */

struct ct_pair {
    struct ct_diff_side before, after; /* without calls: not there */
    bool gpu;                          /* an operation; otherwise a function */
    struct ct_string name;
    double total_p; /* NAN: cannot be told; of all pairs together, as the next two */
    double mean_p;
    struct ct_ranks_test ranks;
    double half_ns; /* 95 % interval of the difference of the means; NAN: as above */
};

struct ct_pairs {
    struct ct_pair *pairs;
    size_t count;
    size_t size;
    struct ct_key_table keys;
};

/*
 * Both profiles were merged with details and CT_DEVICES_AS_ONE. Largest change of total time first.
 */
void ct_pairs_make(struct ct_pairs *p, const struct ct_merged *before,
                   const struct ct_merged *after, bool raw, bool demangle);
void ct_pairs_free(struct ct_pairs *p);

/*
 * Appends a key by which a row is known in any profile; a graph's is its content, as its name and
 * number say less.
 */
void ct_pairs_key(struct ct_string *key, const struct ct_merged *m,
                  const struct ct_merged_row *row);

/* All operations, or functions, of one side. */
struct ct_stats_value ct_pairs_total(const struct ct_pairs *p, bool gpu, bool after);

/* Probability of the change of all together by chance. */
double ct_pairs_total_p(const struct ct_pairs *p, bool gpu);

static inline double ct_pair_change_ns(const struct ct_pair *pair)
{
    return pair->after.total_ns - pair->before.total_ns;
}

/* Probability by chance that the verdict rests on; NAN: cannot be told. */
double ct_pair_p(const struct ct_pair *pair);

/* "new", "vanished", "slower, more calls"; NULL: nothing that is significant. */
const char *ct_pair_verdict(const struct ct_pair *pair);

#endif
