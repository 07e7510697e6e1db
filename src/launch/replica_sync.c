/* SPDX-License-Identifier: MIT */
#include "launch/replica_sync.h"

/* So many launches in a row with new parameters before them, all of which are followed. */
#define FOLLOWED 4
/* Rounds in vain before a replica goes for good. */
#define MOST_FAILED 16

static uint64_t hash(CUgraphNode node)
{
    uint64_t x = (uint64_t)(uintptr_t)node * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static bool is_round(uint32_t i, const struct ct_replica *r)
{
    return r->sync.in_a_row < FOLLOWED || ct_replica_phase_of(i) != CT_REPLICA_READY ||
           (r->launches >= r->due && !ct_replicas_are_resting());
}

/* The first parameters since the launch before. */
static void begin(uint32_t i, struct ct_replica *r)
{
    struct ct_replica_sync *s = &r->sync;
    s->in_a_row = s->any && s->launch + 1 == r->launches ? s->in_a_row + 1 : 0;
    s->any = true;
    s->launch = r->launches;
    s->nodes = 0;
    s->in_round = is_round(i, r);
}

bool ct_replica_sync_set(uint32_t i, CUgraphNode node)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    if (!ct_replica_has_sets(r))
        begin(i, r);
    r->sync.nodes += hash(node);
    return r->sync.in_round;
}

bool ct_replica_sync_launched(struct ct_replica *r)
{
    struct ct_replica_sync *s = &r->sync;
    if (ct_replica_is_synced(r)) {
        s->missed = s->mixed = false;
        s->failed = 0;
    } else if (ct_replica_has_sets(r) && !s->in_round) {
        s->mixed |= s->missed && s->nodes != s->missed_nodes;
        s->missed_nodes = s->nodes;
        s->missed = true;
    } else if (r->launches >= r->due) {
        s->failed++;
    }
    return s->failed <= MOST_FAILED;
}
