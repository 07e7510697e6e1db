/* SPDX-License-Identifier: MIT */
/*
 * CT_ASK(fn, arguments...): a driver call on our own account, on a thread that may be the drain
 * thread. While the drain thread is inside the driver, which may keep it for ever, its data are in
 * a state that another thread can go on from.
 */
#ifndef CT_ASK_H
#define CT_ASK_H

#include <stdatomic.h>

#include "cuda/api.h"

enum ct_whereabouts {
    CT_AT_HOME,
    CT_AWAY,  /* inside the driver */
    CT_TAKEN, /* another thread goes on: the drain thread must not come back */
};

extern CT_TLS bool ct_is_drain_thread;
extern _Atomic uint32_t ct_whereabouts; /* the drain thread's */

/* For the drain thread that finds its work taken over: it stays in here. */
CT_COLD void ct_stay_away(void);

/* Takes over from the drain thread, for good. False: that is not inside the driver now. */
bool ct_take_over(void);

/* Takes over where there is no drain thread: nothing is asked of the driver from now on. */
void ct_take_alone(void);

static inline bool ct_is_taken_over(void)
{
    return atomic_load_explicit(&ct_whereabouts, memory_order_relaxed) == CT_TAKEN;
}

static inline void ct_go_out(void)
{
    if (ct_is_drain_thread)
        atomic_store_explicit(&ct_whereabouts, CT_AWAY, memory_order_release);
}

static inline CUresult ct_come_back(CUresult r)
{
    uint32_t away = CT_AWAY;
    if (ct_is_drain_thread &&
        !atomic_compare_exchange_strong_explicit(&ct_whereabouts, &away, CT_AT_HOME,
                                                 memory_order_acquire, memory_order_relaxed))
        ct_stay_away();
    return r;
}

#define CT_ASK(fn, ...) ct_come_back((ct_go_out(), CT_REAL(fn)(__VA_ARGS__)))

#endif
