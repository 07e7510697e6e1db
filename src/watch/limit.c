/* SPDX-License-Identifier: MIT */
#include "watch/limit.h"

#define LONGER 2 /* times the longest so far, where the program says how long */

static uint64_t times(uint64_t ns, uint64_t factor)
{
    uint64_t product;
    return __builtin_mul_overflow(ns, factor, &product) ? UINT64_MAX : product;
}

uint64_t ct_watch_limit_ns(const struct ct_watch_rule *r, const struct ct_usual *u)
{
    bool is_known = u->count >= CT_WATCH_HISTORY;
    uint64_t usual_ns = is_known ? u->p99_ns : u->max_ns, limit_ns = UINT64_MAX;
    if (r->factor)
        limit_ns =
            ct_max(times(usual_ns, r->factor), is_known ? CT_WATCH_LEAST_NS : CT_WATCH_NEW_NS);
    if (r->ns)
        limit_ns = ct_min(limit_ns, ct_max(r->ns, times(usual_ns, LONGER)));
    return limit_ns;
}

uint64_t ct_watch_gate_limit_ns(const struct ct_watch_rule *r, uint64_t longest_ns)
{
    uint64_t least_ns = r->ns;
    if (!least_ns || (r->factor && least_ns > CT_WATCH_NEW_NS))
        least_ns = CT_WATCH_NEW_NS;
    return ct_max(least_ns, times(longest_ns, LONGER));
}

uint64_t ct_watch_counted_ns(uint64_t so_far_ns, uint64_t passed_ns, uint64_t most_ns)
{
    return so_far_ns + ct_min(passed_ns, most_ns);
}
