/* SPDX-License-Identifier: MIT */
/*
 * With a budget, operations are timed in clusters: so many of a thread, one after the other,
 * whatever they are. The first bracket after a while without one finds cold caches and something
 * unseen in front of it in its stream, and costs the program three times what the next ones do; and
 * of these more is known. Each operation begins a cluster with the same probability, drawn in
 * advance, so that each is as likely as any other to be in one.
 *
 * The cycle is how many operations there are from one cluster's first to the next one's, on
 * average. All of it is the launching thread's.
 */
#ifndef CT_CLUSTER_H
#define CT_CLUSTER_H

#include "base/base.h"

#define CT_CLUSTER 8

/* What is put together of so many at once, each in its place by number: of threads side by side. */
#define CT_CLUSTERS_OPEN 8

struct ct_cluster {
    _Alignas(CT_CACHE_LINE) uint32_t until; /* operations before the next one begins */
    bool is_open;    /* now, or it has begun: none goes by without a look */
    bool is_drawn;   /* after `until` one begins; otherwise it is to be drawn again */
    uint32_t left;   /* operations of the one that has begun, this one included */
    uint32_t cycle;  /* that `until` was drawn of, or the one that has begun; 0: none yet */
    uint32_t number; /* of the last one, in the process; from 1 */
};

/* An operation that is in none. */
CT_INLINE void ct_cluster_passed(struct ct_cluster *c)
{
    if (ct_unlikely(!--c->until))
        c->is_open = true;
}

/* When the next one begins; cycle 0: it is not known how often one is to. */
void ct_cluster_draw(struct ct_cluster *c, uint32_t cycle, uint64_t *random);

/*
 * Whether this operation is in a cluster, perhaps as its first one: of those that were drawn fewer
 * begin where the cycle is a longer one by now.
 */
bool ct_cluster_takes(struct ct_cluster *c, uint32_t cycle, uint64_t *random);

/* To the next operation. */
void ct_cluster_step(struct ct_cluster *c, uint32_t cycle, uint64_t *random);

/*
 * Of an operation that is timed if it is drawn by itself, one in `every`, or in a cluster: the
 * inverse of that probability. Only what is certain has a weight of 1.
 */
double ct_cluster_weight(uint64_t every, uint64_t cycle);

#endif
