/* SPDX-License-Identifier: MIT */
#include "state/nap.h"

#include <stdatomic.h>

#include "system/futex.h"

/* Where nothing has come for a while: `cutrace ctl` and scrapers wait for a round or two. */
#define NAP_IDLE_NS 40000000u
#define IDLE_AFTER_NS 1000000000u
/*
 * While brackets come in, naps are as long as some of them take: a round costs as much for one as
 * for several. A thread launches 45 before it looks for itself whether the stream moves (depth.c).
 */
#define NAP_BUSY_NS 1000000u
#define BATCH_LEAST 8
#define BATCH_MOST 24

static CT_PROCESS _Atomic uint32_t
    can_be_woken; /* 1: in a nap that is worth a call to the kernel */

void ct_drain_wake(void)
{
    if (atomic_load(&can_be_woken) && atomic_exchange(&can_be_woken, 0))
        ct_futex_wake(&can_be_woken);
}

void ct_nap(uint64_t ns, _Atomic uint32_t *word, uint32_t expected)
{
    uint32_t is_long = ns > CT_NAP_SHORTEST_NS;
    atomic_store(&can_be_woken, is_long);
    if (atomic_load(word) == expected)
        ct_futex_wait(&can_be_woken, is_long, ns);
    atomic_store(&can_be_woken, 0);
}

uint64_t ct_nap_next_ns(uint64_t nap_ns, uint64_t harvested, uint64_t idle_ns)
{
    if (!harvested)
        return ct_min(2 * nap_ns, idle_ns < IDLE_AFTER_NS ? CT_NAP_LONGEST_NS : NAP_IDLE_NS);
    if (harvested > BATCH_MOST)
        nap_ns /= 2;
    else if (harvested < BATCH_LEAST)
        nap_ns += nap_ns / 2;
    return ct_max(CT_NAP_SHORTEST_NS, ct_min(nap_ns, NAP_BUSY_NS));
}
