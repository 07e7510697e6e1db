/* SPDX-License-Identifier: MIT */
/* The words of a command line that are no options: a report's name and files. */
#ifndef CT_REPORT_OPERANDS_H
#define CT_REPORT_OPERANDS_H

#include "report/report_options.h"

/*
 * Sets o->report, and o->files to the files to be read: summary.bin if none is named and the report
 * reads one, a copy of standard input for "-". `plain`: "--" came before them, all are files.
 */
enum ct_options_result ct_operands_take(struct ct_options *o, bool plain);

/* Says that an argument is none of the names, and which was meant, or all of them. */
enum ct_options_result ct_operands_refuse(const char *argument, const char *kind,
                                          const char *const *names, size_t count);

#endif
