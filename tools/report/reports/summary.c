/* SPDX-License-Identifier: MIT */
#include "report/reports/summary.h"

#include <stdlib.h>
#include <string.h>

#include "report/files/output.h"
#include "report/names.h"
#include "report/profile/graph_lines.h"
#include "report/profile_heading.h"
#include "report/reports/advice.h"
#include "report/reports/details.h"
#include "report/reports/headline.h"
#include "report/reports/nvtx_report.h"
#include "report/reports/truth.h"
#include "report/reports/unified_report.h"
#include "report/sinks/csv_text.h"
#include "report/sinks/nvprof.h"
#include "report/sinks/per.h"
#include "report/sinks/stage.h"
#include "report/stacks/launchers.h"
#include "report/terminal.h"

#define FIRST_ROWS 12 /* of each section at first; with all the lines around them two screens */

struct report {
    FILE *out;
    FILE *text; /* for lines that are not of the table: out, or with CSV or is_first `lines` */
    char *lines;
    size_t lines_bytes;
    bool is_first; /* a program's first table on a terminal: it fits, and is short */
    const struct ct_input *in;
    const struct ct_merged *m; /* its profile and options */
    const struct ct_options *o;
    struct ct_view_options view;
    char prefix[24]; /* "======== ", or with the process id at the end of a program */
    int status;
};

static void begin_text(struct report *r)
{
    r->text = r->o->csv || r->is_first ? open_memstream(&r->lines, &r->lines_bytes) : r->out;
    if (!r->text)
        ct_memory_fail();
}

static void end_text(struct report *r, FILE *out)
{
    if (r->text == r->out)
        return;
    if (fclose(r->text))
        ct_memory_fail();
    if (r->o->csv)
        ct_csv_text(out, r->lines);
    else
        ct_terminal_fit(out, r->lines, r->in->width);
    free(r->lines);
}

static void print_processes(const struct report *r)
{
    struct ct_live_process processes[CT_LIVE_PROCESSES] = {{0}};
    struct ct_string lines = {0};
    for (size_t i = 0; i < r->m->process_count && i < CT_LIVE_PROCESSES; i++) {
        const struct ct_file_process *p = &r->m->processes[i];
        processes[i] = (struct ct_live_process){p->pid, ct_merge_name(r->m, p->command)};
    }
    ct_live_heading(&lines, processes, r->m->process_count);
    fputs(lines.data, r->text);
    ct_string_free(&lines);
}

static const struct ct_column columns[CT_SUMMARY_COLUMNS] = {
    [CT_SUMMARY_TYPE] = {"type", "Type", CT_CELL_TEXT, CT_FOLD_GROUP, 0},
    [CT_SUMMARY_PERCENT] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_SUM, 2},
    [CT_SUMMARY_TIME] = {"time_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [CT_SUMMARY_CALLS] = {"calls", "Calls", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [CT_SUMMARY_AVG] = {"avg_ns", "Avg", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [CT_SUMMARY_MIN] = {"min_ns", "Min", CT_CELL_TIME_NS, CT_FOLD_LEAST, 0},
    [CT_SUMMARY_MAX] = {"max_ns", "Max", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [CT_SUMMARY_NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [CT_SUMMARY_BOUNDS] = {"upper_bounds", "Bounds", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [CT_SUMMARY_NAMES] = {"names", "Names", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [CT_SUMMARY_LINE] = {"line", "Line", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [CT_SUMMARY_LINE_PERCENT] = {"line_percent", "Line(%)", CT_CELL_PERCENT, CT_FOLD_NONE,
                                 2 | CT_OPTIONAL(1)},
};

const struct ct_relation ct_summary_relation = {"summary", "Summary", columns, CT_SUMMARY_NAMES};
static const struct ct_relation groups = {"summary", "Summary", columns, CT_SUMMARY_LINE};
static const struct ct_relation with_lines = {"summary", "Summary", columns, CT_SUMMARY_COLUMNS};

static void put_extremes(struct ct_cell *cells, const struct ct_line *line)
{
    if (line->min_ns == UINT64_MAX)
        return;
    cells[CT_SUMMARY_MIN] = ct_cell_count(line->min_ns);
    cells[CT_SUMMARY_MAX] = ct_cell_count(line->max_ns);
}

/* launchers: by origins of the view's lines, or NULL; they are of m. */
static void put_section(struct ct_sink *sink, const char *type, const struct ct_view *v,
                        const struct ct_merged *m, const struct ct_launcher *launchers)
{
    struct ct_string place = {0};
    for (size_t i = 0; i < v->count; i++) {
        const struct ct_line *line = &v->lines[i];
        struct ct_cell cells[CT_SUMMARY_COLUMNS] = {
            [CT_SUMMARY_TYPE] = ct_cell_text(type),
            [CT_SUMMARY_CALLS] = ct_cell_count(line->calls),
            [CT_SUMMARY_NAME] = ct_cell_text(line->name),
        };
        if (line->names)
            cells[CT_SUMMARY_NAMES] = ct_cell_count(line->names);
        if (line->timed) {
            cells[CT_SUMMARY_PERCENT] = ct_cell_number(ct_view_percent(v, line));
            cells[CT_SUMMARY_TIME] = ct_cell_count(line->total_ns);
            cells[CT_SUMMARY_AVG] = ct_cell_count(line->avg_ns);
            cells[CT_SUMMARY_TIME].estimate = ct_view_is_estimate(line);
            cells[CT_SUMMARY_AVG].estimate = ct_view_is_estimate(line);
            cells[CT_SUMMARY_AVG].doubtful = line->uncertain;
            cells[CT_SUMMARY_AVG].bound = line->bound;
            if (line->row)
                cells[CT_SUMMARY_BOUNDS] = ct_cell_count(line->bounds);
            put_extremes(cells, line);
        }
        const struct ct_launcher *launcher =
            launchers && line->origin != CT_MERGE_NONE ? &launchers[line->origin] : NULL;
        if (launcher && launcher->line != CT_MERGE_NONE) {
            ct_string_clear(&place);
            ct_launchers_place(&place, m, launcher->line);
            cells[CT_SUMMARY_LINE] = ct_cell_text(place.data);
            cells[CT_SUMMARY_LINE_PERCENT] = ct_cell_number(launcher->percent);
        }
        ct_sink_row(sink, cells);
    }
    ct_string_free(&place);
}

static bool wants_gpu(const struct ct_options *o)
{
    return o->gpu_summary || !o->api_summary;
}

static bool wants_apis(const struct ct_options *o)
{
    return o->api_summary || !o->gpu_summary;
}

/* Calls are the host's: of one device alone there are none. `marks`: they are explained. */
static void put_summary(const struct ct_input *in, struct ct_sink *sink, const struct ct_view *gpu,
                        bool marks)
{
    struct ct_view apis, all;
    struct ct_string notes = {0};
    struct ct_view_options o = ct_report_view(in->o);
    struct ct_launcher *launchers = ct_launchers_of(in->m, gpu, in->device, &o);
    ct_graph_lines(&all, gpu, in->m, &o);
    ct_view_apis(&apis, in->m);
    ct_sink_begin(sink, launchers ? &with_lines : in->o->grouped ? &groups : &ct_summary_relation);
    if (wants_gpu(in->o))
        put_section(sink, CT_SUMMARY_GPU, &all, in->m, launchers);
    if (in->device == CT_VIEW_ALL_DEVICES && wants_apis(in->o))
        put_section(sink, CT_SUMMARY_API, &apis, in->m, NULL);
    if (marks && wants_gpu(in->o))
        ct_graph_lines_explain(&notes, &all);
    ct_sink_notes(sink, notes.data);
    ct_sink_end(sink);
    ct_string_free(&notes);
    free(launchers);
    ct_view_free(&apis);
    ct_view_free(&all);
}

static void print_heading(struct report *r)
{
    begin_text(r);
    if (r->o->live && r->m->process_count)
        print_processes(r);
    fprintf(r->text, "%sProfiling result:\n", r->prefix);
    if (r->is_first)
        ct_headline_print(r->text, r->prefix, r->m);
    end_text(r, r->out);
}

/* The table of one device or of all; gpu is its view. */
static void print_table(struct report *r, uint32_t device, const struct ct_view *gpu)
{
    struct ct_input in = *r->in;
    in.device = device;
    struct ct_look look = {.in = &in, .prefix = r->prefix};
    struct ct_sink *sink = ct_stage_open(ct_sink_nvprof(r->out, &look), r->o, &r->status);
    put_summary(&in, sink, gpu, true);
    ct_sink_close(sink);
}

static void print_device(struct report *r, uint32_t device)
{
    const struct ct_file_device *d = &r->m->devices[device].sum;
    struct ct_view gpu;
    struct ct_string name = {0};
    ct_view_gpu(&gpu, r->m, device, &r->view);
    ct_name_safe(&name, ct_merge_name(r->m, d->name));
    if (gpu.count) {
        begin_text(r);
        fprintf(r->text, "\n%sDevice \"%s (%u)\"\n", r->prefix, name.data, d->ordinal);
        end_text(r, r->out);
        print_table(r, device, &gpu);
    }
    ct_string_free(&name);
    ct_view_free(&gpu);
}

static void print_devices(struct report *r)
{
    uint32_t *order = ct_per_devices(r->m);
    for (uint32_t i = 0; i < r->m->device_keys.count; i++)
        print_device(r, order[i]);
    free(order);
}

/* Names the profile's file at the end of a program. A profile that was never a file has none. */
static void print_file(const struct report *r, const char *file)
{
    char *path = realpath(file, NULL);
    if (path && strncmp(path, "/memfd:", 7) && strncmp(path, "/proc/", 6)) {
        struct ct_string name = {0};
        ct_name_safe(&name, path);
        fprintf(r->text, "%sGenerated result file: %s\n", r->prefix, name.data);
        ct_string_free(&name);
    }
    free(path);
}

/* Prints the lines beside the tables. */
static void print_truth(struct report *r, const struct ct_view *gpu)
{
    const struct ct_options *o = r->o;
    begin_text(r);
    if (!o->csv)
        putc('\n', r->text);
    ct_truth_print(r->text, r->prefix, r->m, gpu, &r->view);
    if (!o->csv) {
        if (!ct_nvprof_has_lines(r->in->width)) {
            end_text(r, r->out);
            ct_launchers_print(r->out, r->prefix, r->in, gpu, &r->view);
            begin_text(r);
        }
        ct_advice_print(r->text, r->prefix, r->m);
    }
    if (o->details && !o->csv) {
        end_text(r, r->out);
        ct_details_print(r->out, r->prefix, r->in);
        begin_text(r);
    }
    for (int i = 0; o->live && i < o->file_count; i++)
        print_file(r, o->files[i]);
    end_text(r, ct_output_below(o, r->out));
}

int ct_report_summary_nvprof(const struct ct_input *in, FILE *out)
{
    const struct ct_merged *m = in->m;
    const struct ct_options *o = in->o;
    bool is_first = o->live && in->width && !o->csv;
    struct ct_options short_ones = *o;
    struct report r = {
        .out = out, .in = in, .m = m, .o = o, .is_first = is_first, .prefix = "======== "};
    if (is_first && !o->top) {
        short_ones.top = FIRST_ROWS;
        r.o = o = &short_ones;
    }
    struct ct_input own = *in;
    own.o = o;
    r.in = in = &own;
    struct ct_view gpu;
    r.view = ct_report_view(o);
    if ((o->live || o->per == CT_PER_PROCESS) && m->process_count)
        snprintf(r.prefix, sizeof(r.prefix), "==%u== ", m->processes[0].pid);
    ct_view_gpu(&gpu, m, CT_VIEW_ALL_DEVICES, &r.view);
    print_heading(&r);
    if (o->csv) /* the last line of rows is one of these */
        print_truth(&r, &gpu);
    if (o->per == CT_PER_GPU && gpu.count)
        print_devices(&r);
    else
        print_table(&r, CT_VIEW_ALL_DEVICES, &gpu);
    ct_unified_print(out, r.prefix, in);
    if (o->per != CT_PER_GPU)
        ct_nvtx_print(out, r.prefix, in);
    if (!o->csv)
        print_truth(&r, &gpu);
    ct_view_free(&gpu);
    return r.status;
}

int ct_report_print(FILE *out, const struct ct_merged *m, const struct ct_options *o)
{
    struct ct_input in = {
        .o = o, .report = &ct_reports[CT_REPORT_SUMMARY], .m = m, .device = CT_VIEW_ALL_DEVICES};
    return ct_report_summary_nvprof(&in, out);
}

int ct_report_summary(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_view_options o = ct_report_view(in->o);
    struct ct_view gpu;
    ct_view_gpu(&gpu, in->m, in->device, &o);
    put_summary(in, sink, &gpu, false);
    ct_view_free(&gpu);
    return 0;
}
