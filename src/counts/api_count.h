/* SPDX-License-Identifier: MIT */
/*
 * A thread's counters of its own calls: their number and how long they took. Reading the clock
 * costs more than a short call is worth: of functions that only ask or set something, and are
 * called often, one call in a power of two is timed, drawn at random, and the others are estimated
 * from these. Functions that may wait, and those that have just taken long, are always timed. Under
 * a budget the time between calls decides, whatever they do.
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
    uint16_t shift;                        /* the timed call stands for 2^shift calls */
    uint16_t brief;                        /* short ones timed in a row, up to CT_API_BRIEF */
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

/* Short calls in a row before any goes untimed, and the mark of functions that are always timed. */
#define CT_API_BRIEF 64
#define CT_API_ALWAYS UINT16_MAX

/*
 * Ticks between timed calls of a function in one thread that calls it faster than that. 0: all
 * calls are timed.
 */
extern _Atomic uint64_t ct_api_interval_ticks;
/* Calls that take so long are timed, and inside of ranges all are; UINT64_MAX: a budget decides. */
extern _Atomic uint64_t ct_api_long_ticks;

static inline bool ct_api_has_budget(void)
{
    return atomic_load_explicit(&ct_api_long_ticks, memory_order_relaxed) == UINT64_MAX;
}

/*
 * Sets these: for a trace all calls are timed, under a budget as many as the cost of timing one
 * allows. Calls may go on meanwhile.
 */
void ct_api_count_init(bool for_trace, uint32_t budget_ppm);
#define CT_API_CLOCKS_NS 40
/* Cost of counting a call: 6 to 30 ns of four trivial functions, 15 in the middle; H100 and H200.
 */
#define CT_API_COUNT_NS 15

/* Adds up a timed call, which stands for 2^shift. Whether it is the function's first one. */
static inline bool ct_api_add(struct ct_api_count *c, uint64_t ticks, uint32_t shift)
{
    if (ct_likely(!shift)) {
        ct_count_bump(&c->sure, 1);
        ct_count_bump(&c->sure_ticks, ticks);
    } else {
        ct_count_bump(&c->drawn, 1);
        ct_count_bump(&c->drawn_ticks, ticks << shift);
        ct_count_bump(&c->stands_for, (uint64_t)1 << shift);
    }
    uint64_t min = atomic_load_explicit(&c->min_ticks, memory_order_relaxed);
    if (ct_unlikely(ticks < min || !min))
        atomic_store_explicit(&c->min_ticks, ticks ? ticks : 1, memory_order_relaxed);
    if (ct_unlikely(ticks > atomic_load_explicit(&c->max_ticks, memory_order_relaxed)))
        atomic_store_explicit(&c->max_ticks, ticks, memory_order_relaxed);
    return !min;
}

/* After a timed call of a function: draws which one is timed next. */
void ct_api_draw(struct ct_api_count *c, uint32_t api, uint64_t ticks, uint64_t now_ticks,
                 uint64_t *random);

#endif
