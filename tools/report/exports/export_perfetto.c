/* SPDX-License-Identifier: MIT */
/* Perfetto's own format: packets of third_party/perfetto/track_event.proto. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/exports/export_perfetto.h"
#include "report/exports/perfetto_slice.h"
#include "report/reports.h"
#include "report/trace/trace_options.h"

/* Interned texts have numbers from 1 on, each kind its own. */
enum category {
    CATEGORY_KERNEL = 1,
    CATEGORY_MEMORY,
    CATEGORY_GRAPH,
    CATEGORY_API,
    CATEGORY_RANGE
};
static const char *const categories[] = {"kernel", "memory", "graph", "api", "range"};

#define ANNOTATIONS(X)                                                                             \
    X(CORRELATION, "correlation")                                                                  \
    X(GRID, "grid")                                                                                \
    X(BLOCK, "block")                                                                              \
    X(DYNAMIC, "dynamic_shared_bytes")                                                             \
    X(STATIC, "static_shared_bytes")                                                               \
    X(REGISTERS, "registers")                                                                      \
    X(BYTES, "bytes")                                                                              \
    X(SOURCE, "source")                                                                            \
    X(TARGET, "target")                                                                            \
    X(BOUND, "upper_bound")                                                                        \
    X(RESULT, "result")                                                                            \
    X(DOMAIN, "domain")                                                                            \
    X(COLOR, "color")                                                                              \
    X(RANGE_CATEGORY, "category")                                                                  \
    X(PYTHON, "python")                                                                            \
    X(NATIVE, "native")

enum annotation {
    NO_ANNOTATION,
#define X(id, name) ANNOTATION_##id,
    ANNOTATIONS(X)
#undef X
        ANNOTATION_END
};
_Static_assert(ANNOTATION_END <= CT_PERFETTO_ANNOTATIONS, "a slice may have each of them");

static const char *const annotations[] = {
#define X(id, name) name,
    ANNOTATIONS(X)
#undef X
};

/* Numbers of a file's interned texts by index, 0: not there yet. */
struct ct_perfetto_interned {
    struct ct_track_list rows;
    struct ct_track_list apis;
    struct ct_track_list labels;
    struct ct_track_list frames; /* the stacks that end in them */
    struct ct_track_list shapes; /* of "grid"; that of "block" is the next */
};

/* ---- packets ---- */

/* A trace is a message whose first field is packets: its key and their length are before each. */
void ct_perfetto_put_packet(struct ct_perfetto *p, PB(TracePacket) * packet)
{
    packet->has_trusted_packet_sequence_id = true;
    packet->trusted_packet_sequence_id = CT_PERFETTO_SEQUENCE;
    size_t len = perfetto__protos__trace_packet__get_packed_size(packet);
    ct_string_reserve(&p->bytes, 1 + CT_VARINT_MOST + len);
    uint8_t *begin = (uint8_t *)p->bytes.data + p->bytes.len, *to = begin;
    *to++ = CT_PERFETTO_PACKET;
    to = ct_varint_put(to, len);
    to += perfetto__protos__trace_packet__pack(packet, to);
    p->bytes.len += (size_t)(to - begin);
    ct_string_write_much(&p->bytes, p->out);
}

static void put_interned(struct ct_perfetto *p, PB(InternedData) * data)
{
    PB(TracePacket) packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    packet.has_sequence_flags = true;
    packet.sequence_flags =
        PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
    packet.interned_data = data;
    ct_perfetto_put_packet(p, &packet);
}

/* ---- texts ---- */

static uint32_t *numbers_at(struct ct_track_list *list, uint64_t at)
{
    list->at = ct_memory_grow(list->at, &list->size, (size_t)at + 1, sizeof(*list->at));
    return &list->at[at];
}

static uint64_t intern_name(struct ct_perfetto *p, uint32_t *number, const char *name)
{
    if (*number)
        return *number;
    PB(EventName) entry = PERFETTO__PROTOS__EVENT_NAME__INIT, *entries = &entry;
    PB(InternedData) data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
    entry.has_iid = true;
    entry.iid = *number = (uint32_t)++p->name_count;
    entry.name = (char *)name;
    data.n_event_names = 1;
    data.event_names = &entries;
    put_interned(p, &data);
    return entry.iid;
}

static uint64_t intern_value(struct ct_perfetto *p, const char *text, size_t len)
{
    uint32_t before = p->values.count, number = ct_key_table_add(&p->values, text, len);
    if (p->values.count == before)
        return number + 1;
    PB(InternedString) entry = PERFETTO__PROTOS__INTERNED_STRING__INIT, *entries = &entry;
    PB(InternedData) data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
    entry.has_iid = entry.has_str = true;
    entry.iid = number + 1;
    entry.str = (ProtobufCBinaryData){len, (uint8_t *)text};
    data.n_debug_annotation_string_values = 1;
    data.debug_annotation_string_values = &entries;
    put_interned(p, &data);
    return entry.iid;
}

/* Categories and the names of annotations are known from the start. */
static void put_start(struct ct_perfetto *p)
{
    PB(EventCategory) category[ct_countof(categories)], *category_at[ct_countof(categories)];
    PB(DebugAnnotationName) name[ct_countof(annotations)], *name_at[ct_countof(annotations)];
    PB(InternedData) data = PERFETTO__PROTOS__INTERNED_DATA__INIT;
    PB(TracePacket) packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    for (size_t i = 0; i < ct_countof(categories); i++) {
        category[i] = (PB(EventCategory))PERFETTO__PROTOS__EVENT_CATEGORY__INIT;
        category[i].has_iid = true;
        category[i].iid = i + 1;
        category[i].name = (char *)categories[i];
        category_at[i] = &category[i];
    }
    for (size_t i = 0; i < ct_countof(annotations); i++) {
        name[i] = (PB(DebugAnnotationName))PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT;
        name[i].has_iid = true;
        name[i].iid = i + 1;
        name[i].name = (char *)annotations[i];
        name_at[i] = &name[i];
    }
    data.n_event_categories = ct_countof(categories);
    data.event_categories = category_at;
    data.n_debug_annotation_names = ct_countof(annotations);
    data.debug_annotation_names = name_at;
    packet.has_sequence_flags = true;
    packet.sequence_flags =
        PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
    packet.interned_data = &data;
    ct_perfetto_put_packet(p, &packet);
}

/* The clock of the trace is the default one of packets, which is tied to the time of day here. */
static void put_clock(struct ct_perfetto *p)
{
    enum { REALTIME = 1, BOOTTIME = 6 };
    PB(ClockSnapshot__Clock) clock[2], *clock_at[] = {&clock[0], &clock[1]};
    PB(ClockSnapshot) snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
    PB(TracePacket) packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    for (int i = 0; i < 2; i++) {
        clock[i] = (PB(ClockSnapshot__Clock))PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__INIT;
        clock[i].has_clock_id = clock[i].has_timestamp = true;
        clock[i].clock_id = i ? REALTIME : BOOTTIME;
        clock[i].timestamp = i ? p->tl.zero_unix_ns : 0;
    }
    snapshot.n_clocks = 2;
    snapshot.clocks = clock_at;
    packet.clock_snapshot = &snapshot;
    ct_perfetto_put_packet(p, &packet);
}

/* ---- slices ---- */

static void annotate_count(struct ct_perfetto_slice *s, enum annotation name, uint64_t value)
{
    ct_perfetto_annotate(s, name, CT_PERFETTO_UINT, value);
}

/* Adds the bytes; 0 is not worth a line. */
static void annotate_bytes(struct ct_perfetto_slice *s, enum annotation name, uint64_t bytes)
{
    if (bytes)
        annotate_count(s, name, bytes);
}

static void annotate_text(struct ct_perfetto *p, struct ct_perfetto_slice *s, enum annotation name,
                          const char *text)
{
    ct_perfetto_annotate(s, name, CT_PERFETTO_TEXT, intern_value(p, text, strlen(text)));
}

/* "3907 1 1", once for each shape. */
static uint64_t intern_extent(struct ct_perfetto *p, uint32_t *number, const uint32_t extent[3])
{
    if (!*number) {
        char text[64];
        int len = snprintf(text, sizeof(text), "%u %u %u", extent[0], extent[1], extent[2]);
        *number = (uint32_t)intern_value(p, text, (size_t)len);
    }
    return *number;
}

static void annotate_extent(struct ct_perfetto *p, struct ct_perfetto_slice *s,
                            enum annotation name, uint32_t *number, const uint32_t extent[3])
{
    ct_perfetto_annotate(s, name, CT_PERFETTO_TEXT, intern_extent(p, number, extent));
}

static void annotate_kernel(struct ct_perfetto *p, struct ct_perfetto_slice *s,
                            const struct ct_event *e)
{
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    const struct ct_trace_shape *shape = &e->file->t->shapes.at[e->op.shape];
    if (shape->id) {
        uint32_t *numbers = numbers_at(&p->interned[e->file->index].shapes, 2 * e->op.shape + 1);
        annotate_extent(p, s, ANNOTATION_GRID, numbers - 1, shape->grid);
        annotate_extent(p, s, ANNOTATION_BLOCK, numbers, shape->block);
        annotate_bytes(s, ANNOTATION_DYNAMIC, shape->dynamic_shared_bytes);
    }
    if (row->static_shared_bytes != UINT32_MAX)
        annotate_bytes(s, ANNOTATION_STATIC, row->static_shared_bytes);
    if (row->registers != UINT32_MAX)
        annotate_count(s, ANNOTATION_REGISTERS, row->registers);
}

static void annotate_move(struct ct_perfetto *p, struct ct_perfetto_slice *s,
                          const struct ct_event *e)
{
    const char *source = ct_event_source(e), *target = ct_event_target(e);
    annotate_count(s, ANNOTATION_BYTES, e->op.bytes);
    if (!source || !target)
        return;
    annotate_text(p, s, ANNOTATION_SOURCE, source);
    annotate_text(p, s, ANNOTATION_TARGET, target);
}

/* The lines of a stack, the innermost first, once for each. */
static void annotate_stack(struct ct_perfetto *p, struct ct_perfetto_slice *s,
                           const struct ct_event *e)
{
    uint32_t *number = numbers_at(&p->interned[e->file->index].frames, e->op.frame);
    if (!*number) {
        struct ct_string text = {0};
        uint32_t depth = 0;
        for (uint32_t i = e->op.frame; i && depth < CT_FILE_STACK_DEPTH;
             i = e->file->t->frames.at[i].caller)
            ct_string_printf(&text, "%s%s", depth++ ? "\n" : "",
                             ct_event_frame(&p->names, e->file, i));
        *number = (uint32_t)intern_value(p, text.data, text.len);
        ct_string_free(&text);
    }
    bool is_native = e->file->t->frames.at[e->op.frame].address;
    ct_perfetto_annotate(s, is_native ? ANNOTATION_NATIVE : ANNOTATION_PYTHON, CT_PERFETTO_TEXT,
                         *number);
}

static void fill_op(struct ct_perfetto *p, struct ct_perfetto_slice *s, const struct ct_event *e)
{
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    s->category = CATEGORY_MEMORY;
    if (row->kind == CT_ROW_KERNEL) {
        s->category = CATEGORY_KERNEL;
        annotate_kernel(p, s, e);
    } else if (row->kind == CT_ROW_GRAPH) {
        s->category = CATEGORY_GRAPH;
    } else {
        annotate_move(p, s, e);
    }
    if (e->op.flags & CT_TRACE_OP_BOUND)
        annotate_count(s, ANNOTATION_BOUND, 1);
    if (e->op.frame)
        annotate_stack(p, s, e);
    s->name = intern_name(p, numbers_at(&p->interned[e->file->index].rows, e->op.row),
                          ct_event_row(&p->names, e->file, e->op.row));
}

static void fill_call(struct ct_perfetto *p, struct ct_perfetto_slice *s, const struct ct_event *e)
{
    s->category = CATEGORY_API;
    if (e->call.result)
        ct_perfetto_annotate(s, ANNOTATION_RESULT, CT_PERFETTO_INT,
                             (uint64_t)(int64_t)e->call.result);
    s->name = intern_name(p, numbers_at(&p->interned[e->file->index].apis, e->call.api),
                          ct_event_api(&p->names, e->file, e->call.api));
}

/* An arrow goes from the earliest to the latest of the slices that have its number. */
static void fill_flow(struct ct_perfetto *p, struct ct_perfetto_slice *s, const struct ct_event *e)
{
    uint64_t correlation = e->is_call ? e->call.correlation : e->op.correlation;
    annotate_count(s, ANNOTATION_CORRELATION, correlation);
    if (ct_links_get(&e->file->links, correlation))
        s->flow = correlation * p->tl.file_count + e->file->index;
}

/*
 * A slice that begins in another one of its track is taken for its child, and has to end before it:
 * where times overlap within their errors, the later slice is begun at the end of the other.
 */
static void put_slice(struct ct_perfetto *p, const struct ct_perfetto_slice *s,
                      const struct ct_event *e)
{
    size_t at = (size_t)s->track;
    p->ends_ns = ct_memory_grow(p->ends_ns, &p->ends_size, at + 1, sizeof(*p->ends_ns));
    uint64_t begin_ns = ct_max(e->start_ns, p->ends_ns[at]);
    p->ends_ns[at] = ct_max(e->end_ns, begin_ns);
    ct_string_reserve(&p->bytes, CT_PERFETTO_SLICE_BYTES);
    uint8_t *begin = (uint8_t *)p->bytes.data + p->bytes.len;
    p->bytes.len += (size_t)(ct_perfetto_put_slice(begin, s, begin_ns, p->ends_ns[at]) - begin);
    ct_string_write_much(&p->bytes, p->out);
}

/* ---- ranges ---- */

static void annotate_safe(struct ct_perfetto *p, struct ct_perfetto_slice *s, enum annotation name,
                          const char *text)
{
    struct ct_string safe = {0};
    ct_name_safe(&safe, text);
    if (*safe.data)
        annotate_text(p, s, name, safe.data);
    ct_string_free(&safe);
}

static void fill_range(struct ct_perfetto *p, struct ct_perfetto_slice *s, const struct ct_event *e)
{
    const struct ct_trace_label *l = &e->file->t->labels.at[e->range.label];
    char color[8];
    s->category = CATEGORY_RANGE;
    annotate_safe(p, s, ANNOTATION_DOMAIN, l->domain);
    if (l->color) {
        snprintf(color, sizeof(color), "#%06x", l->color & 0xffffff);
        annotate_text(p, s, ANNOTATION_COLOR, color);
    }
    if (*l->category_name)
        annotate_safe(p, s, ANNOTATION_RANGE_CATEGORY, l->category_name);
    else if (l->category)
        annotate_count(s, ANNOTATION_RANGE_CATEGORY, l->category);
    s->name = intern_name(p, numbers_at(&p->interned[e->file->index].labels, e->range.label),
                          ct_event_label(&p->names, e->file, e->range.label));
}

static void put_phase(struct ct_perfetto *p, const struct ct_event *e, enum ct_perfetto_phase phase,
                      uint32_t lane)
{
    struct ct_perfetto_slice s;
    s.flow = s.annotation_bytes = 0;
    s.track = ct_perfetto_ranges(p, e, lane);
    if (phase != CT_PERFETTO_END)
        fill_range(p, &s, e);
    ct_string_reserve(&p->bytes, CT_PERFETTO_SLICE_BYTES);
    uint8_t *begin = (uint8_t *)p->bytes.data + p->bytes.len;
    p->bytes.len += (size_t)(ct_perfetto_put_phase(begin, &s, phase, e->start_ns) - begin);
    ct_string_write_much(&p->bytes, p->out);
}

static void put_range(struct ct_perfetto *p, const struct ct_event *e)
{
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    if (e->range.phase == CT_TRACE_RANGE_MARKS) {
        put_phase(p, e, CT_PERFETTO_INSTANT, 0);
    } else if (e->range.phase == CT_TRACE_RANGE_BEGINS) {
        put_phase(p, e, CT_PERFETTO_BEGIN, ct_open_ranges_begin(&p->open, e)->lane);
    } else {
        size_t count = ct_open_ranges_end(&p->open, e, over);
        for (size_t i = 0; i < count; i++)
            put_phase(p, e, CT_PERFETTO_END, over[i].lane);
    }
}

/* ---- the document ---- */

static void put_event(struct ct_perfetto *p, const struct ct_event *e)
{
    struct ct_perfetto_slice s;
    s.flow = s.annotation_bytes = 0;
    s.track = e->is_call ? ct_perfetto_thread(p, e) : ct_perfetto_stream(p, e);
    fill_flow(p, &s, e);
    if (e->is_call)
        fill_call(p, &s, e);
    else
        fill_op(p, &s, e);
    put_slice(p, &s, e);
}

static void put_document(struct ct_perfetto *p)
{
    const struct ct_event *e;
    put_start(p);
    put_clock(p);
    while (ct_timeline_next(&p->tl, &e)) {
        if (e->is_range)
            put_range(p, e);
        else
            put_event(p, e);
    }
    ct_string_write(&p->bytes, p->out);
}

static void free_all(struct ct_perfetto *p)
{
    for (uint32_t i = 0; i < p->tl.file_count; i++) {
        free(p->interned[i].rows.at);
        free(p->interned[i].apis.at);
        free(p->interned[i].labels.at);
        free(p->interned[i].frames.at);
        free(p->interned[i].shapes.at);
    }
    free(p->interned);
    free(p->ends_ns);
    ct_key_table_free(&p->values);
    ct_tracks_free(&p->tracks);
    ct_open_ranges_free(&p->open);
    ct_event_names_free(&p->names);
    ct_string_free(&p->bytes);
    ct_timeline_close(&p->tl);
}

int ct_export_perfetto(const struct ct_input *in, FILE *out)
{
    struct ct_perfetto p = {.out = out, .names = {.naming = ct_report_naming(in->o)}};
    struct ct_timeline_options all = ct_trace_all(in->o);
    all.links = CT_TIMELINE_OPERATIONS;
    ct_timeline_open(&p.tl, in->o->files, in->o->file_count, &all);
    p.interned = ct_memory_array(p.tl.file_count, sizeof(*p.interned));
    if (p.tl.file_count)
        put_document(&p);
    ct_timeline_say_notes(&p.tl);
    int status = p.tl.failed ? EXIT_FAILURE : EXIT_SUCCESS;
    free_all(&p);
    return status;
}
