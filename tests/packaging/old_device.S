/* SPDX-License-Identifier: MIT */
/* The simulated device's calls of functions that have a younger version, beside those of the tools. */
#include "system/old_glibc.h"

CT_OLD(dladdr, dladdr)
CT_OLD(pthread_getspecific, pthread_getspecific)
CT_OLD(pthread_key_create, pthread_key_create)
CT_OLD(pthread_setspecific, pthread_setspecific)

#if defined(__x86_64__)
    ct_old pthread_condattr_setclock, pthread_condattr_setclock, GLIBC_2.3.3
#else
CT_OLD(pthread_condattr_setclock, pthread_condattr_setclock)
#endif
