/* SPDX-License-Identifier: MIT */
/* Where and how our thread runs: neither as urgently nor as bound as the thread that made it. */
#ifndef CT_SCHEDULE_H
#define CT_SCHEDULE_H

#include <pthread.h>

#include "base/base.h"

/*
 * To be called when the library is loaded: remembers the process's processors. Under a filter of
 * system calls nothing is remembered, and nothing is done below.
 */
void ct_schedule_loaded(void);

/* A thread that is made with it has no real-time priority. */
void ct_schedule_ordinary(pthread_attr_t *attr);

/* The calling thread may run on the processors that were remembered. */
void ct_schedule_everywhere(void);

#endif
