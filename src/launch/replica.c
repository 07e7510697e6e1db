/* SPDX-License-Identifier: MIT */
#include "launch/replica.h"

#include "base/config.h"
#include "launch/replica_entry.h"
#include "system/clock.h"
#include "time/gpu_clock.h"

CT_PROCESS struct ct_replicas *ct_replicas;
CT_PROCESS_READ bool ct_replicas_are_on;

bool ct_replicas_init(void)
{
    ct_replicas_are_on = false;
    if (!ct_config.graph_nodes)
        return true;
    ct_replicas = ct_map(sizeof(*ct_replicas));
    ct_replicas_are_on = ct_replicas != NULL;
    return ct_replicas_are_on;
}

uint64_t ct_replicas_lost(enum ct_replica_loss why)
{
    return ct_replicas ? atomic_load_explicit(&ct_replicas->lost[why], memory_order_relaxed) : 0;
}

static bool is_resting(void)
{
    return ct_config.budget_ppm &&
           ct_ticks() < atomic_load_explicit(&ct_replicas->rest_until, memory_order_relaxed);
}

bool ct_replica_is_due(CUgraphExec exec, const struct ct_stream *s)
{
    uint32_t i = ct_replica_find(exec);
    if (i == CT_REPLICAS || ct_replica_phase_of(i) != CT_REPLICA_READY ||
        ct_replica_is_dropped(i) || ct_replica_is_outdated(i))
        return false;
    const struct ct_replica *r = &ct_replicas->replica[i];
    return r->launches >= r->due && s->id == r->stream_id && ct_context(s->context) == r->context &&
           !is_resting();
}
