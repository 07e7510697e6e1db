/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report/digits.h"
#include "report/trace/trace_nvprof.h"

/* Units are columns of their own width, numbers fill them, and longer texts are cut. */
#define CELL 64
/* No column is, with the two blanks before it: copies of one size take no call. */
#define WIDEST 24

static const struct {
    int width;
    const char *heading;
} columns[] = {
#define X(id, width, heading) {width, heading},
    CT_TRACE_COLUMNS(X)
#undef X
};

static bool is_shown(const struct ct_trace_print *p, enum ct_trace_column column)
{
    if (column >= CT_TRACE_DEVICE)
        return p->has_ops;
    if (column >= CT_TRACE_SIZE)
        return p->has_moves;
    return column >= CT_TRACE_GRID ? p->has_kernels : true;
}

static void put_cell(struct ct_string *out, const char *text, enum ct_trace_column column)
{
    size_t width = (size_t)columns[column].width, len = strnlen(text, width);
    char *to = ct_string_room(out, 2 * WIDEST);
    memset(to, ' ', WIDEST);
    to += width - len + (column ? 2 : 0);
    memcpy(to, text, WIDEST);
    ct_string_end(out, to + len);
}

static void put_cells(struct ct_trace_print *p, char cells[][CELL], const char *name)
{
    for (enum ct_trace_column c = 0; c < CT_TRACE_COLUMN_COUNT; c++)
        if (is_shown(p, c))
            put_cell(&p->text, cells[c], c);
    ct_string_put(&p->text, *name ? "  " : "");
    ct_string_put(&p->text, name);
}

/* Calls have times alone: their text in all other columns is always the same, and made once. */
static void put_call_cells(struct ct_trace_print *p, char cells[][CELL])
{
    put_cell(&p->text, cells[CT_TRACE_START], CT_TRACE_START);
    put_cell(&p->text, cells[CT_TRACE_DURATION], CT_TRACE_DURATION);
    for (enum ct_trace_column c = CT_TRACE_DURATION + 1; !p->has_blank && c < CT_TRACE_COLUMN_COUNT;
         c++)
        if (is_shown(p, c))
            put_cell(&p->blank, cells[c], c);
    p->has_blank = true;
    ct_string_add(&p->text, p->blank.data, p->blank.len);
}

/* ---- headings ---- */

static void put_units(struct ct_trace_print *p)
{
    char cells[CT_TRACE_COLUMN_COUNT][CELL] = {{0}};
    strcpy(cells[CT_TRACE_START], ct_unit_name(p->start_unit));
    strcpy(cells[CT_TRACE_DURATION], ct_unit_name(p->duration_unit));
    strcpy(cells[CT_TRACE_STATIC], ct_byte_unit_name(p->static_unit));
    strcpy(cells[CT_TRACE_DYNAMIC], ct_byte_unit_name(p->dynamic_unit));
    strcpy(cells[CT_TRACE_SIZE], ct_byte_unit_name(p->size_unit));
    strcat(strcpy(cells[CT_TRACE_RATE], ct_byte_unit_name(p->rate_unit)), "/s");
    put_cells(p, cells, "");
    while (p->text.data[p->text.len - 1] == ' ')
        p->text.len--;
    ct_string_put(&p->text, "\n");
}

void ct_trace_text_heading(struct ct_trace_print *p)
{
    char cells[CT_TRACE_COLUMN_COUNT][CELL];
    for (int c = 0; c < CT_TRACE_COLUMN_COUNT; c++)
        strcpy(cells[c], columns[c].heading);
    put_cells(p, cells, "Name");
    ct_string_put(&p->text, "\n");
    if (!p->automatic)
        put_units(p);
}

void ct_trace_text_legend(struct ct_trace_print *p)
{
    if (p->has_kernels || p->has_moves)
        ct_string_put(&p->text, "\n");
    if (p->has_kernels)
        ct_string_put(&p->text,
                      "Regs: Number of registers used per CUDA thread. This number includes "
                      "registers used internally by the CUDA driver and/or tools and can be more "
                      "than what the compiler shows.\n"
                      "SSMem: Static shared memory allocated per CUDA block.\n"
                      "DSMem: Dynamic shared memory allocated per CUDA block.\n");
    if (p->has_moves)
        ct_string_put(&p->text,
                      "SrcMemType: The type of source memory accessed by memory operation/copy\n"
                      "DstMemType: The type of destination memory accessed by memory "
                      "operation/copy\n");
}

/* ---- lines ---- */

static void set_time(const struct ct_trace_print *p, char *cell, uint64_t ns, enum ct_unit unit)
{
    if (p->automatic)
        ct_units_time(cell, ns, 8);
    else
        ct_units_cell(cell, ns, unit);
}

static void set_size(const struct ct_trace_print *p, char *cell, uint64_t bytes,
                     enum ct_byte_unit unit)
{
    if (p->automatic)
        ct_units_size(cell, bytes);
    else
        ct_units_size_cell(cell, bytes, unit);
}

static void set_rate(const struct ct_trace_print *p, char *cell, uint64_t bytes, uint64_t ns)
{
    if (p->automatic || !ns)
        ct_units_throughput(cell, bytes, ns);
    else
        ct_units_rate_cell(cell, (double)bytes * 1e9 / (double)ns, p->rate_unit);
}

/* "(3907 1 1)" */
static void set_extent(char *cell, const uint32_t extent[3])
{
    char *to = cell;
    for (int i = 0; i < 3; i++) {
        *to++ = i ? ' ' : '(';
        to = ct_digits_count(to, extent[i]);
    }
    strcpy(to, ")");
}

static void set_kernel(const struct ct_trace_print *p, char cells[][CELL],
                       const struct ct_trace_row *row, const struct ct_trace_shape *shape)
{
    if (row->registers != UINT32_MAX)
        *ct_digits_count(cells[CT_TRACE_REGISTERS], row->registers) = 0;
    if (row->static_shared_bytes != UINT32_MAX)
        set_size(p, cells[CT_TRACE_STATIC], row->static_shared_bytes, p->static_unit);
    if (!shape->id)
        return;
    set_extent(cells[CT_TRACE_GRID], shape->grid);
    set_extent(cells[CT_TRACE_BLOCK], shape->block);
    set_size(p, cells[CT_TRACE_DYNAMIC], shape->dynamic_shared_bytes, p->dynamic_unit);
}

static void set_move(const struct ct_trace_print *p, char cells[][CELL], const struct ct_event *e)
{
    const char *source = ct_event_source(e), *target = ct_event_target(e);
    set_size(p, cells[CT_TRACE_SIZE], e->op.bytes, p->size_unit);
    set_rate(p, cells[CT_TRACE_RATE], e->op.bytes, e->end_ns - e->start_ns);
    strcpy(cells[CT_TRACE_SOURCE], source ? source : "-");
    strcpy(cells[CT_TRACE_TARGET], target ? target : "-");
}

/* The name that the program gave, or the number. */
static void set_place(char *cell, const char *name, uint64_t number)
{
    if (name)
        *stpncpy(cell, name, CELL - 1) = 0;
    else
        *ct_digits_count(cell, number) = 0;
}

static void set_op(struct ct_trace_print *p, char cells[][CELL], const struct ct_event *e)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_row *row = &t->rows.at[e->op.row];
    const struct ct_trace_stream *stream = &t->streams.at[e->op.stream];
    const char *device = ct_event_device(&p->names, e->file, stream->device);
    *stpncpy(cells[CT_TRACE_DEVICE], device, CELL - 1) = 0;
    set_place(cells[CT_TRACE_CONTEXT], ct_event_context_name(&p->names, e), stream->context);
    set_place(cells[CT_TRACE_STREAM], ct_event_stream_name(&p->names, e), stream->id);
    if (row->kind == CT_ROW_KERNEL)
        set_kernel(p, cells, row, &t->shapes.at[e->op.shape]);
    else if (row->kind != CT_ROW_GRAPH)
        set_move(p, cells, e);
}

static void put_correlation(struct ct_string *out, uint64_t correlation)
{
    char text[CT_UNITS_BYTES];
    strcpy(ct_digits_count(text, correlation), "]");
    ct_string_put(out, " [");
    ct_string_put(out, text);
}

static void put_name(struct ct_trace_print *p, const struct ct_event *e)
{
    if (e->is_call) {
        ct_string_put(&p->text, ct_event_api(&p->names, e->file, e->call.api));
        const char *kernel = ct_trace_launched(p, e);
        if (!kernel)
            return;
        ct_string_put(&p->text, " (");
        ct_string_put(&p->text, kernel);
        put_correlation(&p->text, e->call.correlation);
        ct_string_put(&p->text, ")");
        return;
    }
    ct_string_put(&p->text, ct_event_row(&p->names, e->file, e->op.row));
    if (e->file->t->rows.at[e->op.row].kind == CT_ROW_KERNEL)
        put_correlation(&p->text, e->op.correlation);
}

void ct_trace_text_line(struct ct_trace_print *p, const struct ct_event *e)
{
    char cells[CT_TRACE_COLUMN_COUNT][CELL];
    for (int c = 0; c < CT_TRACE_COLUMN_COUNT; c++)
        memcpy(cells[c], "-", 2);
    set_time(p, cells[CT_TRACE_START], e->start_ns, p->start_unit);
    set_time(p, cells[CT_TRACE_DURATION], e->end_ns - e->start_ns, p->duration_unit);
    if (e->is_call) {
        put_call_cells(p, cells);
    } else {
        set_op(p, cells, e);
        put_cells(p, cells, "");
    }
    ct_string_put(&p->text, "  ");
    put_name(p, e);
    ct_string_put(&p->text, "\n");
}
