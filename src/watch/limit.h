/* SPDX-License-Identifier: MIT */
/* How long something may take before it counts as stuck: pure functions. */
#ifndef CT_WATCH_LIMIT_H
#define CT_WATCH_LIMIT_H

#include "base/base.h"

/* CUTRACE_WATCHDOG: the sooner of both counts; 0: that one is not set. */
struct ct_watch_rule {
    uint32_t factor; /* times the p99 of the row */
    uint64_t ns;
};

/* How long things like it took before. All zero: nothing is known. */
struct ct_usual {
    uint64_t count;
    uint64_t p50_ns;
    uint64_t p99_ns;
    uint64_t max_ns;
};

#define CT_WATCH_LEAST_NS 1000000000u /* no limit by a factor is shorter, */
#define CT_WATCH_NEW_NS 30000000000u  /* nor one of a row with less history than this: */
#define CT_WATCH_HISTORY 20

/* For an operation. UINT64_MAX: there is no limit. */
uint64_t ct_watch_limit_ns(const struct ct_watch_rule *r, const struct ct_usual *u);
/* For a gate, of which only long stands are known, or a call. */
uint64_t ct_watch_gate_limit_ns(const struct ct_watch_rule *r, uint64_t longest_ns);

/*
 * The time that counts after one more look: what passed between two looks at which it was seen to
 * stand, and of that no more than the watch can have looked on. So a process that was stopped, or a
 * drain thread that got no processor, adds nothing.
 */
uint64_t ct_watch_counted_ns(uint64_t so_far_ns, uint64_t passed_ns, uint64_t most_ns);

#endif
