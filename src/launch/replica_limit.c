/* SPDX-License-Identifier: MIT */
#include "launch/replica_limit.h"

#include <stdatomic.h>

#include "base/config.h"
#include "counts/sample.h"
#include "system/clock.h"

/* With a budget, event nodes may have one part in so many of it. */
#define BUDGET_SHARE 4

/*
 * Memory of an executable graph and of each of its nodes. No driver tells either: both are taken to
 * be more than they are.
 */
#define GRAPH_BYTES ((uint64_t)128 << 10)
#define NODE_BYTES ((uint64_t)2 << 10)

static CT_PROCESS _Atomic uint64_t rest_until; /* ticks: their share is used up till then */
static CT_PROCESS _Atomic uint64_t all_bytes;
static CT_PROCESS atomic_bool stopped;

/* ---- time ---- */

/* 0: no limit. */
static uint64_t share_ppm(void)
{
    uint64_t ppm = ct_sample_policy()->budget_ppm / BUDGET_SHARE;
    if (ct_config.graph_nodes_auto)
        ppm = ppm ? ct_min(ppm, CT_REPLICA_AUTO_PPM) : CT_REPLICA_AUTO_PPM;
    return ppm;
}

void ct_replicas_rest(uint64_t cost_ns)
{
    uint64_t ppm = share_ppm();
    if (!ppm)
        return;
    uint64_t until = atomic_load_explicit(&rest_until, memory_order_relaxed);
    atomic_store_explicit(&rest_until,
                          ct_max(ct_ticks(), until) + ct_ns_to_ticks(cost_ns * 1000000 / ppm),
                          memory_order_relaxed);
}

bool ct_replicas_are_resting(void)
{
    return share_ppm() && ct_ticks() < atomic_load_explicit(&rest_until, memory_order_relaxed);
}

/* ---- memory ---- */

uint64_t ct_replica_reserve(size_t nodes)
{
    uint64_t more = GRAPH_BYTES + nodes * NODE_BYTES;
    uint64_t all = atomic_fetch_add_explicit(&all_bytes, more, memory_order_relaxed) + more;
    if (!ct_config.graph_nodes_auto || all <= CT_REPLICA_AUTO_BYTES)
        return more;
    ct_replica_release(more);
    return 0;
}

void ct_replica_release(uint64_t bytes)
{
    atomic_fetch_sub_explicit(&all_bytes, bytes, memory_order_relaxed);
}

void ct_replicas_stop(void)
{
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
}

bool ct_replicas_are_stopped(void)
{
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

bool ct_replicas_have_memory(void)
{
    return atomic_load_explicit(&all_bytes, memory_order_relaxed);
}
