/* SPDX-License-Identifier: MIT */
/*
 * A lock for a few instructions on our own memory. Never held across a call that leaves this
 * library, and reset in the child of a fork: the thread that held it does not exist there.
 */
#ifndef CT_SPIN_H
#define CT_SPIN_H

#include <sched.h>
#include <stdatomic.h>

#include "base/base.h"

struct ct_spin {
    atomic_bool held;
};

static inline void ct_spin_init(struct ct_spin *s)
{
    atomic_store_explicit(&s->held, false, memory_order_relaxed);
}

static inline void ct_spin_lock(struct ct_spin *s)
{
    unsigned tries = 0;
    while (atomic_exchange_explicit(&s->held, true, memory_order_acquire))
        if (++tries % 64 == 0)
            sched_yield();
}

static inline void ct_spin_unlock(struct ct_spin *s)
{
    atomic_store_explicit(&s->held, false, memory_order_release);
}

#endif
