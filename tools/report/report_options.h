/* SPDX-License-Identifier: MIT */
/* The command line of cutrace-report. */
#ifndef CT_REPORT_OPTIONS_H
#define CT_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/units.h"

/* The ways to split a report; values are bits for the table of reports. */
enum ct_per {
    CT_PER_NONE = 0,
    CT_PER_GPU = 1,
    CT_PER_PROCESS = 2,
    CT_PER_RANK = 4,
    CT_PER_HOST = 8,
    CT_PER_STREAM = 16,                                        /* the report does it itself, */
    CT_PER_LINE = 32,                                          /* and so here, */
    CT_PER_MODULE = 64,                                        /* and here */
    CT_PER_RANGE = 128,                                        /* of traces */
    CT_PER_FILES = CT_PER_PROCESS | CT_PER_RANK | CT_PER_HOST, /* these split by files */
};

/* Arguments of an option that may be given several times. */
struct ct_option_list {
    char **texts; /* of argv */
    int count;
    size_t size;
};

enum ct_color { CT_COLOR_AUTO, CT_COLOR_ALWAYS, CT_COLOR_NEVER };

/*
 * Members have the types that the table of options fills in: bool, int, const char *, uint64_t,
 * double, struct ct_option_list.
 */
struct ct_options {
    const struct ct_report *report;
    const struct ct_format *format;
    const char *format_name; /* NULL: the one that suits the report */
    bool csv;                /* --csv: nvprof's CSV, or the format "csv" */
    bool details;
    bool nvtx_ranges; /* a table for each range */
    bool mangled;
    bool grouped; /* kernels in groups; see kernel_group.h */
    bool base;    /* names of kernels without scopes, arguments and templates */
    bool raw;
    bool live;
    bool no_pager;
    bool wide;
    bool gpu_summary; /* that section alone, or with the next both */
    bool api_summary;
    bool gpu_trace;      /* of a trace: operations, unless only the next is given */
    bool api_trace;      /* and calls */
    bool force;          /* overwrite a file that is not an export of ours */
    int per;             /* enum ct_per */
    int unit;            /* enum ct_unit */
    int color;           /* enum ct_color */
    const char *sort;    /* columns, comma-separated, a leading - turns the order; NULL: as it is */
    const char *columns; /* comma-separated; NULL: all */
    const char *filter;  /* extended regular expression; NULL: all */
    uint64_t top;        /* rows to show; 0: all */
    uint64_t since_ns;   /* of a trace's clock */
    uint64_t until_ns;   /* UINT64_MAX: to the end */
    const char *log_file;            /* NULL: standard output, with live standard error */
    double percent_limit;            /* rows with less are one; 0: not given */
    double fail_over;                /* percent; below 0: not given */
    struct ct_option_list baselines; /* of the report explain */
    char **files;                    /* of argv, in the order given */
    int file_count;
    int behind;  /* files behind a "--" that has files before it, too */
    bool traces; /* the report, which may be one of profiles, is to be made of traces */
};

enum ct_options_result {
    CT_OPTIONS_RUN,
    CT_OPTIONS_DONE,  /* --help or --version was answered */
    CT_OPTIONS_WRONG, /* said on standard error */
};

#endif
