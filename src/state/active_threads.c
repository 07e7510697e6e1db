/* SPDX-License-Identifier: MIT */
#include "state/active_threads.h"

#include "state/thread.h"

static CT_PROCESS struct ct_thread *_Atomic woken; /* threads woken since the last look */
static CT_PROCESS struct ct_thread *awake;
static CT_PROCESS struct ct_thread *last_turn; /* NULL: the first one is next */

/* The thread that raises the flag has the link to itself till the state is on the stack. */
CT_COLD void ct_thread_wake(struct ct_thread *t)
{
    bool dozes = false;
    if (!atomic_compare_exchange_strong_explicit(&t->is_awake, &dozes, true, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    t->next_awake = atomic_load_explicit(&woken, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&woken, &t->next_awake, t, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

struct ct_thread **ct_active_threads(void)
{
    struct ct_thread *t = NULL, *next;
    if (atomic_load_explicit(&woken, memory_order_relaxed))
        t = atomic_exchange_explicit(&woken, NULL, memory_order_acquire);
    for (; t; t = next) {
        next = t->next_awake;
        t->next_awake = awake;
        t->busy_ns = 0;
        awake = t;
    }
    return &awake;
}

void ct_active_threads_doze(struct ct_thread **at)
{
    struct ct_thread *t = *at;
    *at = t->next_awake;
    atomic_store_explicit(&t->is_awake, false, memory_order_release);
}

struct ct_thread *ct_active_threads_in_turn(void)
{
    return last_turn = last_turn ? last_turn->next : ct_threads_first();
}
