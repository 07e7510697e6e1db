/* SPDX-License-Identifier: MIT */
/*
 * A fixed number of places, found by hash: those whose hashes meet are in one chain. Nothing moves:
 * an entry keeps its place until that is given back, so a walk over all of them can be made in
 * pieces. No lock of its own. A thread that is interrupted in it for good leaves whole chains.
 */
#ifndef CT_CHAINS_H
#define CT_CHAINS_H

#include "base/base.h"

#define CT_CHAINS_NONE UINT32_MAX

struct ct_chains {
    uint32_t *first; /* heads of 2^bits chains: place + 1 */
    uint32_t *next;  /* the one behind a place, in its chain or among the free ones: place + 1 */
    uint32_t free;   /* place + 1 */
    uint32_t met;    /* places that were ever taken: the first so many */
    uint32_t most;   /* places */
    unsigned bits;
};

/* False: no memory. */
bool ct_chains_init(struct ct_chains *c, unsigned bits, uint32_t most);

/* Takes a place, at the head of its hash's chain; CT_CHAINS_NONE: all are taken. */
uint32_t ct_chains_take(struct ct_chains *c, uint64_t hash);
/* Gives back a place that was taken with that hash. */
void ct_chains_give(struct ct_chains *c, uint64_t hash, uint32_t place);

/* Multiplied twice, as sizes and addresses come at regular distances. */
static inline uint64_t ct_chains_hash(uint64_t key)
{
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
}

static inline uint32_t *ct_chains_head(const struct ct_chains *c, uint64_t hash)
{
    return &c->first[hash >> (64 - c->bits)];
}

/* Walk over the places of a chain; CT_CHAINS_NONE: there is no further one. */
static inline uint32_t ct_chains_first(const struct ct_chains *c, uint64_t hash)
{
    return *ct_chains_head(c, hash) - 1;
}

static inline uint32_t ct_chains_next(const struct ct_chains *c, uint32_t place)
{
    return c->next[place] - 1;
}

#endif
