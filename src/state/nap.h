/* SPDX-License-Identifier: MIT */
/* The drain thread's naps, which any thread can end. */
#ifndef CT_NAP_H
#define CT_NAP_H

#include "base/base.h"

#define CT_NAP_SHORTEST_NS 50000u

/* Ends the nap, for work now or soon. Any thread: the first pays a system call, others nothing. */
void ct_drain_wake(void);

/* Drain thread: naps, unless *word is no longer `expected`: its writer may have woken us before. */
void ct_nap(uint64_t ns, _Atomic uint32_t *word, uint32_t expected);

#endif
