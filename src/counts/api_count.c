/* SPDX-License-Identifier: MIT */
#include "counts/api_count.h"

#include "base/random.h"
#include "system/clock.h"

#define SHARE 8 /* timing of calls gets 1 / SHARE of the budget */
#define SURE 64 /* first calls of a function, which are all timed */
#define MOST_SHIFT 8

CT_READ_MOSTLY _Atomic uint64_t ct_api_interval_ticks;

void ct_api_count_init(uint32_t budget_ppm)
{
    uint64_t interval_ns =
        budget_ppm ? (uint64_t)CT_API_CLOCKS_NS * SHARE * 1000000 / budget_ppm : 0;
    atomic_store_explicit(&ct_api_interval_ticks, ct_ns_to_ticks(interval_ns),
                          memory_order_relaxed);
}

/*
 * The shift by the rate of calls since the last draw. The rate of past calls only decides how many
 * are timed: the calls to come are drawn independently.
 */
static uint32_t shift_now(const struct ct_api_count *c, uint64_t now_ticks, uint64_t untimed)
{
    uint64_t calls = untimed - c->seen_untimed + 1;
    uint64_t taken = ct_ticks_between(c->last_ticks, now_ticks) + 1;
    uint64_t wanted =
        atomic_load_explicit(&ct_api_interval_ticks, memory_order_relaxed) * calls / taken;
    wanted += wanted / 2; /* to the nearest power of two, not to the one below */
    uint32_t shift = ct_octave(wanted);
    uint32_t most = (uint32_t)ct_min(c->shift + 1, MOST_SHIFT); /* a single quick call is no rate */
    return (uint32_t)ct_min(shift, most);
}

void ct_api_draw(struct ct_api_count *c, uint64_t now_ticks, uint64_t *random)
{
    uint64_t untimed = atomic_load_explicit(&c->untimed, memory_order_relaxed);
    if (atomic_load_explicit(&c->sure, memory_order_relaxed) >= SURE) {
        c->shift = shift_now(c, now_ticks, untimed);
        c->left = ct_random_skip(random, 1u << c->shift, UINT32_MAX);
    }
    c->last_ticks = now_ticks;
    c->seen_untimed = untimed;
}
