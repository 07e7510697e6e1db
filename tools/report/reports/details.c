/* SPDX-License-Identifier: MIT */
#include "report/reports/details.h"

#include "report/sinks/stage.h"

/* Below the summary: all that is in the file, report by report. */
void ct_details_print(FILE *out, const char *prefix, const struct ct_input *in)
{
    static const enum ct_report_id ids[] = {
        CT_REPORT_INFO,   CT_REPORT_KERNELS, CT_REPORT_COPIES, CT_REPORT_GRAPHS,
        CT_REPORT_SHAPES, CT_REPORT_LOSSES,  CT_REPORT_APIS,   CT_REPORT_STREAMS,
    };
    struct ct_input each = *in;
    struct ct_look look = {.in = in, .prefix = prefix};
    struct ct_options limits = {.top = in->o->top};
    int status = 0;
    struct ct_sink *sink = ct_stage_open(ct_sink_table(out, &look), &limits, &status);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        each.report = &ct_reports[ids[i]];
        each.report->rows(&each, sink);
    }
    ct_sink_close(sink);
}
