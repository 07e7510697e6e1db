/* SPDX-License-Identifier: MIT */
/* The headline above the table at the end of a program on a terminal. */
#ifndef CT_REPORT_HEADLINE_H
#define CT_REPORT_HEADLINE_H

#include <stdio.h>

#include "report/profile/merge.h"

/*
 * How busy the GPU was, with which kinds of work, and why it was idle; nothing where too little is
 * known.
 */
void ct_headline_print(FILE *out, const char *prefix, const struct ct_merged *m);

#endif
