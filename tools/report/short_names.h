/* SPDX-License-Identifier: MIT */
/*
 * Short names of kernels, for tables and pictures that have little room. The part that tells a
 * kernel from the others is kept: its last component; its template arguments, where others share
 * that; then its namespace; the name as a whole where even that leaves two alike.
 */
#ifndef CT_REPORT_SHORT_NAMES_H
#define CT_REPORT_SHORT_NAMES_H

#include <stddef.h>

/*
 * The short forms of names, in their order, to be freed by ct_short_names_free(): different ones
 * differ. Names in brackets, as [CUDA memset], stay as they are.
 */
char **ct_short_names(const char *const *names, size_t count);

/* Also in so many columns each: long ones are cut where they do not differ. */
char **ct_short_names_in(const char *const *names, size_t count, int width);

void ct_short_names_free(char **names, size_t count);

#endif
