/* SPDX-License-Identifier: MIT */
/* Calls that a thread has made, as it counts them: counters, ranges, a trace. */
#ifndef CT_API_CALL_H
#define CT_API_CALL_H

#include "base/base.h"
#include "base/count.h"
#include "counts/api_call.h"
#include "counts/api_count.h"
#include "state/thread.h"

/* Counts a timed call. A full ring of samples costs the histogram a sample, not the counters. */
void ct_thread_count_timed(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                           uint64_t done_ticks);

/* Counts a failed or traced call. Not CT_COLD: gcc 12 would make the wrappers' ends cold, too. */
CT_NOINLINE void ct_thread_count_further(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                                         uint64_t done_ticks, bool failed, int32_t result);

/*
 * Whether the call that is about to be made is timed. It is counted when it is over. Calls in a
 * range are all timed, as each range has counts of its own, but under a budget.
 */
CT_INLINE bool ct_thread_times_call(struct ct_thread *t, uint32_t api)
{
    struct ct_api_count *c = &t->api[api];
    if (!c->left)
        return true;
    if (ct_unlikely(atomic_load_explicit(&t->range, memory_order_relaxed)) && !ct_api_has_budget())
        return true;
    c->left--;
    return false;
}

/*
 * Counts a finished call. `due`: the call was timed, between call_ticks and done_ticks; in a trace
 * all calls are. `result`: 0 where the function returns none.
 */
CT_INLINE void ct_thread_count(struct ct_thread *t, uint32_t api, bool due, uint64_t call_ticks,
                               uint64_t done_ticks, bool failed, int32_t result)
{
    if (due)
        ct_thread_count_timed(t, api, call_ticks, done_ticks);
    else
        ct_count_bump(&t->api[api].untimed, 1);
    if (ct_unlikely(failed || t->correlation))
        ct_thread_count_further(t, api, call_ticks, done_ticks, failed, result);
}

#endif
