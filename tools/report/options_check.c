/* SPDX-License-Identifier: MIT */
/* Whether options go together, and with the report and the format. */
#include <regex.h>
#include <stdio.h>

#include "report/options_table.h"
#include "report/reports.h"
#include "report/sinks/nvprof.h"
#include "report/sinks/stage.h"

static enum ct_options_result check_filter(const char *filter)
{
    char after[128] = "': ";
    regex_t pattern;
    int error = regcomp(&pattern, filter, REG_EXTENDED | REG_NOSUB);
    if (!error) {
        regfree(&pattern);
        return CT_OPTIONS_RUN;
    }
    regerror(error, NULL, after + 3, sizeof(after) - 3);
    return ct_options_complain("--filter '", filter, after);
}

/* Needs of reports that are not of one profile. */
static enum ct_options_result check_report(const struct ct_options *o)
{
    bool diff = o->report == &ct_reports[CT_REPORT_DIFF];
    bool merge = o->report == &ct_reports[CT_REPORT_MERGE];
    bool page = o->report == &ct_reports[CT_REPORT_EXPLAIN];
    bool two_sides = o->behind && o->behind < o->file_count;
    if (diff && o->file_count != 2 && !two_sides)
        return ct_options_complain("", "diff needs OLD and NEW, or OLD... -- NEW...", "");
    if (!diff && o->fail_over >= 0)
        return ct_options_complain("", "--fail-over is of the report diff", "");
    if (!page && o->baselines.count)
        return ct_options_complain("", "--baseline is of the report explain: see diff", "");
    if (merge && !o->log_file)
        return ct_options_complain("", "merge needs -o FILE", "");
    bool compared = diff && o->format == &ct_formats[CT_FORMAT_HTML];
    if ((diff || merge || page) && o->format->document && !compared) {
        char after[128];
        snprintf(after, sizeof(after), " does not go with the report '%s'", o->report->name);
        return ct_options_complain("--format ", o->format->name, after);
    }
    return CT_OPTIONS_RUN;
}

/* A document is of the whole profile. */
static enum ct_options_result check_per(const struct ct_options *o)
{
    const char *per = "";
    for (const struct ct_option_choice *c = ct_option_rows[CT_OPTION_PER].choices; c->text; c++)
        per = c->value == o->per ? c->text : per;
    if (o->format->document)
        return ct_options_complain("--per ", per, " is for reports, not for this format");
    bool of_traces = (o->per == CT_PER_STREAM && o->report->may & CT_MAY_TRACE) ||
                     (o->per == CT_PER_RANGE && o->report->may & CT_PER_RANGE);
    if ((of_traces || o->per & ~o->report->may) && !(of_traces && o->traces)) {
        char after[128];
        snprintf(
            after, sizeof(after),
            of_traces ? " goes with '%s' of traces alone: a profile does not know it by %s"
            : o->per == CT_PER_LINE
                ? " does not go with '%s': see the reports lines and stacks, and diff --per %s"
            : o->per == CT_PER_RANGE
                ? " does not go with '%s': see the reports lines and stacks of traces, and nvtx"
            : o->per == CT_PER_MODULE
                ? " does not go with '%s': see the report modules, and diff --per %s"
                : " does not go with '%s': the files do not know it by %s",
            o->report->name, per);
        return ct_options_complain("--per ", per, after);
    }
    return CT_OPTIONS_RUN;
}

/*
 * Options that would change nothing: nvprof's traces are printed as they come, and so on. At the
 * end of a program it is too late to refuse them: the profile is printed without them.
 */
static enum ct_options_result check_honoured(const struct ct_options *o)
{
    const struct ct_report *r = o->report;
    bool document = o->format->document, nvprof = o->format == &ct_formats[CT_FORMAT_NVPROF];
    bool units = r->may & CT_MAY_UNIT && o->format->kind == CT_FORMAT_TEXT;
    enum ct_needs needs = document ? o->format->needs : r->needs;
    bool printed = needs != CT_NEEDS_COMMAND, sqlite = o->format == &ct_formats[CT_FORMAT_SQLITE];
    bool rows = !document && printed && !(nvprof && r == &ct_reports[CT_REPORT_TRACE]);
    bool diff = r == &ct_reports[CT_REPORT_DIFF];
    bool page = r == &ct_reports[CT_REPORT_EXPLAIN];
    bool traces = !diff && !page && (document || o->traces || needs == CT_NEEDS_FILES);
    const struct {
        const char *name;
        bool given, honoured, harmless; /* without it nothing is printed that is wrong */
    } options[] = {
        {"--sort", o->sort, rows, false},
        {"--filter", o->filter, rows && r != &ct_reports[CT_REPORT_UM_TOTAL_SUM], false},
        {"--columns", o->columns, rows && !nvprof, false},
        {"--percent-limit", o->percent_limit > 0, rows, false},
        {"--top", o->top, rows, false},
        {"--since", o->since_ns, traces, false},
        {"--until", o->until_ns != UINT64_MAX, traces, false},
        {"--group", o->grouped, document || r->may & CT_MAY_GROUP, false},
        {"--demangling off or :mangled", o->mangled, document || r->may & CT_MAY_MANGLE, true},
        {":base", o->base, document && !diff ? !sqlite : r->may & CT_MAY_BASE, false},
        {"--details", o->details, nvprof && r == &ct_reports[CT_REPORT_SUMMARY] && !o->traces,
         false},
        {"--nvtx-ranges", o->nvtx_ranges, nvprof && r == &ct_reports[CT_REPORT_SUMMARY], false},
        {"--raw", o->raw, document ? needs == CT_NEEDS_TRACED : r->may & CT_MAY_RAW && !o->traces,
         false},
        {"--normalized-time-unit", o->unit != CT_UNIT_AUTO, units, false},
        {"--color", o->color != CT_COLOR_AUTO, rows && o->format->kind == CT_FORMAT_TEXT, true},
        {"--format", o->format_name, printed, false},
        {"--csv", o->csv, printed && (nvprof || o->format == &ct_formats[CT_FORMAT_CSV]), false},
        {"--force-overwrite", o->force, sqlite, true},
        {"--print-gpu-summary", o->gpu_summary, r == &ct_reports[CT_REPORT_SUMMARY] && !document,
         false},
        {"--print-api-summary", o->api_summary, r == &ct_reports[CT_REPORT_SUMMARY] && !document,
         false},
        {"--print-gpu-trace", o->gpu_trace, r == &ct_reports[CT_REPORT_TRACE], false},
        {"--print-api-trace", o->api_trace, r == &ct_reports[CT_REPORT_TRACE], false},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && !o->live; i++) {
        char after[160];
        if (!options[i].given || options[i].honoured)
            continue;
        snprintf(after, sizeof(after), " does not go with %s '%s'%s%s%s%s",
                 document ? "the format" : "the report", document ? o->format->name : r->name,
                 o->traces ? " of traces" : "", document ? "" : " as ",
                 document ? "" : o->format->name, options[i].harmless ? " and is ignored" : "");
        if (!options[i].harmless)
            return ct_options_complain("", options[i].name, after);
        fprintf(stderr, "cutrace-report: %s%s\n", options[i].name, after);
    }
    return CT_OPTIONS_RUN;
}

enum ct_options_result ct_options_check(const struct ct_options *o)
{
    if (check_report(o) != CT_OPTIONS_RUN)
        return CT_OPTIONS_WRONG;
    if (!o->file_count)
        return ct_options_complain("", "no file is given, and there is no summary.bin", "");
    if (o->grouped && (o->mangled || o->base))
        return ct_options_complain("",
                                   "--group has names of its own: without it, --demangling off, "
                                   ":base or :mangled",
                                   "");
    if (o->csv && o->details)
        return ct_options_complain("", "--csv and --details exclude each other", "");
    if (o->csv && o->color != CT_COLOR_AUTO)
        return ct_options_complain("", "--csv and --color exclude each other", "");
    if (o->filter && check_filter(o->filter) != CT_OPTIONS_RUN)
        return CT_OPTIONS_WRONG;
    if (o->since_ns > o->until_ns)
        return ct_options_complain("", "--since is later than --until", "");
    if (o->format->kind == CT_FORMAT_PATH && !o->log_file)
        return ct_options_complain("--format ", o->format->name, " needs -o FILE");
    if (o->per && check_per(o) != CT_OPTIONS_RUN)
        return CT_OPTIONS_WRONG;
    if (check_honoured(o) != CT_OPTIONS_RUN)
        return CT_OPTIONS_WRONG;
    bool nvprof = o->format == &ct_formats[CT_FORMAT_NVPROF]; /* has more to print than the table */
    return nvprof && !ct_stage_has_columns(&ct_summary_relation, o) ? CT_OPTIONS_WRONG
                                                                    : CT_OPTIONS_RUN;
}
