/* SPDX-License-Identifier: MIT */
/* The drain thread's naps, which any thread can end. */
#ifndef CT_NAP_H
#define CT_NAP_H

#include "base/base.h"

#define CT_NAP_SHORTEST_NS 50000u
#define CT_NAP_LONGEST_NS 10000000u /* but where nothing has come for a while */

/* Ends the nap, for work now or soon. Any thread: the first pays a system call, others nothing. */
void ct_drain_wake(void);

/* Drain thread: naps, unless *word is no longer `expected`: its writer may have woken us before. */
void ct_nap(uint64_t ns, _Atomic uint32_t *word, uint32_t expected);

/*
 * The nap after a round that harvested so many brackets, or none, when the last one was nap_ns;
 * idle_ns: since there was news.
 */
uint64_t ct_nap_next_ns(uint64_t nap_ns, uint64_t harvested, uint64_t idle_ns);

#endif
