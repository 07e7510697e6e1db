/* SPDX-License-Identifier: MIT */
#include "report/trace/trace_nvprof.h"
#include "report/files/output.h"

#include <string.h>

#include "report/names.h"
#include "report/profile_heading.h"
#include "report/reports.h"
#include "report/sinks/csv_text.h"
#include "report/trace/trace_options.h"

const char *ct_trace_launched(struct ct_trace_print *p, const struct ct_event *call)
{
    uint32_t link = ct_links_get(&call->file->links, call->call.correlation);
    bool is_row = link && link <= call->file->t->rows.count;
    return is_row ? ct_event_row(&p->names, call->file, link - 1) : NULL;
}

static enum ct_unit time_unit(const struct ct_options *o, uint64_t largest_ns)
{
    bool by_column = o->unit == CT_UNIT_AUTO || o->unit == CT_UNIT_COLUMN;
    return by_column ? ct_unit_of(largest_ns) : (enum ct_unit)o->unit;
}

/* The user's unit is for times alone. */
static void choose_units(struct ct_trace_print *p, const struct ct_options *o)
{
    const struct ct_timeline_facts *facts = &p->tl.facts;
    p->automatic = o->unit == CT_UNIT_AUTO;
    p->start_unit = time_unit(o, facts->last_start_ns);
    p->duration_unit = time_unit(o, facts->longest_ns);
    p->static_unit = ct_byte_unit_of((double)facts->most_static_bytes);
    p->dynamic_unit = ct_byte_unit_of((double)facts->most_dynamic_bytes);
    p->size_unit = ct_byte_unit_of((double)facts->most_bytes);
    p->rate_unit = ct_byte_unit_of(facts->most_rate);
    p->has_ops = facts->ops;
    p->has_kernels = facts->kernels;
    p->has_moves = facts->moves;
}

static void print_lines(struct ct_trace_print *p, bool csv)
{
    const struct ct_event *e;
    while (ct_timeline_next(&p->tl, &e)) {
        if (csv)
            ct_trace_csv_line(p, e);
        else
            ct_trace_text_line(p, e);
        ct_string_write_much(&p->text, p->out);
    }
}

/* The lines above the table: a CSV has them, too. */
static void print_heading(struct ct_trace_print *p, const struct ct_options *o)
{
    struct ct_live_process processes[CT_LIVE_PROCESSES] = {{0}};
    struct ct_string lines = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < p->tl.file_count; i++) {
        const struct ct_trace_reader *t = p->tl.files[i].t;
        if (!t) /* gone since it was first read, which has been said */
            continue;
        if (count < CT_LIVE_PROCESSES)
            processes[count] = (struct ct_live_process){t->process.pid, t->process.command};
        count++;
    }
    if (o->live && count) {
        ct_live_heading(&lines, processes, count);
        snprintf(p->prefix, sizeof(p->prefix), "==%u== ", processes[0].pid);
    }
    ct_string_printf(&lines, "%sProfiling result:\n", p->prefix);
    if (o->csv)
        ct_csv_text(p->out, lines.data);
    else
        fputs(lines.data, p->out);
    ct_string_free(&lines);
}

static void print_trace(struct ct_trace_print *p, const struct ct_options *o)
{
    const struct ct_timeline_facts *facts = &p->tl.facts;
    if (p->tl.o.ops && !facts->ops)
        ct_string_put(&p->text, "No kernels were profiled.\n");
    if (p->tl.o.calls && !facts->calls)
        ct_string_put(&p->text, "No API activities were profiled.\n");
    if (!facts->ops && !facts->calls)
        return;
    if (o->csv)
        ct_trace_csv_heading(p);
    else
        ct_trace_text_heading(p);
    print_lines(p, o->csv);
    if (!o->csv)
        ct_trace_text_legend(p);
}

/* Says the losses below the lines, in nvprof's manner. */
static void print_notes(struct ct_trace_print *p, const struct ct_options *o)
{
    bool csv = o->csv;
    struct ct_string lines = {0};
    char begin[sizeof(p->prefix) + sizeof("Warning: ")];
    strcat(strcpy(begin, p->prefix), "Warning: ");
    ct_timeline_notes(&p->tl, begin, &lines);
    if (lines.len && !csv)
        ct_string_put(&p->text, "\n");
    ct_string_write(&p->text, p->out);
    if (lines.len && csv)
        ct_csv_text(ct_output_below(o, p->out), lines.data);
    else if (lines.len)
        fputs(lines.data, p->out);
    ct_string_free(&lines);
}

int ct_report_trace_nvprof(const struct ct_input *in, FILE *out)
{
    const struct ct_options *o = in->o;
    struct ct_trace_print p = {
        .out = out, .names = {.naming = ct_report_naming(o)}, .prefix = "======== "};
    struct ct_timeline_options options = ct_trace_options(o);
    if (options.calls)
        options.links = CT_TIMELINE_KERNELS;
    if (o->csv)
        p.names.spell = ct_csv_cell;
    ct_timeline_open(&p.tl, o->files, o->file_count, &options);
    choose_units(&p, o);
    if (p.tl.file_count) {
        print_heading(&p, o);
        if (o->csv) /* nothing is to follow the last row */
            print_notes(&p, o);
        print_trace(&p, o);
        if (o->csv)
            ct_string_write(&p.text, p.out);
        else
            print_notes(&p, o);
    }
    int status = p.tl.failed;
    ct_event_names_free(&p.names);
    ct_string_free(&p.text);
    ct_string_free(&p.blank);
    ct_timeline_close(&p.tl);
    return status;
}
