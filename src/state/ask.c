/* SPDX-License-Identifier: MIT */
#include "state/ask.h"

#include <unistd.h>

CT_TLS bool ct_is_drain_thread;
CT_PROCESS _Atomic uint32_t ct_whereabouts;

CT_COLD void ct_stay_away(void)
{
    for (;;)
        pause();
}

bool ct_take_over(void)
{
    uint32_t away = CT_AWAY;
    return atomic_compare_exchange_strong_explicit(&ct_whereabouts, &away, CT_TAKEN,
                                                   memory_order_acquire, memory_order_relaxed);
}

void ct_take_alone(void)
{
    atomic_store_explicit(&ct_whereabouts, CT_TAKEN, memory_order_relaxed);
}
