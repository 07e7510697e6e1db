/* SPDX-License-Identifier: MIT */
/* This library as the dynamic linker has it. */
#ifndef CT_SELF_H
#define CT_SELF_H

#include "base/base.h"

/* Its file, from the root, also after the program has gone to another directory; NULL: not known.
 */
const char *ct_self_path(void);

/*
 * Preloaded or linked, and no copy is before it: loaded by name, as by NVTX in a process that is
 * not profiled, it comes after libc.
 */
bool ct_self_is_preloaded(void);

#endif
