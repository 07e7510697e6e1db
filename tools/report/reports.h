/* SPDX-License-Identifier: MIT */
/* The reports of reports.def and the formats of formats.def, and the input of both. */
#ifndef CT_REPORT_REPORTS_H
#define CT_REPORT_REPORTS_H

#include <stdio.h>

#include "report/names.h"
#include "report/profile/merge.h"
#include "report/profile/view.h"
#include "report/report_options.h"
#include "report/sinks/relation.h"

struct ct_input {
    const struct ct_options *o;
    const struct ct_report *report;
    const struct ct_merged *m; /* NULL when the report has not asked for a summary */
    uint32_t device;           /* of m: only operations on this one, or CT_VIEW_ALL_DEVICES */
    bool partial;              /* m is not of all files: some could not be read, which was said */
    int width;                 /* of the terminal that is written to, columns; 0: it is none */
    bool color;
};

enum ct_needs {
    CT_NEEDS_NONE,
    CT_NEEDS_SUMMARY,
    CT_NEEDS_DETAILS,
    CT_NEEDS_TRACED,
    CT_NEEDS_FILES,
    CT_NEEDS_COMMAND,
};

enum ct_report_may {
    CT_MAY_RAW = 1 << 8,
    CT_MAY_GROUP = 1 << 9,
    CT_MAY_UNIT = 1 << 10,
    CT_MAY_TRACE = 1 << 11,
    CT_MAY_MANGLE = 1 << 12,
    CT_MAY_BASE = 1 << 13,
    CT_MAY_CALLS = 1 << 14
};

/* Functions return the exit status: 0, 1 when something could not be read (said by then), or a
 * report's own. */
struct ct_report {
    const char *name;
    enum ct_needs needs;
    int (*rows)(const struct ct_input *in, struct ct_sink *sink);
    int (*nvprof)(const struct ct_input *in, FILE *out);
    unsigned may; /* mask of enum ct_per and enum ct_report_may */
    const char *help;
};

enum ct_format_kind { CT_FORMAT_TEXT, CT_FORMAT_DATA, CT_FORMAT_PATH };

/* How a sink is to look. */
struct ct_look {
    const struct ct_input *in;
    const char *prefix; /* of lines that are not of the table: "", "======== " */
};

struct ct_format {
    const char *name;
    enum ct_format_kind kind;
    enum ct_needs needs;
    struct ct_sink *(*sink)(FILE *out, const struct ct_look *look);
    int (*document)(const struct ct_input *in, FILE *out); /* out is NULL with CT_FORMAT_PATH */
    const char *help;
};

enum ct_report_id {
#define CT_REPORT(id, ...) CT_REPORT_##id,
#include "report/reports.def"
#undef CT_REPORT
    CT_REPORT_COUNT
};

enum ct_format_id {
#define CT_FORMAT(id, ...) CT_FORMAT_##id,
#include "report/formats.def"
#undef CT_FORMAT
    CT_FORMAT_COUNT
};

extern const struct ct_report ct_reports[CT_REPORT_COUNT];
extern const struct ct_format ct_formats[CT_FORMAT_COUNT];

/* NULL: there is none of that name. */
const struct ct_report *ct_report_find(const char *name);
const struct ct_format *ct_format_find(const char *name);

static inline enum ct_naming ct_report_naming(const struct ct_options *o)
{
    if (o->grouped)
        return CT_NAMES_GROUPED;
    if (o->mangled)
        return CT_NAMES_MANGLED;
    return o->base ? CT_NAMES_BASE : CT_NAMES_DEMANGLED;
}

static inline struct ct_view_options ct_report_view(const struct ct_options *o)
{
    return (struct ct_view_options){
        .demangle = !o->mangled, .base = o->base, .grouped = o->grouped, .raw = o->raw};
}

/* A count that was worked out. */
static inline struct ct_cell ct_cell_whole(double count)
{
    return ct_cell_count(ct_view_whole_ns(count));
}

/* A name that the program gave, in `text`; no value: it gave none. */
static inline struct ct_cell ct_cell_given(struct ct_string *text, const struct ct_merged *m,
                                           uint32_t name)
{
    const char *given = ct_merge_name(m, name);
    if (!*given)
        return ct_cell_none();
    ct_name_safe(text, given);
    return ct_cell_text(text->data);
}

/* The functions of the tables, by the file they are in. */
int ct_report_summary(const struct ct_input *in, struct ct_sink *sink);
int ct_report_summary_nvprof(const struct ct_input *in, FILE *out);
int ct_report_kernels(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nccl(const struct ct_input *in, struct ct_sink *sink);
int ct_report_memory(const struct ct_input *in, struct ct_sink *sink);
int ct_report_unified(const struct ct_input *in, struct ct_sink *sink);
int ct_report_um_total_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_copies(const struct ct_input *in, struct ct_sink *sink);
int ct_report_graphs(const struct ct_input *in, struct ct_sink *sink);
int ct_report_apis(const struct ct_input *in, struct ct_sink *sink);
int ct_report_shapes(const struct ct_input *in, struct ct_sink *sink);
int ct_report_lines(const struct ct_input *in, struct ct_sink *sink);
int ct_report_modules(const struct ct_input *in, struct ct_sink *sink);
int ct_report_stacks(const struct ct_input *in, struct ct_sink *sink);
int ct_report_advice(const struct ct_input *in, struct ct_sink *sink);
int ct_report_device(const struct ct_input *in, struct ct_sink *sink);
int ct_report_explain(const struct ct_input *in, struct ct_sink *sink);
int ct_report_streams(const struct ct_input *in, struct ct_sink *sink);
int ct_report_losses(const struct ct_input *in, struct ct_sink *sink);
int ct_report_info(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_api_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_gpu_kern_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_gpu_kern_gb_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_gpu_mem_time_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_gpu_mem_size_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_gpu_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nvtx(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nvtx_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nvtx_kern_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_ranks(const struct ct_input *in, struct ct_sink *sink);
int ct_report_stragglers(const struct ct_input *in, struct ct_sink *sink);
int ct_report_stuck(const struct ct_input *in, struct ct_sink *sink);
int ct_report_diff(const struct ct_input *in, struct ct_sink *sink);
int ct_report_merge(const struct ct_input *in, struct ct_sink *sink);
int ct_report_trace(const struct ct_input *in, struct ct_sink *sink);
int ct_report_trace_nvprof(const struct ct_input *in, FILE *out);
int ct_report_gpu_trace(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_api_trace(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_api_gpu_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_kern_exec_trace(const struct ct_input *in, struct ct_sink *sink);
int ct_report_cuda_gpu_mem_size_trace(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nvtx_pushpop_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nvtx_pushpop_trace(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nvtx_gpu_proj_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_nvtx_gpu_proj_trace(const struct ct_input *in, struct ct_sink *sink);
int ct_report_um_sum(const struct ct_input *in, struct ct_sink *sink);
int ct_report_exec_sum(const struct ct_input *in, struct ct_sink *sink);

int ct_export_sqlite(const struct ct_input *in, FILE *out);
int ct_export_chrome(const struct ct_input *in, FILE *out);
int ct_export_perfetto(const struct ct_input *in, FILE *out);

struct ct_sink *ct_sink_csv(FILE *out, const struct ct_look *look);
struct ct_sink *ct_sink_json(FILE *out, const struct ct_look *look);
struct ct_sink *ct_sink_ndjson(FILE *out, const struct ct_look *look);
struct ct_sink *ct_sink_md(FILE *out, const struct ct_look *look);
struct ct_sink *ct_sink_tsv(FILE *out, const struct ct_look *look);
struct ct_sink *ct_sink_table(FILE *out, const struct ct_look *look);

int ct_format_html(const struct ct_input *in, FILE *out);
int ct_format_collapsed(const struct ct_input *in, FILE *out);
int ct_format_speedscope(const struct ct_input *in, FILE *out);
int ct_format_pprof(const struct ct_input *in, FILE *out);

#endif
