/* SPDX-License-Identifier: MIT */
/* Paths whose ends say most, as "…/Layer[3]/Linear", for tables and pictures with little room. */
#ifndef CT_REPORT_SHORT_PATHS_H
#define CT_REPORT_SHORT_PATHS_H

#include <stddef.h>

/*
 * Paths, in their order, with as many parts of their ends as tell them from the others, and two at
 * least; width: columns in which each has to fit, 0: any. Freed as ct_short_names() are.
 */
char **ct_short_paths(const char *const *paths, size_t count, int width);

#endif
