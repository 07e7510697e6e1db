/* SPDX-License-Identifier: MIT */
#include "counts/api_count.h"

#include "base/random.h"
#include "base/text.h"
#include "system/clock.h"

#define SHARE 8 /* timing of calls gets 1 / SHARE of the budget */
#define MOST_SHIFT_OF_BUDGET 8

/* Without a budget: timing one in 16 of calls below 1 us costs some 3 ns for each. */
#define LONG_NS 1000
#define INTERVAL_NS 250000
#define MOST_SHIFT 4

CT_READ_MOSTLY _Atomic uint64_t ct_api_interval_ticks;
CT_READ_MOSTLY _Atomic uint64_t ct_api_long_ticks;

void ct_api_count_init(bool for_trace, uint32_t budget_ppm)
{
    uint64_t interval_ns = for_trace    ? 0
                           : budget_ppm ? (uint64_t)CT_API_CLOCKS_NS * SHARE * 1000000 / budget_ppm
                                        : INTERVAL_NS;
    atomic_store_explicit(&ct_api_long_ticks,
                          budget_ppm && !for_trace ? UINT64_MAX : ct_ns_to_ticks(LONG_NS),
                          memory_order_relaxed);
    atomic_store_explicit(&ct_api_interval_ticks, ct_ns_to_ticks(interval_ns),
                          memory_order_relaxed);
}

/* Functions that ask or set something: all others may wait, or have work to do. */
static CT_COLD bool only_asks(uint32_t api)
{
    static const char *const parts[] = {"Get",    "Query",     "IsCapturing",       "Current",
                                        "PeekAt", "SetDevice", "CallConfiguration", "Occupancy"};
    for (unsigned i = 0; i < ct_countof(parts); i++)
        if (ct_contains(ct_api_names[api], parts[i]))
            return true;
    return false;
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
    uint32_t most = ct_api_has_budget() ? MOST_SHIFT_OF_BUDGET : MOST_SHIFT;
    return (uint32_t)ct_min(shift, ct_min(c->shift + 1u, most)); /* a quick call is no rate */
}

/* Whether calls may go untimed now: after so many short ones in a row. */
static bool is_brief(struct ct_api_count *c, uint32_t api, uint64_t ticks)
{
    bool is_long = ticks >= atomic_load_explicit(&ct_api_long_ticks, memory_order_relaxed);
    c->brief = is_long ? 0 : (uint16_t)ct_min(c->brief + 1u, CT_API_BRIEF);
    if (c->brief == CT_API_BRIEF && !c->shift && !ct_api_has_budget() && !only_asks(api))
        c->brief = CT_API_ALWAYS;
    return c->brief == CT_API_BRIEF;
}

/*
 * The number of calls until then is of any size up to twice the mean: no program keeps step with
 * that, and it costs less than the geometric distribution.
 */
void ct_api_draw(struct ct_api_count *c, uint32_t api, uint64_t ticks, uint64_t now_ticks,
                 uint64_t *random)
{
    uint64_t untimed = atomic_load_explicit(&c->untimed, memory_order_relaxed);
    c->shift = is_brief(c, api, ticks) ? (uint16_t)shift_now(c, now_ticks, untimed) : 0;
    c->left = (uint32_t)(ct_random(random) * (((uint64_t)2 << c->shift) - 1) >> 32);
    c->last_ticks = now_ticks;
    c->seen_untimed = untimed;
}
