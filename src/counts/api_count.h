/* SPDX-License-Identifier: MIT */
/*
 * A thread's counters of its own calls: their number and how long they took. Under a budget, calls
 * that come too fast are not all timed, as reading the clock would cost too much: one in a power of
 * two is timed, drawn in advance, and the others are estimated from the timed ones.
 */
#ifndef CT_API_COUNT_H
#define CT_API_COUNT_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/count.h"
#include "cuda/api.h"

/* All calls of a function; the total is an estimate where not all were timed. */
struct ct_api_sums {
    uint64_t calls;
    uint64_t timed;
    uint64_t errors;
    uint64_t total_ticks;
};

/*
 * Counters of one function in one thread, which writes all but `sums`. An untimed call touches the
 * first cache line alone.
 */
struct ct_api_count {
    _Alignas(CT_CACHE_LINE) uint32_t left; /* calls that go by before one is timed */
    uint32_t shift;                        /* the timed call stands for 2^shift calls */
    _Atomic uint64_t untimed;
    _Atomic uint64_t sure; /* calls that were timed for certain */
    _Atomic uint64_t sure_ticks;
    _Atomic uint64_t min_ticks; /* shortest timed call; 0: none yet */
    _Atomic uint64_t max_ticks;
    _Atomic uint64_t errors;
    uint64_t last_ticks;          /* end of the timed call that made the last draw */
    _Atomic uint64_t drawn;       /* calls that were drawn */
    _Atomic uint64_t drawn_ticks; /* their ticks, each for all calls it stands for */
    _Atomic uint64_t stands_for;
    uint64_t seen_untimed;   /* `untimed` at the last draw */
    struct ct_api_sums sums; /* counts that the drain thread has taken */
};

/*
 * Ticks between timed calls of a function in one thread that calls it faster than that, under a
 * budget. 0: all calls are timed.
 */
extern _Atomic uint64_t ct_api_interval_ticks;

/* Sets that interval from the budget and the cost of timing a call. Calls may go on meanwhile. */
void ct_api_count_init(uint32_t budget_ppm);
#define CT_API_CLOCKS_NS 40

/* Whether the call that is about to be made is timed. The call is counted when it is over. */
static inline bool ct_api_is_due(struct ct_api_count *c)
{
    if (!c->left) /* nearly always, or, with a budget, seldom */
        return true;
    c->left--;
    return false;
}

/* Adds up a timed call. */
static inline void ct_api_add(struct ct_api_count *c, uint64_t ticks)
{
    if (ct_likely(!c->shift)) {
        ct_count_bump(&c->sure, 1);
        ct_count_bump(&c->sure_ticks, ticks);
    } else {
        ct_count_bump(&c->drawn, 1);
        ct_count_bump(&c->drawn_ticks, ticks << c->shift);
        ct_count_bump(&c->stands_for, (uint64_t)1 << c->shift);
    }
    uint64_t min = atomic_load_explicit(&c->min_ticks, memory_order_relaxed);
    if (ct_unlikely(ticks < min || !min))
        atomic_store_explicit(&c->min_ticks, ticks ? ticks : 1, memory_order_relaxed);
    if (ct_unlikely(ticks > atomic_load_explicit(&c->max_ticks, memory_order_relaxed)))
        atomic_store_explicit(&c->max_ticks, ticks, memory_order_relaxed);
}

/* After a timed call: draws which call is timed next. */
void ct_api_draw(struct ct_api_count *c, uint64_t now_ticks, uint64_t *random);

#endif
