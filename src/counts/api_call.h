/* SPDX-License-Identifier: MIT */
/* Calls that a thread has made, as it counts them: counters, ranges, a trace. */
#ifndef CT_API_CALL_H
#define CT_API_CALL_H

#include "base/base.h"
#include "base/count.h"
#include "counts/api_call.h"
#include "counts/api_count.h"
#include "state/thread.h"

/* One that was timed. A full ring of samples costs the histogram a sample, not the counters. */
void ct_thread_count_timed(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                           uint64_t done_ticks);

/* One that failed, or is in a trace. Not marked cold: gcc 12 would have the wrappers' ends be cold,
 * too. */
CT_NOINLINE void ct_thread_count_further(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                                         uint64_t done_ticks, bool failed, int32_t result);

/*
 * Counts a finished call. `due`: it was timed, with these ticks before and after it; in a trace all
 * are. `result`: 0 if it has none.
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
