/* SPDX-License-Identifier: MIT */
/* The records of a trace that the command line asks for. */
#ifndef CT_REPORT_TRACE_OPTIONS_H
#define CT_REPORT_TRACE_OPTIONS_H

#include "report/report_options.h"
#include "report/trace/timeline.h"

/* Records that nvprof's traces have: operations, calls or both. */
static inline struct ct_timeline_options ct_trace_options(const struct ct_options *o)
{
    return (struct ct_timeline_options){
        .ops = o->gpu_trace || !o->api_trace,
        .calls = o->api_trace,
        .since_ns = o->since_ns,
        .until_ns = o->until_ns,
    };
}

/* Records of exports: all there are. */
static inline struct ct_timeline_options ct_trace_all(const struct ct_options *o)
{
    return (struct ct_timeline_options){
        .ops = true,
        .calls = true,
        .ranges = true,
        .since_ns = o->since_ns,
        .until_ns = o->until_ns,
    };
}

#endif
