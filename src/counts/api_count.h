/* SPDX-License-Identifier: MIT */
/*
 * What a thread counts of the calls it makes: all calls, and how long they took. With a budget the
 * clock is not read for calls that come so fast that this would cost too much: then one in a power
 * of two is timed, drawn in advance, and the others are estimated from those.
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
 * One function's. Its thread writes all but the last; a call that is not timed touches the first
 * line alone.
 */
struct ct_api_count {
    _Alignas(CT_CACHE_LINE) uint32_t left; /* calls that go by before one is timed */
    uint32_t shift;                        /* that one stands for 2^shift calls */
    _Atomic uint64_t untimed;
    _Atomic uint64_t sure; /* calls that were timed for certain, */
    _Atomic uint64_t sure_ticks;
    _Atomic uint64_t min_ticks; /* of all that were timed; 0: none yet */
    _Atomic uint64_t max_ticks;
    _Atomic uint64_t errors;
    uint64_t last_ticks;          /* when the last one was timed that made a draw, */
    _Atomic uint64_t drawn;       /* those that were drawn, */
    _Atomic uint64_t drawn_ticks; /* and how long they took, each for all it stands for */
    _Atomic uint64_t stands_for;
    uint64_t seen_untimed;   /* at that time */
    struct ct_api_sums sums; /* that the drain thread has taken */
};

/*
 * With a budget, calls of one function in a thread are timed so many ticks apart, if they come
 * faster than that. 0: all are timed.
 */
extern _Atomic uint64_t ct_api_interval_ticks;

/* A part of the budget, and what timing a call costs. Also while calls are made. */
void ct_api_count_init(uint32_t budget_ppm);
#define CT_API_CLOCKS_NS 40

/* Whether the call that is about to be made is timed. It is counted afterwards. */
static inline bool ct_api_is_due(struct ct_api_count *c)
{
    if (!c->left) /* nearly always, or, with a budget, seldom */
        return true;
    c->left--;
    return false;
}

/* One that was timed: adds it up. */
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

/* After a call that was timed: draws which one is the next. */
void ct_api_draw(struct ct_api_count *c, uint64_t now_ticks, uint64_t *random);

#endif
