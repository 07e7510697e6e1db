/* SPDX-License-Identifier: MIT */
/* The beginning of every wrapper. */
#ifndef CT_WRAP_H
#define CT_WRAP_H

#include "base/base.h"
#include "preload/init.h"
#include "state/active_threads.h"
#include "state/thread.h"
#include "system/clock.h"

/* The calling thread's state while recording goes on; NULL: pass the call through. */
static inline struct ct_thread *ct_wrap_enter(void)
{
#ifdef CT_NOP
    return NULL;
#endif
    if (ct_unlikely(!ct_is_on()) && !ct_arm())
        return NULL;
    struct ct_thread *t = ct_thread_self();
    if (ct_unlikely(t && !atomic_load_explicit(&t->is_awake, memory_order_relaxed)))
        ct_thread_wake(t);
    return t;
}

#endif
