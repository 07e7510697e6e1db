/* SPDX-License-Identifier: MIT */
/* How NVTX comes to load this library: nvtx_variable.c; and what it then gets: nvtx.c. */
#ifndef CT_NVTX_H
#define CT_NVTX_H

#include "base/base.h"

#define CT_NVTX_NEXT "CUTRACE_NVTX_NEXT" /* another injection, which is to get all as well */

/* Loaded by name, as by NVTX in a process that is not profiled, this library comes after libc. */
bool ct_nvtx_is_preloaded(void);

#endif
