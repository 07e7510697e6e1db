/* SPDX-License-Identifier: MIT */
/* What driver and runtime wrappers have in common. */
#ifndef CT_WRAP_H
#define CT_WRAP_H

#include "base/base.h"
#include "base/clock.h"
#include "preload/init.h"
#include "record/thread.h"

/* The calling thread's state while recording goes on; NULL: pass the call through. */
static inline struct ct_thread *ct_wrap_enter(void)
{
#ifdef CT_NOP
    return NULL;
#endif
    if (ct_unlikely(!ct_is_on()) && !ct_arm())
        return NULL;
    return ct_thread_self();
}

#endif
