/* SPDX-License-Identifier: MIT */
#include "state/thread.h"

CT_TLS struct ct_thread *ct_thread_current;
CT_PROCESS struct ct_thread *_Atomic ct_threads;
