/* SPDX-License-Identifier: MIT */
/*
 * A thread that is cancelled would go at the next call of ours that opens, reads, writes or naps,
 * where the program alone has no such point, and with what it holds of ours.
 */
#ifndef CT_CANCEL_H
#define CT_CANCEL_H

#include <pthread.h>

/* Returns what ct_cancel_restore() needs. */
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
