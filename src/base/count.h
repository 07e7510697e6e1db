/* SPDX-License-Identifier: MIT */
#ifndef CT_COUNT_H
#define CT_COUNT_H

#include <stdatomic.h>

#include "base/base.h"

/* Adds to a counter that one thread writes and others read. */
static inline void ct_count_bump(_Atomic uint64_t *counter, uint64_t n)
{
    uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, old + n, memory_order_relaxed);
}

#endif
