/* SPDX-License-Identifier: MIT */
#include "state/nap.h"

#include <stdatomic.h>

#include "system/futex.h"

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
