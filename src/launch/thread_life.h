/* SPDX-License-Identifier: MIT */
/* Begin and end of the threads' states, with all that other rooms keep for a thread. */
#ifndef CT_THREAD_LIFE_H
#define CT_THREAD_LIFE_H

#include "base/base.h"
#include "launch/thread_life.h"

bool ct_threads_init(void);
/* In the child of a fork: nothing of the parent's is touched again. */
void ct_threads_forget(void);

#endif
