/* SPDX-License-Identifier: MIT */
/* Below the table: which line of Python launched most of each operation's time. */
#ifndef CT_REPORT_LAUNCHERS_H
#define CT_REPORT_LAUNCHERS_H

#include <stdio.h>

#include "report/profile/view.h"

/* For so many operations of the table, 0: the first few; nothing where no stacks are. */
void ct_launchers_print(FILE *out, const char *prefix, const struct ct_merged *m,
                        const struct ct_view *gpu, uint64_t top);

#endif
