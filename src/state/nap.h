/* SPDX-License-Identifier: MIT */
/* The drain thread's naps, which any thread can end. */
#ifndef CT_NAP_H
#define CT_NAP_H

#include "base/base.h"

#define CT_NAP_SHORTEST_NS 50000u

/* There is something to do, or soon will be. Any thread: the first ends the nap, others pay nothing. */
void ct_drain_wake(void);

/* The drain thread. None if *word is no longer `expected`: who changed it may have called before. */
void ct_nap(uint64_t ns, _Atomic uint32_t *word, uint32_t expected);

/* In the child of a fork. */
void ct_nap_forget(void);

#endif
