/* SPDX-License-Identifier: MIT */
#include "state/thread.h"

CT_TLS struct ct_thread *ct_thread_current;
struct ct_thread *_Atomic ct_threads;
