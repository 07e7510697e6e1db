/* SPDX-License-Identifier: MIT */
/*
 * Estimates of a cell's operations that were passed over, from those that were timed.
 *
 * Operations that were certain to be timed are a stratum of their own and stand for themselves. The
 * others were drawn with known probabilities, alone or in clusters, independently of each other:
 * their number is known exactly, their mean is the weighted mean of the drawn (a ratio estimator),
 * and its variance follows from the design alone, whatever the durations are and in whatever order
 * they come. The third moment is kept as well: with long tails the usual interval is too short.
 * Formulas: doc/internals/sampling.md.
 */
#ifndef CT_STRATUM_H
#define CT_STRATUM_H

#include "base/base.h"
#include "counts/cluster.h"

/*
 * Sums over operations of weight w and duration y, relative to the first one's. Operations of a
 * cluster were drawn together and are one draw: its u is the sum of w, its z that of w y.
 */
struct ct_stratum {
    double first_ns;
    double least_y, most_y; /* among all that were timed */
    uint64_t certain;       /* operations of weight 1 */
    double certain_y;
    double certain_yy;
    uint64_t drawn; /* operations of a larger weight */
    double drawn_y;
    double w, wy, wyy;
    uint64_t draws;
    double uu;
    double v, vy, vyy;       /* sums of u u, u z and z z, times (1 - 1 / w) */
    double t, ty, tyy, tyyy; /* sums of u u u to z z z, times (1 - 1 / w) (1 - 2 / w) */
    struct {
        uint32_t cluster; /* 0: the draw is a single operation */
        uint32_t operations;
        double u, z;
    } open[CT_CLUSTERS_OPEN]; /* the last draws, which are not among the sums yet */
};

/* An estimate of operations that were passed over; sums over cells. */
struct ct_projection {
    double operations; /* operations for which there is an estimate */
    double total_ns;
    double square_ns2;
    double variance_ns2;    /* variance of total_ns */
    double third_ns3;       /* third central moment of total_ns */
    double freedom_ns4;     /* variance squared, by degrees of freedom */
    double with_others_ns2; /* a row's covariance with all others (common_error.h) */
    double drawn_from;      /* operations that were not certain */
    double drawn;           /* their number by the weights of the drawn */
};

/* cluster: its number; 0: the operation was drawn by itself. */
void ct_stratum_add(struct ct_stratum *t, double ns, double weight, uint32_t cluster);

/* Distance of a duration from the mean of the drawn, times its weight; 0 where none was drawn. */
double ct_stratum_distance_ns(const struct ct_stratum *t, double ns, double weight);

/* The variance of single durations, as far as it can be told. */
double ct_stratum_spread_ns2(const struct ct_stratum *t);

/*
 * The part of the operations to come that has to be timed so that half of the 95 % interval of the
 * total is at most `target` of it, from now on: 1 until that many have been timed. `passed`: those
 * that were not.
 */
double ct_stratum_part(const struct ct_stratum *t, uint64_t passed, double target);

/* Adds the estimate for `passed` over ones, each of them a batch of `each` operations. */
void ct_stratum_project(const struct ct_stratum *t, uint64_t passed, uint64_t each,
                        struct ct_projection *sum);

#endif
