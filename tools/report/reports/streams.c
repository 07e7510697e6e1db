/* SPDX-License-Identifier: MIT */
/* Report "streams": how busy devices and streams were, and how long and why devices were not. */
#include "report/names.h"
#include "report/reports.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static struct ct_cell gpu_of(const struct ct_input *in, uint32_t device)
{
    return ct_cell_count(in->m->devices[device].sum.ordinal);
}

/* ---- devices ---- */

enum {
    DEVICE_GPU,
    DEVICE_BUSY_PERCENT,
    DEVICE_SPAN,
    DEVICE_BUSY,
    DEVICE_COMPUTE,
    DEVICE_COPY,
    DEVICE_BOTH,
    DEVICE_BESIDE,
    DEVICE_IDLE,
    DEVICE_HOST,
    DEVICE_SYNC,
    DEVICE_QUEUED,
    DEVICE_MEASURING,
    DEVICE_OFF,
    DEVICE_UNKNOWN,
    DEVICE_GAPS,
    DEVICE_LONGEST,
    DEVICE_OPERATIONS,
    DEVICE_KNOWN,
    DEVICE_NAME,
    DEVICE_COLUMNS
};

static const struct ct_column device_columns[DEVICE_COLUMNS] = {
    [DEVICE_GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [DEVICE_BUSY_PERCENT] = {"busy_percent", "Busy(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [DEVICE_SPAN] = {"span_ns", "First to last", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_BUSY] = {"busy_ns", "Busy", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_COMPUTE] = {"compute_ns", "Kernels", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_COPY] = {"copy_ns", "Copies", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_BOTH] = {"both_ns", "Both", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_BESIDE] = {"streams_overlap_ns", "2+ streams", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_IDLE] = {"idle_ns", "Idle", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_HOST] = {"idle_host_ns", "Not launched", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_SYNC] = {"idle_sync_ns", "After sync", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_QUEUED] = {"idle_queued_ns", "Queued", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_MEASURING] = {"idle_measuring_ns", "Measuring", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_OFF] = {"idle_off_ns", "Off", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_UNKNOWN] = {"idle_unknown_ns", "Unknown", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [DEVICE_GAPS] = {"gaps", "Gaps", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [DEVICE_LONGEST] = {"longest_gap_ns", "Longest", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [DEVICE_OPERATIONS] = {"operations", "Operations", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [DEVICE_KNOWN] = {"known_percent", "Known(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [DEVICE_NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation devices = {"devices", "Devices", device_columns, DEVICE_COLUMNS};

/* Reasons of a newer minor version are not known here. */
static uint64_t unknown_ns(const uint64_t idle_ns[])
{
    uint64_t ns = idle_ns[CT_IDLE_UNKNOWN];
    for (int i = CT_IDLE_COUNT; i < CT_FILE_IDLES; i++)
        ct_merge_add_to(&ns, idle_ns[i]);
    return ns;
}

static void put_device(const struct ct_input *in, struct ct_sink *sink,
                       const struct ct_file_activity *a)
{
    struct ct_string name = {0};
    struct ct_cell cells[DEVICE_COLUMNS] = {
        [DEVICE_GPU] = gpu_of(in, a->device),
        [DEVICE_BUSY_PERCENT] = ct_cell_number(percent(a->busy_ns, ct_activity_time_ns(a))),
        [DEVICE_SPAN] = ct_cell_count(ct_activity_span_ns(a)),
        [DEVICE_BUSY] = ct_cell_count(a->busy_ns),
        [DEVICE_COMPUTE] = ct_cell_count(a->compute_ns),
        [DEVICE_COPY] = ct_cell_count(a->copy_ns),
        [DEVICE_BOTH] = ct_cell_count(a->both_ns),
        [DEVICE_BESIDE] = ct_cell_count(a->beside_ns),
        [DEVICE_IDLE] = ct_cell_count(ct_activity_idle_ns(a->idle_ns)),
        [DEVICE_HOST] = ct_cell_count(a->idle_ns[CT_IDLE_HOST]),
        [DEVICE_SYNC] = ct_cell_count(a->idle_ns[CT_IDLE_SYNC]),
        [DEVICE_QUEUED] = ct_cell_count(a->idle_ns[CT_IDLE_QUEUED]),
        [DEVICE_MEASURING] = ct_cell_count(a->idle_ns[CT_IDLE_MEASURING]),
        [DEVICE_OFF] = ct_cell_count(a->idle_ns[CT_IDLE_OFF]),
        [DEVICE_UNKNOWN] = ct_cell_count(unknown_ns(a->idle_ns)),
        [DEVICE_GAPS] = ct_cell_count(a->gaps),
        [DEVICE_LONGEST] = ct_cell_count(a->longest_gap_ns),
        [DEVICE_OPERATIONS] = ct_cell_count(a->operations),
        [DEVICE_KNOWN] = ct_cell_number(100 * ct_activity_coverage(in->m, a->device)),
        [DEVICE_NAME] = ct_cell_given(&name, in->m, in->m->devices[a->device].sum.given_name),
    };
    ct_sink_row(sink, cells);
    ct_string_free(&name);
}

static void put_devices(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_merged_activity *a = &in->m->activity;
    ct_sink_begin(sink, &devices);
    for (uint32_t i = 0; i < a->device_keys.count; i++)
        if (ct_view_is_of(a->devices[i].device, in->device))
            put_device(in, sink, &a->devices[i]);
    ct_sink_end(sink);
}

/* ---- streams ---- */

enum {
    STREAM_ID,
    STREAM_GPU,
    STREAM_OPERATIONS,
    STREAM_WAITS,
    STREAM_PRIORITY,
    STREAM_TIMED,
    STREAM_BUSY_PERCENT,
    STREAM_BUSY,
    STREAM_BESIDE,
    STREAM_IDLE,
    STREAM_GAPS,
    STREAM_LONGEST,
    STREAM_FIRST,
    STREAM_LAST,
    STREAM_KIND,
    STREAM_CONTEXT,
    STREAM_NAME,
    STREAM_COLUMNS
};

static const struct ct_column stream_columns[STREAM_COLUMNS] = {
    [STREAM_ID] = {"stream", "Stream", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [STREAM_GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
    [STREAM_KIND] = {"kind", "Kind", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [STREAM_PRIORITY] = {"priority", "Priority", CT_CELL_NUMBER, CT_FOLD_NONE, 0},
    [STREAM_OPERATIONS] = {"operations", "Operations", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [STREAM_TIMED] = {"timed", "Timed", CT_CELL_COUNT, CT_FOLD_SUM, CT_OF_CALLS},
    [STREAM_WAITS] = {"waits", "Waits", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [STREAM_BUSY_PERCENT] = {"busy_percent", "Busy(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [STREAM_BUSY] = {"busy_ns", "Busy", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [STREAM_BESIDE] = {"overlap_ns", "Overlap", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [STREAM_IDLE] = {"idle_ns", "Idle", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [STREAM_GAPS] = {"gaps", "Gaps", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [STREAM_LONGEST] = {"longest_gap_ns", "Longest", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [STREAM_FIRST] = {"first_ns", "First", CT_CELL_STAMP_NS, CT_FOLD_LEAST, 0},
    [STREAM_LAST] = {"last_ns", "Last", CT_CELL_STAMP_NS, CT_FOLD_MOST, 0},
    [STREAM_CONTEXT] = {"context_name", "Context", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [STREAM_NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation streams = {"streams", "Streams", stream_columns, STREAM_COLUMNS};

/* A device and its streams are busy in parts of one time, the device's; 0: it is not known. */
static uint64_t device_time_ns(const struct ct_input *in, uint32_t device)
{
    const struct ct_merged_activity *a = &in->m->activity;
    for (uint32_t i = 0; i < a->device_keys.count; i++)
        if (a->devices[i].device == device)
            return ct_activity_time_ns(&a->devices[i]);
    return 0;
}

/* Times of a stream that has timed operations. */
static void put_times(struct ct_cell *cells, const struct ct_file_stream *s, uint64_t time_ns)
{
    uint64_t span_ns = s->last_ns - s->first_ns;
    cells[STREAM_TIMED] = ct_cell_count(s->timed);
    if (time_ns)
        cells[STREAM_BUSY_PERCENT] = ct_cell_number(percent(s->busy_ns, time_ns));
    cells[STREAM_BUSY] = ct_cell_count(s->busy_ns);
    cells[STREAM_BESIDE] = ct_cell_count(s->beside_ns);
    cells[STREAM_IDLE] = ct_cell_count(span_ns > s->busy_ns ? span_ns - s->busy_ns : 0);
    cells[STREAM_GAPS] = ct_cell_count(s->gaps);
    cells[STREAM_LONGEST] = ct_cell_count(s->longest_gap_ns);
    cells[STREAM_FIRST] = ct_cell_count(s->first_ns);
    cells[STREAM_LAST] = ct_cell_count(s->last_ns);
}

static void put_stream(const struct ct_input *in, struct ct_sink *sink,
                       const struct ct_file_stream *s)
{
    struct ct_string name = {0}, context = {0};
    struct ct_cell cells[STREAM_COLUMNS] = {
        [STREAM_ID] = ct_cell_count(s->id),
        [STREAM_GPU] = gpu_of(in, s->device),
        [STREAM_KIND] = ct_cell_text(ct_view_stream_kind(s)),
        [STREAM_PRIORITY] = ct_cell_number(s->priority),
        [STREAM_OPERATIONS] = ct_cell_count(s->operations),
        [STREAM_WAITS] = ct_cell_count(s->waits),
        [STREAM_CONTEXT] = ct_cell_given(&context, in->m, s->context_name),
        [STREAM_NAME] = ct_cell_given(&name, in->m, s->name),
    };
    if (s->timed)
        put_times(cells, s, device_time_ns(in, s->device));
    ct_sink_row(sink, cells);
    ct_string_free(&name);
    ct_string_free(&context);
}

static void put_streams(const struct ct_input *in, struct ct_sink *sink)
{
    ct_sink_begin(sink, &streams);
    for (size_t i = 0; i < in->m->stream_count; i++)
        if (ct_view_is_of(in->m->streams[i].device, in->device))
            put_stream(in, sink, &in->m->streams[i]);
    if (in->m->process_count > 1)
        ct_sink_note(sink, "Streams are listed for a single process");
    ct_sink_end(sink);
}

/* ---- gaps ---- */

enum {
    GAP_GPU,
    GAP_LENGTH,
    GAP_COUNT,
    GAP_IDLE,
    GAP_HOST,
    GAP_SYNC,
    GAP_QUEUED,
    GAP_MEASURING,
    GAP_OFF,
    GAP_UNKNOWN,
    GAP_COLUMNS
};

static const struct ct_column gap_columns[GAP_COLUMNS] = {
    [GAP_GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
    [GAP_LENGTH] = {"at_least_ns", "At least", CT_CELL_TIME_NS, CT_FOLD_LEAST, 0},
    [GAP_COUNT] = {"gaps", "Gaps", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [GAP_IDLE] = {"idle_ns", "Idle", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [GAP_HOST] = {"idle_host_ns", "Not launched", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [GAP_SYNC] = {"idle_sync_ns", "After sync", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [GAP_QUEUED] = {"idle_queued_ns", "Queued", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [GAP_MEASURING] = {"idle_measuring_ns", "Measuring", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [GAP_OFF] = {"idle_off_ns", "Off", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [GAP_UNKNOWN] = {"idle_unknown_ns", "Unknown", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
};

static const struct ct_relation gaps = {"gaps", "Gaps between operations", gap_columns,
                                        GAP_COLUMNS};

static void put_gap(const struct ct_input *in, struct ct_sink *sink, const struct ct_file_gap *g)
{
    struct ct_cell cells[GAP_COLUMNS] = {
        [GAP_GPU] = gpu_of(in, g->device),
        [GAP_LENGTH] = ct_cell_count(g->octave ? (uint64_t)1 << g->octave : 0),
        [GAP_COUNT] = ct_cell_count(g->count),
        [GAP_IDLE] = ct_cell_count(ct_activity_idle_ns(g->idle_ns)),
        [GAP_HOST] = ct_cell_count(g->idle_ns[CT_IDLE_HOST]),
        [GAP_SYNC] = ct_cell_count(g->idle_ns[CT_IDLE_SYNC]),
        [GAP_QUEUED] = ct_cell_count(g->idle_ns[CT_IDLE_QUEUED]),
        [GAP_MEASURING] = ct_cell_count(g->idle_ns[CT_IDLE_MEASURING]),
        [GAP_OFF] = ct_cell_count(g->idle_ns[CT_IDLE_OFF]),
        [GAP_UNKNOWN] = ct_cell_count(unknown_ns(g->idle_ns)),
    };
    ct_sink_row(sink, cells);
}

static void put_gaps(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_merged_activity *a = &in->m->activity;
    ct_sink_begin(sink, &gaps);
    for (uint32_t i = 0; i < a->gap_keys.count; i++)
        if (ct_view_is_of(a->gaps[i].device, in->device))
            put_gap(in, sink, &a->gaps[i]);
    ct_sink_end(sink);
}

int ct_report_streams(const struct ct_input *in, struct ct_sink *sink)
{
    put_devices(in, sink);
    put_streams(in, sink);
    put_gaps(in, sink);
    return 0;
}
