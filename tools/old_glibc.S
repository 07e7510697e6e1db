/* SPDX-License-Identifier: MIT */
/*
 * The tools' calls, and those of archives linked into them, of functions that have a younger
 * version than 2.28 or, as those of C23, another name.
 */
#include "system/old_glibc.h"

CT_OLD(ct_old_start_main, __libc_start_main)

CT_OLD(dlclose, dlclose)
CT_OLD(dlerror, dlerror)
CT_OLD(dlopen, dlopen)
CT_OLD(dlsym, dlsym)
CT_OLD(pthread_attr_setstacksize, pthread_attr_setstacksize)
CT_OLD(pthread_create, pthread_create)
CT_OLD(pthread_detach, pthread_detach)
CT_OLD(pthread_join, pthread_join)
CT_OLD(pthread_mutex_trylock, pthread_mutex_trylock)
CT_OLD(pthread_mutexattr_destroy, pthread_mutexattr_destroy)
CT_OLD(pthread_mutexattr_init, pthread_mutexattr_init)
CT_OLD(pthread_mutexattr_settype, pthread_mutexattr_settype)
CT_OLD(pthread_once, pthread_once)
CT_OLD(pthread_sigmask, pthread_sigmask)

CT_OLD(exp, exp)
CT_OLD(fmod, fmod)
CT_OLD(log, log)
CT_OLD(log2, log2)
CT_OLD(pow, pow)

CT_SAME(fstat64, fstat)
CT_SAME(lstat64, lstat)
CT_SAME(stat64, stat)

CT_OLD(__isoc23_sscanf, sscanf)
CT_OLD(__isoc23_strtol, strtol)
CT_OLD(__isoc23_strtoll, strtoll)
CT_OLD(__isoc23_strtoul, strtoul)
CT_OLD(__isoc23_strtoull, strtoull)
