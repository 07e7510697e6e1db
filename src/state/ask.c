/* SPDX-License-Identifier: MIT */
#include "state/ask.h"

#include <unistd.h>

#include "system/spin.h"

CT_TLS bool ct_is_drain_thread;
CT_PROCESS _Atomic uint32_t ct_whereabouts;

CT_PROCESS _Atomic uint32_t ct_asked;
CT_PROCESS _Atomic uint64_t ct_asks;

CT_COLD void ct_wait_outside(void)
{
    for (unsigned tries = 1;; tries++) {
        uint32_t away = CT_AWAY;
        if (atomic_compare_exchange_strong_explicit(&ct_whereabouts, &away, CT_AT_HOME,
                                                    memory_order_acquire, memory_order_relaxed))
            return;
        if (away == CT_TAKEN)
            pause();
        else
            ct_spin_pause(tries);
    }
}

static bool change(uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&ct_whereabouts, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

bool ct_borrow(void)
{
    return change(CT_AWAY, CT_LENT);
}

void ct_return_borrowed(void)
{
    change(CT_LENT, CT_AWAY);
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
