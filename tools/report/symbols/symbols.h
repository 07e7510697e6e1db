/* SPDX-License-Identifier: MIT */
/*
 * Functions and lines behind addresses of native code. Files are opened once in a process; any
 * thread asks. A file that is another one than ran is said to be so, once, and not read.
 */
#ifndef CT_REPORT_SYMBOLS_H
#define CT_REPORT_SYMBOLS_H

#include <stdint.h>

#include "report/host_memory.h"

/*
 * Calls take() for each function at an address of an object, the innermost first: those that were
 * inlined, then the one that these are in. Names are demangled. None where nothing is known.
 */
void ct_symbols_find(const char *path, const char *build_id, uint64_t offset,
                     void (*take)(void *arg, const char *function, const char *file, uint32_t line),
                     void *arg);

#endif
