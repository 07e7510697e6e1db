/* SPDX-License-Identifier: MIT */
/* The drain thread's scheduling: neither as urgent nor as bound as the thread that made it. */
#ifndef CT_SCHEDULE_H
#define CT_SCHEDULE_H

#include <pthread.h>

#include "base/base.h"

/*
 * Remembers the process's processors; to be called when the library is loaded. Under a filter of
 * system calls nothing is remembered, and the functions below do nothing.
 */
void ct_schedule_loaded(void);

/* A thread that is made with attr has no real-time priority. */
void ct_schedule_ordinary(pthread_attr_t *attr);

/* The calling thread may run on the processors that were remembered. */
void ct_schedule_everywhere(void);

#endif
