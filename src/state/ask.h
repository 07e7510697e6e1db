/* SPDX-License-Identifier: MIT */
/*
 * CT_ASK(fn, arguments...): a driver call on our own account, on a thread that may be the drain
 * thread. While the drain thread is inside the driver, which may keep it for ever, its data are in
 * a state that another thread can go on from.
 */
#ifndef CT_ASK_H
#define CT_ASK_H

#include <stdatomic.h>

#include "base/count.h"
#include "cuda/api.h"

enum ct_whereabouts {
    CT_AT_HOME,
    CT_AWAY,  /* inside the driver */
    CT_LENT,  /* likewise, while another thread looks at its data: it waits to come back */
    CT_TAKEN, /* another thread goes on: the drain thread must not come back */
};

extern CT_TLS bool ct_is_drain_thread;
extern _Atomic uint32_t ct_whereabouts; /* the drain thread's */
extern _Atomic uint32_t ct_asked;       /* the driver's function that it called last, by id */
extern _Atomic uint64_t ct_asks;        /* its calls so far */

/*
 * For the drain thread that finds its data lent or its work taken over: returns when it has the
 * data back, or stays in here.
 */
CT_COLD void ct_wait_outside(void);

/* Another thread looks at the drain thread's data while that is inside the driver, or does not. */
bool ct_borrow(void);
void ct_return_borrowed(void);

/* Takes over from the drain thread, for good. False: that is not inside the driver now. */
bool ct_take_over(void);

/* Takes over where there is no drain thread: nothing is asked of the driver from now on. */
void ct_take_alone(void);

static inline bool ct_is_taken_over(void)
{
    return atomic_load_explicit(&ct_whereabouts, memory_order_relaxed) == CT_TAKEN;
}

static inline void ct_go_out(uint32_t function)
{
    if (!ct_is_drain_thread)
        return;
    atomic_store_explicit(&ct_asked, function, memory_order_relaxed);
    ct_count_bump(&ct_asks, 1);
    atomic_store_explicit(&ct_whereabouts, CT_AWAY, memory_order_release);
}

static inline CUresult ct_come_back(CUresult r)
{
    uint32_t away = CT_AWAY;
    if (ct_is_drain_thread &&
        !atomic_compare_exchange_strong_explicit(&ct_whereabouts, &away, CT_AT_HOME,
                                                 memory_order_acquire, memory_order_relaxed))
        ct_wait_outside();
    return r;
}

#define CT_ASK(fn, ...) ct_come_back((ct_go_out(CT_ID_##fn), CT_REAL(fn)(__VA_ARGS__)))

#endif
