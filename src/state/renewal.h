/* SPDX-License-Identifier: MIT */
/*
 * Knowledge about launches holds until it is renewed: threads that keep any (pass.h) keep its
 * generation with it.
 */
#ifndef CT_RENEWAL_H
#define CT_RENEWAL_H

#include <stdatomic.h>

#include "base/base.h"

extern _Atomic uint32_t ct_pass_generation;

/* Makes kept knowledge void: handles, contexts, captures or rates have changed. Any thread. */
void ct_pass_renew(void);

static inline uint32_t ct_pass_generation_now(void)
{
    return atomic_load_explicit(&ct_pass_generation, memory_order_acquire);
}

#endif
