/* SPDX-License-Identifier: MIT */
/*
 * The control loop of CUTRACE_BUDGET, on the drain thread: fills the purse that launching threads
 * pay brackets from, and sets the rate of clusters and that of each cell so that all of them
 * together spend a little less than comes in. The purse gets three quarters of the budget and holds
 * an eighth of the cost allowed in 100 ms, so that no window of 100 ms costs more than the budget.
 */
#ifndef CT_CONTROL_H
#define CT_CONTROL_H

#include "base/base.h"

/* Costs of operations and calls for the program, in ns. */
struct ct_costs {
    uint32_t bracket_ns; /* an operation that is timed: host or GPU, whichever is more */
    uint32_t next_ns;    /* an operation that is timed behind another one of its cluster */
    uint32_t passed_ns;  /* an operation that is looked at and passed over */
    uint32_t pass_ns;    /* an operation that is passed over without a look */
    uint32_t clocks_ns;  /* a call that is timed */
    uint32_t count_ns;   /* a call that is counted */
};

/* A step every few milliseconds; nothing without a budget. */
void ct_control_run(void);
void ct_control_forget(void);

/* One step at that time with these costs, for ct_control_run() and tests. */
void ct_control_step(uint64_t now_ns, const struct ct_costs *costs);

#endif
