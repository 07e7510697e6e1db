/* SPDX-License-Identifier: MIT */
/* The library's calls of functions that have a younger version than 2.17. */
#include "system/old_glibc.h"

CT_OLD(dlclose, dlclose)
CT_OLD(dlerror, dlerror)
CT_OLD(dlopen, dlopen)
CT_OLD(pthread_attr_setstacksize, pthread_attr_setstacksize)
CT_OLD(pthread_create, pthread_create)
CT_OLD(pthread_key_create, pthread_key_create)
CT_OLD(pthread_setspecific, pthread_setspecific)
CT_OLD(pthread_sigmask, pthread_sigmask)
