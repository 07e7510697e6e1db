/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "report/exports/export_sqlite.h"
#include "report/names.h"

/* ---- names ---- */

struct version {
    const char *name;
    unsigned number;
};

static const struct version versions[] = {
#define X(name, number) {#name, number},
#include "report/runtime_versions.def"
#undef X
};

static int compare_name(const void *name, const void *version)
{
    return strcmp(name, ((const struct version *)version)->name);
}

static const struct ct_sqlite_name *row_name(struct ct_sqlite *s, const struct ct_event *e)
{
    struct ct_sqlite_names *names = &s->names[e->file->index];
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    names->rows =
        ct_memory_grow(names->rows, &names->rows_size, (size_t)e->op.row + 1, sizeof(*names->rows));
    struct ct_sqlite_name *name = &names->rows[e->op.row];
    if (!name->demangled) {
        struct ct_string text = {0}, plain = {0};
        bool grouped = s->naming == CT_NAMES_GROUPED;
        ct_name_kernel(&text, row->name, grouped ? CT_NAMES_DEMANGLED : s->naming);
        ct_name_kernel(&plain, row->name, s->naming);
        if (!grouped)
            ct_name_base(&plain);
        name->demangled = ct_sqlite_string(s, text.data);
        name->plain = ct_sqlite_string(s, plain.data);
        ct_string_clear(&text);
        ct_name_kernel(&text, row->name, CT_NAMES_MANGLED);
        name->mangled = ct_sqlite_string(s, text.data);
        ct_string_free(&text);
        ct_string_free(&plain);
    }
    return name;
}

/*
 * A function has its version, as nsys has it: "cudaLaunchKernel_v7000"; the driver's names bring
 * theirs.
 */
static void put_api_name(struct ct_string *to, const char *name)
{
    const struct version *v = bsearch(name, versions, sizeof(versions) / sizeof(versions[0]),
                                      sizeof(versions[0]), compare_name);
    ct_name_safe(to, name);
    if (v)
        ct_string_printf(to, "_v%u", v->number);
}

static uint32_t api_name(struct ct_sqlite *s, const struct ct_event *e)
{
    struct ct_sqlite_names *names = &s->names[e->file->index];
    names->apis = ct_memory_grow(names->apis, &names->apis_size, (size_t)e->call.api + 1,
                                 sizeof(*names->apis));
    uint32_t *name = &names->apis[e->call.api];
    if (!*name) {
        struct ct_string text = {0};
        put_api_name(&text, e->file->t->apis.at[e->call.api].name);
        *name = ct_sqlite_string(s, text.data);
        ct_string_free(&text);
    }
    return *name;
}

/* ---- rows ---- */

/* UINT32_MAX: not known, which is NULL. */
static void add_known(struct ct_sqlite_row *r, uint32_t value)
{
    if (value == UINT32_MAX)
        ct_sqlite_row_add_null(r);
    else
        ct_sqlite_row_add(r, value);
}

static void put(struct ct_sqlite *s, enum ct_sqlite_table table)
{
    ct_sqlite_check(s, ct_sqlite_rows_put(&s->tables[table]));
}

/* Begins a row with the columns that all operations share. */
static struct ct_sqlite_row *begin_op(struct ct_sqlite *s, enum ct_sqlite_table table,
                                      const struct ct_event *e)
{
    struct ct_sqlite_row *r = ct_sqlite_rows_next(&s->tables[table]);
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_stream *stream = &t->streams.at[e->op.stream];
    ct_sqlite_row_add(r, e->start_ns);
    ct_sqlite_row_add(r, e->end_ns);
    ct_sqlite_row_add(r, t->devices.at[stream->device].ordinal);
    ct_sqlite_row_add(r, stream->context);
    ct_sqlite_row_add(r, stream->id);
    ct_sqlite_row_add(r, e->op.correlation);
    ct_sqlite_row_add(r, (uint64_t)ct_sqlite_global(e->file, 0));
    return r;
}

static void put_kernel(struct ct_sqlite *s, const struct ct_event *e)
{
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    const struct ct_trace_shape *shape = &e->file->t->shapes.at[e->op.shape];
    const struct ct_sqlite_name *name = row_name(s, e);
    struct ct_sqlite_row *r = begin_op(s, CT_SQLITE_KERNEL, e);
    ct_sqlite_row_add(r, name->demangled);
    ct_sqlite_row_add(r, name->plain);
    ct_sqlite_row_add(r, name->mangled);
    add_known(r, row->registers);
    add_known(r, row->static_shared_bytes);
    for (int i = 0; i < 3; i++)
        add_known(r, shape->id ? shape->grid[i] : UINT32_MAX);
    for (int i = 0; i < 3; i++)
        add_known(r, shape->id ? shape->block[i] : UINT32_MAX);
    ct_sqlite_row_add(r, shape->dynamic_shared_bytes);
    put(s, CT_SQLITE_KERNEL);
}

static uint32_t memory_kind(uint8_t memory)
{
    static const uint8_t kinds[] = {
        [CT_MEMORY_UNKNOWN] = 7, [CT_MEMORY_PAGEABLE] = 0, [CT_MEMORY_PINNED] = 1,
        [CT_MEMORY_DEVICE] = 2,  [CT_MEMORY_ARRAY] = 3,    [CT_MEMORY_MANAGED] = 4,
    };
    return kinds[memory];
}

/* A prefetch is known to be wanted by the user; its source is not known. */
static void put_copy(struct ct_sqlite *s, const struct ct_event *e)
{
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    bool is_copy = row->kind == CT_ROW_COPY;
    struct ct_sqlite_row *r = begin_op(s, CT_SQLITE_COPY, e);
    ct_sqlite_row_add(r, e->op.bytes);
    ct_sqlite_row_add(r, is_copy && row->detail < CT_DIRECTION_COUNT ? row->detail + 1 : 0);
    ct_sqlite_row_add(r, e->op.operations);
    ct_sqlite_row_add(r, is_copy ? memory_kind(ct_event_source_memory(e)) : 4);
    ct_sqlite_row_add(r, is_copy ? memory_kind(ct_event_target_memory(e)) : 4);
    add_known(r, is_copy ? UINT32_MAX : 1);
    put(s, CT_SQLITE_COPY);
}

static void put_set(struct ct_sqlite *s, const struct ct_event *e)
{
    struct ct_sqlite_row *r = begin_op(s, CT_SQLITE_SET, e);
    ct_sqlite_row_add(r, e->op.bytes);
    put(s, CT_SQLITE_SET);
}

/* Graphs with the same content are one row of the trace: that is their number. */
static void put_graph(struct ct_sqlite *s, const struct ct_event *e)
{
    struct ct_sqlite_row *r = begin_op(s, CT_SQLITE_GRAPH, e);
    ct_sqlite_row_add(r, e->file->t->rows.at[e->op.row].id);
    ct_sqlite_row_add(r, e->file->t->rows.at[e->op.row].id);
    put(s, CT_SQLITE_GRAPH);
}

static void put_call(struct ct_sqlite *s, const struct ct_event *e)
{
    const struct ct_trace_reader *t = e->file->t;
    uint32_t name = api_name(s, e);
    struct ct_sqlite_row *r = ct_sqlite_rows_next(&s->tables[CT_SQLITE_CALL]);
    ct_sqlite_row_add(r, e->start_ns);
    ct_sqlite_row_add(r, e->end_ns);
    ct_sqlite_row_add(r, !(t->apis.at[e->call.api].flags & CT_API_RUNTIME));
    ct_sqlite_row_add(r, (uint64_t)ct_sqlite_global(e->file, t->threads.at[e->call.thread].tid));
    ct_sqlite_row_add(r, e->call.correlation);
    ct_sqlite_row_add(r, name);
    ct_sqlite_row_add(r, (uint64_t)e->call.result);
    put(s, CT_SQLITE_CALL);
}

void ct_sqlite_event(struct ct_sqlite *s, const struct ct_event *e)
{
    if (e->is_range) {
        ct_sqlite_range(s, e);
        return;
    }
    if (e->is_call) {
        put_call(s, e);
        return;
    }
    switch (e->file->t->rows.at[e->op.row].kind) {
    case CT_ROW_KERNEL:
        put_kernel(s, e);
        break;
    case CT_ROW_SET:
        put_set(s, e);
        break;
    case CT_ROW_GRAPH:
        put_graph(s, e);
        break;
    default:
        put_copy(s, e);
    }
}
