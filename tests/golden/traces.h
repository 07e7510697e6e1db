/* SPDX-License-Identifier: MIT */
/* The profiles whose traces by nvprof are in data/, as trace files. */
#ifndef CT_GOLDEN_TRACES_H
#define CT_GOLDEN_TRACES_H

#include <stdbool.h>

/* False: there is none of that name, or it could not be written. */
bool ct_golden_trace_write(const char *name, const char *path);

#endif
