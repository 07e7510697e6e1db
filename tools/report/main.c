/* SPDX-License-Identifier: MIT */
/* cutrace-report: prints profiles and traces. Exit status 1: input or output failed. */
#include <stdlib.h>

#include "format/trace_read.h"
#include "report/ending_process.h"
#include "report/file_error.h"
#include "report/files/output.h"
#include "report/parse_options.h"
#include "report/profile/files.h"
#include "report/reports.h"
#include "report/sinks/choice.h"
#include "report/sinks/per.h"
#include "report/sinks/stage.h"
#include "report/trace/trace_profile.h"

/* Adds up the files; traced: less the traces, which the report reads itself. */
static bool merge_files(struct ct_merged *m, const struct ct_options *o, bool traced)
{
    char **files = ct_memory_copy(o->files, (size_t)o->file_count * sizeof(*files));
    size_t count = 0;
    for (int i = 0; i < o->file_count; i++)
        if (!traced || !ct_trace_is_file(o->files[i]))
            files[count++] = o->files[i];
    bool good = ct_files_merge(m, files, count, 0);
    free(files);
    if (!count)
        ct_file_error(o->files[0], "is a trace: name the profile of the same process as well");
    return good && count;
}

static enum ct_needs needs_of(const struct ct_options *o)
{
    if (o->format->document) /* one of two profiles reads them itself */
        return o->report == &ct_reports[CT_REPORT_DIFF] ? CT_NEEDS_FILES : o->format->needs;
    if (o->details && o->report->needs == CT_NEEDS_SUMMARY)
        return CT_NEEDS_DETAILS;
    return o->report->needs;
}

static int put_rows(const struct ct_input *in, struct ct_sink *sink)
{
    if (in->o->traces)
        return ct_trace_profile_rows(in, sink, NULL);
    if (in->o->per & CT_PER_FILES)
        return ct_per_files(in, sink, NULL);
    if (in->o->per == CT_PER_GPU)
        return ct_per_gpu(in, sink);
    return in->report->rows(in, sink);
}

static int print(const struct ct_input *in, FILE *out)
{
    const struct ct_format *format = in->o->format;
    struct ct_look look = {.in = in, .prefix = ""};
    if (format->document)
        return format->document(in, out);
    if (!format->sink && in->o->traces)
        return ct_trace_profile_rows(in, NULL, out);
    if (!format->sink)
        return in->o->per & CT_PER_FILES ? ct_per_files(in, NULL, out)
                                         : in->report->nvprof(in, out);
    int refused = 0;
    struct ct_sink *chosen = ct_choice_open(format->sink(out, &look), in->o, &refused);
    struct ct_sink *sink = ct_stage_open(chosen, in->o, &refused);
    int status = put_rows(in, sink);
    ct_sink_close(sink);
    return refused ? refused : status;
}

static int print_to_output(struct ct_input *in)
{
    struct ct_output out;
    if (in->o->format->kind == CT_FORMAT_PATH)
        return print(in, NULL);
    if (!ct_output_open(&out, in->o))
        return EXIT_FAILURE;
    in->width = in->o->wide ? 0 : out.width;
    in->color = out.color;
    int status = print(in, out.f);
    return ct_output_close(&out, in->o) ? status : EXIT_FAILURE;
}

/* Thousands of ranks have as many GPUs: they are told apart only where it is asked for. */
static enum ct_devices_as devices_of(const struct ct_options *o)
{
    bool ranks = o->report == &ct_reports[CT_REPORT_RANKS] && !o->format->document;
    return ranks ? CT_DEVICES_AS_ONE : CT_DEVICES_EACH;
}

static int report(const struct ct_options *o)
{
    struct ct_input in = {.o = o, .report = o->report, .device = CT_VIEW_ALL_DEVICES};
    enum ct_needs needs = needs_of(o);
    if (needs == CT_NEEDS_COMMAND)
        return o->report->rows(&in, NULL);
    if (needs == CT_NEEDS_FILES || o->per & CT_PER_FILES || o->traces)
        return print_to_output(&in);
    struct ct_merged m = {
        .details = needs != CT_NEEDS_SUMMARY, .grouped = o->grouped, .devices_as = devices_of(o)};
    bool good = merge_files(&m, o, needs == CT_NEEDS_TRACED);
    in.m = &m;
    in.partial = !good;
    int status = m.process_count ? print_to_output(&in) : EXIT_FAILURE;
    ct_merge_free(&m);
    return good ? status : EXIT_FAILURE;
}

static int run(struct ct_options *o, int argc, char **argv)
{
    switch (ct_options_parse(o, argc, argv)) {
    case CT_OPTIONS_RUN:
        if (o->live)
            ct_host_watch();
        return report(o);
    case CT_OPTIONS_DONE:
        return ct_output_finish(stdout, "standard output") ? EXIT_SUCCESS : EXIT_FAILURE;
    default:
        return 2;
    }
}

int main(int argc, char **argv)
{
    struct ct_options o;
    int status = run(&o, argc, argv);
    free(o.baselines.texts);
    return status;
}
