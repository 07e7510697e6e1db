/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report/digits.h"
#include "report/trace/trace_nvprof.h"

/* ---- cells ---- */

static void put_count(struct ct_string *out, uint64_t value)
{
    ct_string_end(out, ct_digits_count(ct_string_room(out, CT_DIGITS_BYTES), value));
}

static void put_time(struct ct_string *out, uint64_t ns, enum ct_unit unit)
{
    ct_string_end(out, ct_units_csv(ct_string_room(out, CT_DIGITS_BYTES), ns, unit));
}

static void put_size(struct ct_string *out, uint64_t bytes, enum ct_byte_unit unit)
{
    ct_string_end(out, ct_units_size_csv(ct_string_room(out, CT_DIGITS_BYTES), bytes, unit));
}

static void put_rate(struct ct_string *out, double rate, enum ct_byte_unit unit)
{
    ct_string_end(out, ct_units_rate_csv(ct_string_room(out, CT_DIGITS_BYTES), rate, unit));
}

static void put_quoted(struct ct_string *out, const char *text)
{
    ct_string_put(out, "\"");
    ct_string_put(out, text);
    ct_string_put(out, "\"");
}

/* ---- headings ---- */

static void put_units(struct ct_trace_print *p)
{
    ct_string_printf(&p->text, "%s,%s", ct_unit_name(p->start_unit),
                     ct_unit_name(p->duration_unit));
    if (p->has_kernels)
        ct_string_printf(&p->text, ",,,,,,,,%s,%s", ct_byte_unit_name(p->static_unit),
                         ct_byte_unit_name(p->dynamic_unit));
    if (p->has_moves)
        ct_string_printf(&p->text, ",%s,%s/s,,", ct_byte_unit_name(p->size_unit),
                         ct_byte_unit_name(p->rate_unit));
    ct_string_put(&p->text, p->has_ops ? ",,,,,\n" : ",,\n");
}

void ct_trace_csv_heading(struct ct_trace_print *p)
{
    ct_string_put(&p->text, "\"Start\",\"Duration\"");
    if (p->has_kernels)
        ct_string_put(&p->text, ",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\","
                                "\"Block Z\",\"Registers Per Thread\",\"Static SMem\","
                                "\"Dynamic SMem\"");
    if (p->has_moves)
        ct_string_put(&p->text, ",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\"");
    if (p->has_ops)
        ct_string_put(&p->text, ",\"Device\",\"Context\",\"Stream\"");
    ct_string_put(&p->text, ",\"Name\",\"Correlation_ID\"\n");
    put_units(p);
}

/* ---- lines ---- */

static void put_kernel(struct ct_trace_print *p, const struct ct_trace_row *row,
                       const struct ct_trace_shape *shape)
{
    struct ct_string *out = &p->text;
    for (int i = 0; i < 6; i++) {
        ct_string_put(out, ",");
        if (shape->id)
            put_count(out, i < 3 ? shape->grid[i] : shape->block[i - 3]);
    }
    ct_string_put(out, ",");
    if (row->registers != UINT32_MAX)
        put_count(out, row->registers);
    ct_string_put(out, ",");
    if (row->static_shared_bytes != UINT32_MAX)
        put_size(out, row->static_shared_bytes, p->static_unit);
    ct_string_put(out, ",");
    if (shape->id)
        put_size(out, shape->dynamic_shared_bytes, p->dynamic_unit);
}

static void put_move(struct ct_trace_print *p, const struct ct_event *e)
{
    const char *source = ct_event_source(e), *target = ct_event_target(e);
    uint64_t ns = e->end_ns - e->start_ns;
    ct_string_put(&p->text, ",");
    put_size(&p->text, e->op.bytes, p->size_unit);
    ct_string_put(&p->text, ",");
    if (ns)
        put_rate(&p->text, (double)e->op.bytes * 1e9 / (double)ns, p->rate_unit);
    ct_string_put(&p->text, ",");
    if (source)
        put_quoted(&p->text, source);
    ct_string_put(&p->text, ",");
    if (target)
        put_quoted(&p->text, target);
}

/* The name that the program gave, or the number. */
static void put_named(struct ct_string *out, const char *name, uint64_t number)
{
    ct_string_put(out, ",\"");
    if (name)
        ct_string_put(out, name);
    else
        put_count(out, number);
    ct_string_put(out, "\"");
}

static void put_place(struct ct_trace_print *p, const struct ct_event *e)
{
    const struct ct_trace_stream *stream = &e->file->t->streams.at[e->op.stream];
    ct_string_put(&p->text, ",");
    put_quoted(&p->text, ct_event_device(&p->names, e->file, stream->device));
    put_named(&p->text, ct_event_context_name(&p->names, e), stream->context);
    put_named(&p->text, ct_event_stream_name(&p->names, e), stream->id);
}

static void put_op(struct ct_trace_print *p, const struct ct_event *e)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_row *row = &t->rows.at[e->op.row];
    if (p->has_kernels && row->kind == CT_ROW_KERNEL)
        put_kernel(p, row, &t->shapes.at[e->op.shape]);
    else if (p->has_kernels)
        ct_string_put(&p->text, ",,,,,,,,,");
    if (p->has_moves && row->kind != CT_ROW_KERNEL && row->kind != CT_ROW_GRAPH)
        put_move(p, e);
    else if (p->has_moves)
        ct_string_put(&p->text, ",,,,");
    put_place(p, e);
}

static void put_name(struct ct_trace_print *p, const struct ct_event *e)
{
    uint64_t correlation = e->is_call ? e->call.correlation : e->op.correlation;
    ct_string_put(&p->text, ",\"");
    ct_string_put(&p->text, e->is_call ? ct_event_api(&p->names, e->file, e->call.api)
                                       : ct_event_row(&p->names, e->file, e->op.row));
    const char *kernel = e->is_call ? ct_trace_launched(p, e) : NULL;
    if (kernel) {
        ct_string_put(&p->text, " (");
        ct_string_put(&p->text, kernel);
        ct_string_put(&p->text, " [");
        put_count(&p->text, correlation);
        ct_string_put(&p->text, "])");
    }
    ct_string_put(&p->text, "\",");
    put_count(&p->text, correlation);
    ct_string_put(&p->text, "\n");
}

void ct_trace_csv_line(struct ct_trace_print *p, const struct ct_event *e)
{
    put_time(&p->text, e->start_ns, p->start_unit);
    ct_string_put(&p->text, ",");
    put_time(&p->text, e->end_ns - e->start_ns, p->duration_unit);
    if (e->is_call) {
        ct_string_put(&p->text, p->has_kernels ? ",,,,,,,,," : "");
        ct_string_put(&p->text, p->has_moves ? ",,,," : "");
        ct_string_put(&p->text, p->has_ops ? ",,," : "");
    } else {
        put_op(p, e);
    }
    put_name(p, e);
}
