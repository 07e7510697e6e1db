/* SPDX-License-Identifier: MIT */
#include "report/trace/event_names.h"

#include <stdlib.h>

#include "report/symbols/symbols.h"

static char **name_at(struct ct_event_name_list **lists, size_t *size, uint32_t file, uint32_t at)
{
    *lists = ct_memory_grow(*lists, size, (size_t)file + 1, sizeof(**lists));
    struct ct_event_name_list *list = &(*lists)[file];
    list->at = ct_memory_grow(list->at, &list->size, (size_t)at + 1, sizeof(*list->at));
    return &list->at[at];
}

/* Takes the text over. */
static char *spell(const struct ct_event_names *n, struct ct_string *name)
{
    if (!n->spell)
        return name->data;
    struct ct_string spelled = {0};
    n->spell(&spelled, name->data);
    ct_string_free(name);
    return spelled.data;
}

const char *ct_event_row(struct ct_event_names *n, const struct ct_timeline_file *f, uint32_t row)
{
    char **name = name_at(&n->rows, &n->rows_size, f->index, row);
    if (!*name) {
        const struct ct_trace_row *r = &f->t->rows.at[row];
        struct ct_string text = {0};
        ct_name_operation(&text, r->kind, r->detail, r->name, n->naming);
        *name = spell(n, &text);
    }
    return *name;
}

const char *ct_event_api(struct ct_event_names *n, const struct ct_timeline_file *f, uint32_t api)
{
    char **name = name_at(&n->apis, &n->apis_size, f->index, api);
    if (!*name) {
        struct ct_string text = {0};
        ct_name_api(&text, f->t->apis.at[api].name);
        *name = spell(n, &text);
    }
    return *name;
}

const char *ct_event_label(struct ct_event_names *n, const struct ct_timeline_file *f,
                           uint32_t label)
{
    char **name = name_at(&n->labels, &n->labels_size, f->index, label);
    if (!*name) {
        struct ct_string text = {0};
        ct_name_safe(&text, f->t->labels.at[label].name);
        *name = spell(n, &text);
    }
    return *name;
}

/* Behind functions that were inlined the one that these are in. A thread's name has no file. */
static void add_place(void *text, const char *function, const char *file, uint32_t line)
{
    struct ct_string *out = text;
    if (out->len)
        ct_string_put(out, ", inlined in ");
    ct_name_safe(out, function);
    if (!*file)
        return;
    ct_string_put(out, " (");
    ct_name_safe(out, file);
    ct_string_printf(out, ":%u)", line);
}

const char *ct_event_frame(struct ct_event_names *n, const struct ct_timeline_file *f,
                           uint32_t frame)
{
    char **name = name_at(&n->frames, &n->frames_size, f->index, frame);
    if (!*name) {
        const struct ct_trace_frame *e = &f->t->frames.at[frame];
        struct ct_string text = {0};
        if (e->address)
            ct_symbols_find(e->file, e->build_id, e->address - 1, add_place, &text);
        if (!text.len)
            add_place(&text, e->function, e->file, e->line);
        *name = spell(n, &text);
    }
    return *name;
}

const char *ct_event_device(struct ct_event_names *n, const struct ct_timeline_file *f,
                            uint32_t device)
{
    char **name = name_at(&n->devices, &n->devices_size, f->index, device);
    if (!*name) {
        struct ct_string text = {0};
        ct_name_safe(&text, f->t->devices.at[device].name);
        ct_string_printf(&text, " (%u)", f->t->devices.at[device].ordinal);
        *name = spell(n, &text);
    }
    return *name;
}

static const char *given(struct ct_string *room, const char *name)
{
    if (!name || !*name)
        return NULL;
    ct_string_clear(room);
    ct_name_safe(room, name);
    return room->data;
}

static const struct ct_trace_stream *stream_of(const struct ct_event *op)
{
    return &op->file->t->streams.at[op->op.stream];
}

const char *ct_event_device_name(struct ct_event_names *n, const struct ct_event *op)
{
    return given(&n->device_name, op->file->t->devices.at[stream_of(op)->device].given_name);
}

const char *ct_event_context_name(struct ct_event_names *n, const struct ct_event *op)
{
    return given(&n->context_name, stream_of(op)->context_name);
}

const char *ct_event_stream_name(struct ct_event_names *n, const struct ct_event *op)
{
    return given(&n->stream_name, stream_of(op)->name);
}

static void free_lists(struct ct_event_name_list *lists, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j < lists[i].size; j++)
            free(lists[i].at[j]);
        free(lists[i].at);
    }
    free(lists);
}

void ct_event_names_free(struct ct_event_names *n)
{
    free_lists(n->rows, n->rows_size);
    free_lists(n->apis, n->apis_size);
    free_lists(n->devices, n->devices_size);
    free_lists(n->labels, n->labels_size);
    free_lists(n->frames, n->frames_size);
    ct_string_free(&n->device_name);
    ct_string_free(&n->context_name);
    ct_string_free(&n->stream_name);
    *n = (struct ct_event_names){0};
}

static uint8_t memory_of(const struct ct_event *e, uint8_t recorded, size_t side)
{
    static const char directions[][5] = {
#define X(id, text) text,
        CT_DIRECTIONS(X)
#undef X
    };
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    if (recorded != CT_MEMORY_UNKNOWN || row->detail >= CT_DIRECTION_COUNT)
        return recorded;
    switch (directions[row->detail][side]) {
    case 'D':
    case 'P':
        return CT_MEMORY_DEVICE;
    case 'A':
        return CT_MEMORY_ARRAY;
    default:
        return CT_MEMORY_UNKNOWN;
    }
}

uint8_t ct_event_source_memory(const struct ct_event *e)
{
    return memory_of(e, e->op.source, 0);
}

uint8_t ct_event_target_memory(const struct ct_event *e)
{
    return memory_of(e, e->op.target, 3);
}

static const char *memory_name(uint8_t memory)
{
    static const char *const names[] = {
        [CT_MEMORY_UNKNOWN] = "Unknown", [CT_MEMORY_PAGEABLE] = "Pageable",
        [CT_MEMORY_PINNED] = "Pinned",   [CT_MEMORY_DEVICE] = "Device",
        [CT_MEMORY_ARRAY] = "Array",     [CT_MEMORY_MANAGED] = "Managed",
    };
    return names[memory];
}

const char *ct_event_source(const struct ct_event *e)
{
    uint32_t kind = e->file->t->rows.at[e->op.row].kind;
    if (kind == CT_ROW_SET)
        return memory_name(CT_MEMORY_DEVICE);
    return kind == CT_ROW_COPY ? memory_name(ct_event_source_memory(e)) : NULL;
}

const char *ct_event_target(const struct ct_event *e)
{
    bool is_copy = e->file->t->rows.at[e->op.row].kind == CT_ROW_COPY;
    return is_copy ? memory_name(ct_event_target_memory(e)) : NULL;
}
