/* SPDX-License-Identifier: MIT */
/* nvprof's traces: the parts that text and CSV share. */
#ifndef CT_REPORT_TRACE_NVPROF_H
#define CT_REPORT_TRACE_NVPROF_H

#include <stdio.h>

#include "report/report_options.h"
#include "report/trace/event_names.h"
#include "report/units.h"

/* CT_TRACE_COLUMN(ID, width, heading): the columns of the text before the name. */
#define CT_TRACE_COLUMNS(X)                                                                        \
    X(START, 8, "Start")                                                                           \
    X(DURATION, 8, "Duration")                                                                     \
    X(GRID, 19, "Grid Size")                                                                       \
    X(BLOCK, 14, "Block Size")                                                                     \
    X(REGISTERS, 8, "Regs*")                                                                       \
    X(STATIC, 8, "SSMem*")                                                                         \
    X(DYNAMIC, 8, "DSMem*")                                                                        \
    X(SIZE, 8, "Size")                                                                             \
    X(RATE, 10, "Throughput")                                                                      \
    X(SOURCE, 10, "SrcMemType")                                                                    \
    X(TARGET, 10, "DstMemType")                                                                    \
    X(DEVICE, 15, "Device")                                                                        \
    X(CONTEXT, 8, "Context")                                                                       \
    X(STREAM, 8, "Stream")

enum ct_trace_column {
#define X(id, width, heading) CT_TRACE_##id,
    CT_TRACE_COLUMNS(X)
#undef X
        CT_TRACE_COLUMN_COUNT
};

/* One trace on its way out. */
struct ct_trace_print {
    struct ct_timeline tl;
    struct ct_event_names names;
    struct ct_string text;  /* not written yet */
    struct ct_string blank; /* text of a call's line in the columns of operations */
    bool has_blank;
    FILE *out;
    char prefix[24]; /* "======== " as in the summary, or with the process id */
    bool automatic;  /* every value in the unit that suits it */
    bool has_ops;    /* there are columns of operations, of kernels, of memory */
    bool has_kernels;
    bool has_moves;
    enum ct_unit start_unit;
    enum ct_unit duration_unit;
    enum ct_byte_unit static_unit;
    enum ct_byte_unit dynamic_unit;
    enum ct_byte_unit size_unit;
    enum ct_byte_unit rate_unit;
};

/* The name of the kernel that a call launched, or NULL. */
const char *ct_trace_launched(struct ct_trace_print *p, const struct ct_event *call);

void ct_trace_text_heading(struct ct_trace_print *p);
void ct_trace_text_line(struct ct_trace_print *p, const struct ct_event *e);
void ct_trace_text_legend(struct ct_trace_print *p);

void ct_trace_csv_heading(struct ct_trace_print *p);
void ct_trace_csv_line(struct ct_trace_print *p, const struct ct_event *e);

#endif
