/* SPDX-License-Identifier: MIT */
/* The command line of cutrace-report. */
#ifndef CT_REPORT_OPTIONS_H
#define CT_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/units.h"

struct ct_options {
    bool csv;
    bool details;
    bool per_gpu;
    bool mangled;
    bool raw;
    bool live;
    enum ct_unit unit;
    const char *log_file; /* NULL: standard output, with live standard error */
    char **files;
    int file_count;
};

enum ct_options_result {
    CT_OPTIONS_RUN,
    CT_OPTIONS_DONE,  /* --help or --version was answered */
    CT_OPTIONS_WRONG, /* said on standard error */
};

enum ct_options_result ct_options_parse(struct ct_options *o, int argc, char **argv);

#endif
