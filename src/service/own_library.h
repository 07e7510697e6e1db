/* SPDX-License-Identifier: MIT */
/* This library as the dynamic linker has it. */
#ifndef CT_OWN_LIBRARY_H
#define CT_OWN_LIBRARY_H

#include "base/base.h"

/* The library's file, from the root, wherever the program has gone since; NULL: not known. */
const char *ct_own_library_path(void);

/*
 * Whether this library is preloaded or linked, with no copy before it: loaded by name, as by NVTX
 * in a process that is not profiled, it comes after libc.
 */
bool ct_own_library_is_preloaded(void);

#endif
