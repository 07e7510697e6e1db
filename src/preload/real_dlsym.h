/* SPDX-License-Identifier: MIT */
/* The dynamic linker's look-up, past our own. */
#ifndef CT_REAL_DLSYM_H
#define CT_REAL_DLSYM_H

#include "base/base.h"

typedef void *(*ct_dlsym_fn)(void *handle, const char *name);
typedef void *(*ct_dlvsym_fn)(void *handle, const char *name, const char *version);

/*
 * The next dlsym behind ours: another interposer's or glibc's. Set by ct_real_dlsym_find(). The
 * assembly entries jump through these two.
 */
extern ct_dlsym_fn ct_real_dlsym;
extern ct_dlvsym_fn ct_real_dlvsym;

/*
 * Runs inside dlsym, possibly before anything in the process is initialised: no libc function, no
 * lock, no thread-local storage. Threads that run it at once store the same values.
 */
void ct_real_dlsym_find(void);

/* RTLD_NEXT as seen from this library; leaves no error text when there is nothing. */
void *ct_real_dlsym_next(const char *name);

#endif
