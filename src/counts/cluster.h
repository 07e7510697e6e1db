/* SPDX-License-Identifier: MIT */
/*
 * Under a budget, operations are timed in clusters: CT_CLUSTER of a thread in a row, of any kind.
 * The first bracket after a while without one finds cold caches and unseen work in front of it in
 * its stream, and costs the program three times as much as the next ones, of which more is known.
 * Each operation begins a cluster with the same probability, drawn in advance, so that each is as
 * likely as any other to be in one.
 *
 * The cycle is how many operations there are from one cluster's first to the next one's, on
 * average. Clusters belong to the launching thread.
 */
#ifndef CT_CLUSTER_H
#define CT_CLUSTER_H

#include "base/base.h"

#define CT_CLUSTER 8

/* Clusters, of threads side by side, that are added up at once, each in its place by number. */
#define CT_CLUSTERS_OPEN 8

struct ct_cluster {
    _Alignas(CT_CACHE_LINE) uint32_t until; /* operations before the next cluster begins */
    bool is_open;    /* a cluster begins or goes on: no operation goes by without a look */
    bool is_drawn;   /* a cluster begins after `until`; otherwise draw again */
    uint32_t left;   /* operations left in the open cluster, this one included */
    uint32_t cycle;  /* cycle of the last draw, or of the open cluster; 0: none yet */
    uint32_t number; /* the last cluster's, unique in the process; from 1 */
};

/* Counts an operation that is in no cluster. */
CT_INLINE void ct_cluster_passed(struct ct_cluster *c)
{
    if (ct_unlikely(!--c->until))
        c->is_open = true;
}

/* Draws when the next cluster begins; cycle 0: its frequency is not known yet. */
void ct_cluster_draw(struct ct_cluster *c, uint32_t cycle, uint64_t *random);

/*
 * Whether this operation is in a cluster, perhaps as its first one: where the cycle has grown since
 * the draw, fewer of the drawn clusters begin.
 */
bool ct_cluster_takes(struct ct_cluster *c, uint32_t cycle, uint64_t *random);

/* Goes on to the next operation. */
void ct_cluster_step(struct ct_cluster *c, uint32_t cycle, uint64_t *random);

/*
 * Weight of an operation that is timed if drawn by itself, one in `every`, or in a cluster: the
 * inverse of that probability. Only operations that are certain have a weight of 1.
 */
double ct_cluster_weight(uint64_t every, uint64_t cycle);

#endif
