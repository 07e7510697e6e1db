/* SPDX-License-Identifier: MIT */
/* The destination of a report: standard output, through a pager on a terminal, or a file. */
#ifndef CT_REPORT_OUTPUT_H
#define CT_REPORT_OUTPUT_H

#include <stdio.h>

#include "report/report_options.h"

struct ct_output {
    FILE *f;
    int width; /* of the terminal, columns; 0: it is none */
    bool color;
};

/* False: said on standard error. */
bool ct_output_open(struct ct_output *out, const struct ct_options *o);

/* Waits for the pager. Output counts as written only when closing succeeds, too: false, said. */
bool ct_output_close(struct ct_output *out, const struct ct_options *o);

/* Closes one of the standard streams, as the above. */
bool ct_output_finish(FILE *f, const char *name);

/*
 * The destination of text below the rows of nvprof's CSV: rows that have a file of their own end
 * it.
 */
FILE *ct_output_below(const struct ct_options *o, FILE *out);

#endif
