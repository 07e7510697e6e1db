/* SPDX-License-Identifier: MIT */
/* The command line of cutrace-report: options in any order, operands, a report's name. */
#ifndef CT_REPORT_PARSE_OPTIONS_H
#define CT_REPORT_PARSE_OPTIONS_H

#include "report/report_options.h"

/* The operands of argv are moved to its end. */
enum ct_options_result ct_options_parse(struct ct_options *o, int argc, char **argv);

#endif
