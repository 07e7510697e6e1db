/* SPDX-License-Identifier: MIT */
/*
 * Cancellation held off: calls of ours that open, read, write or nap would be points of it where
 * the program alone has none, and the thread would go with what it holds of ours.
 */
#ifndef CT_CANCEL_H
#define CT_CANCEL_H

#include <pthread.h>

/* Returns the state that ct_cancel_restore() needs. */
static inline int ct_cancel_disable(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void ct_cancel_restore(int before)
{
    pthread_setcancelstate(before, NULL);
}

#endif
