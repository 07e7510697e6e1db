/* SPDX-License-Identifier: MIT */
#include "counts/cluster.h"

#include <stdatomic.h>

#include "base/random.h"

/* Operations that go by at most before the next draw: rates change. */
#define MOST 1024

#define OTHERS (CT_CLUSTER - 1) /* operations in a cluster that cannot begin another */

void ct_cluster_draw(struct ct_cluster *c, uint32_t cycle, uint64_t *random)
{
    c->cycle = cycle;
    c->until = cycle ? ct_random_skip(random, cycle - OTHERS, MOST) : MOST;
    c->is_drawn = c->until < MOST;
    c->is_open = !c->until;
}

static bool begins(struct ct_cluster *c, uint32_t cycle, uint64_t *random)
{
    static _Atomic uint32_t numbers;
    if (!c->is_drawn)
        return false;
    uint32_t drawn = c->cycle - OTHERS;
    c->cycle = cycle;
    if ((uint64_t)ct_random(random) * (cycle - OTHERS) >> 32 >= drawn)
        return false;
    c->number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
    c->left = CT_CLUSTER;
    return true;
}

bool ct_cluster_takes(struct ct_cluster *c, uint32_t cycle, uint64_t *random)
{
    return c->is_open && (c->left || begins(c, cycle, random));
}

void ct_cluster_step(struct ct_cluster *c, uint32_t cycle, uint64_t *random)
{
    if (!c->is_open)
        ct_cluster_passed(c);
    else if (!c->left || !--c->left)
        ct_cluster_draw(c, cycle, random);
}

/* The probability is 1 less that of being drawn in neither way. */
double ct_cluster_weight(uint64_t every, uint64_t cycle)
{
    uint64_t parts = cycle + CT_CLUSTER * (every - 1);
    if (every == 1 || cycle == CT_CLUSTER)
        return 1;
    return (double)(every * cycle) / (double)parts;
}
