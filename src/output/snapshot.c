/* SPDX-License-Identifier: MIT */
#include "output/snapshot.h"

#include "base/config.h"
#include "base/text.h"
#include "counts/range.h"
#include "counts/row.h"
#include "cutrace/format.h"
#include "device/sensor_thread.h"
#include "drain/activity.h"
#include "drain/api_stats.h"
#include "drain/harvest.h"
#include "drain/image.h"
#include "drain/node_time.h"
#include "drain/range_sums.h"
#include "drain/row_sums.h"
#include "drain/witness_error.h"
#include "launch/bracket.h"
#include "launch/replica.h"
#include "managed/unified.h"
#include "output/stack_sections.h"
#include "output/stuck_section.h"
#include "state/context.h"
#include "state/note.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"
#include "work/allocation.h"
#include "work/collective.h"
#include "work/graph.h"

struct so_far {
    uint64_t written;
    uint64_t bodies;  /* launches of graphs that have conditional nodes */
    uint64_t unsized; /* launches of graphs whose copies' and sets' bytes are not counted */
    uint32_t api_index[CT_API_COUNT]; /* place in the section, plus one; 0: not there */
};

static struct so_far so_far;

static uint32_t add_string(const char *s)
{
    uint32_t offset = ct_image_count(CT_SECTION_STRINGS);
    if (!*s && offset)
        return 0;
    ct_image_append(CT_SECTION_STRINGS, s, ct_strlen(s) + 1);
    return offset;
}

static uint32_t add_given_name(const char *name)
{
    return name ? add_string(name) : 0;
}

static void add_process(const struct ct_process_info *p, bool finished)
{
    struct ct_file_process f = {
        .pid = p->pid,
        .parent_pid = p->parent_pid,
        .start_unix_ns = p->start_unix_ns,
        .duration_ns = ct_clock_monotonic_ns() - p->start_ns,
        .command = add_string(p->command),
        .host = add_string(p->host),
        .flags = finished ? CT_PROCESS_FINISHED : 0,
        .driver_version = p->driver_version,
        .off_operations = ct_recording_off_operations(),
        .written = ++so_far.written,
        .rank = p->rank.number,
        .ranks = p->rank.of,
    };
    ct_image_append(CT_SECTION_PROCESS, &f, sizeof(f));
}

static void add_device(const struct ct_device *d, struct ct_witnesses w)
{
    struct ct_file_device f = {
        .ordinal = (uint32_t)d->handle,
        .name = add_string(d->name),
        .memory_bytes = d->memory_bytes,
        .sm_count = d->sm_count,
        .clock_khz = d->clock_khz,
        .compute_major = d->compute_major,
        .compute_minor = d->compute_minor,
        .calibration = d->calibration->source,
        .bias_busy_ns = d->calibration->bias_busy_ns,
        .gap_busy_ns = d->calibration->gap_busy_ns,
        .submit_ns = d->calibration->submit_ns,
        .uncertainty_ns = d->calibration->uncertainty_ns,
        .idle_uncertainty_ns = d->calibration->idle_uncertainty_ns,
        .copy_floor_ns = d->calibration->copy_floor_ns,
        .set_floor_ns = d->calibration->set_floor_ns,
        .bias_ready_ns = d->calibration->bias_ready_ns,
        .bias_copy_ns = d->calibration->bias_copy_ns,
        .bias_wait_ns = d->calibration->bias_wait_ns,
        .given_name = add_given_name(ct_device_given_name(d->handle)),
        .memory_mbs = d->memory_mbs,
        .link_mbs = d->link_mbs,
        .record_ns = d->calibration->record_ns,
        .witnesses = w.count,
        .witness_ns = w.excess_ns,
    };
    __builtin_memcpy(f.uuid, d->uuid.bytes, sizeof(f.uuid));
    ct_image_append(CT_SECTION_DEVICES, &f, sizeof(f));
}

/* Rows of a context that could not be asked for its device refer to the first one. */
static void add_unknown_device(void)
{
    const struct ct_device d = {.name = "unknown device", .calibration = ct_calibration_of("", 0)};
    if (ct_rows_count())
        add_device(&d, (struct ct_witnesses){0});
}

/* Copies the buckets from first to last that hold something; returns how many. `to` may be NULL. */
static uint32_t copy_buckets(struct ct_file_bucket *to, const struct ct_buckets *b, uint32_t first,
                             uint32_t last)
{
    uint32_t n = 0;
    for (uint32_t i = first; i <= last; i++) {
        uint64_t count = ct_buckets_count(b, i);
        if (count && to)
            to[n] = (struct ct_file_bucket){i, count};
        n += count != 0;
    }
    return n;
}

/* Lists a histogram of so many durations, from first to last bucket that can hold something. */
static void list_buckets(struct ct_list_extent *l, uint64_t of, const struct ct_buckets *b,
                         uint32_t first, uint32_t last)
{
    if (!b || (l->of == of && ct_image_keeps_lists()))
        return;
    uint32_t n = copy_buckets(NULL, b, first, last);
    struct ct_file_bucket *to = ct_image_list(CT_SECTION_BUCKETS, &l->at, n);
    if (!to)
        return;
    copy_buckets(to, b, first, last);
    l->of = of;
}

static void list_sums(struct ct_sums *s, uint64_t timed)
{
    list_buckets(&s->listed, timed, s->buckets, ct_hist_bucket(s->min_ns),
                 ct_hist_bucket(s->max_ns));
}

static void list_shapes(struct ct_row *r)
{
    uint32_t n = 0;
    while (n < CT_ROW_SHAPES && r->shapes[n].count)
        n++;
    struct ct_file_shape *to = ct_image_list(CT_SECTION_SHAPES, &r->listed_shapes, n);
    for (uint32_t i = 0; to && i < n; i++) {
        const struct ct_shape *s = &r->shapes[i].shape;
        to[i] = (struct ct_file_shape){
            .grid = {s->grid[0], s->grid[1], s->grid[2]},
            .block = {s->block[0], s->block[1], s->block[2]},
            .dynamic_shared_bytes = s->dynamic_shared_bytes,
            .count = r->shapes[i].count,
        };
    }
}

static void add_transfers(const struct ct_row *r)
{
    for (uint32_t from = 0; r->transfers && from < CT_MEMORY_COUNT; from++)
        for (uint32_t to = 0; to < CT_MEMORY_COUNT; to++)
            for (uint32_t octave = 0; octave < CT_TRANSFER_OCTAVES; octave++) {
                const struct ct_transfer *t = &r->transfers->kind[from][to][octave];
                struct ct_file_transfer f = {
                    .row = ct_image_count(CT_SECTION_ROWS),
                    .octave = octave,
                    .from = from,
                    .to = to,
                    .timed = t->timed,
                    .bytes = t->bytes,
                    .total_ns = t->total_ns,
                };
                if (t->timed)
                    ct_image_append(CT_SECTION_TRANSFERS, &f, sizeof(f));
            }
}

static void add_row(struct ct_row *r)
{
    add_transfers(r);
    list_shapes(r);
    list_sums(&r->time, r->timed);
    list_sums(&r->raw, r->timed);
    struct ct_file_row f = {
        .kind = r->kind,
        .detail = r->detail,
        .device = r->device,
        .name = add_string(r->name),
        .timed = r->timed,
        .errors = atomic_load_explicit(&r->errors, memory_order_relaxed),
        .total_ns = r->time.total_ns,
        .min_ns = r->timed ? r->time.min_ns : 0,
        .max_ns = r->time.max_ns,
        .square_ns2 = r->time.square_ns2,
        .raw_total_ns = r->raw.total_ns,
        .raw_min_ns = r->timed ? r->raw.min_ns : 0,
        .raw_max_ns = r->raw.max_ns,
        .bytes = atomic_load_explicit(&r->bytes, memory_order_relaxed),
        .timed_bytes = r->timed_bytes,
        .overlapped = r->overlapped,
        .registers = atomic_load_explicit(&r->registers, memory_order_relaxed),
        .static_shared_bytes = atomic_load_explicit(&r->static_shared_bytes, memory_order_relaxed),
        .shape_first = r->listed_shapes.first,
        .shape_count = r->listed_shapes.count,
        .shape_other = r->shape_other,
        .bucket_first = r->time.listed.at.first,
        .bucket_count = r->time.listed.at.count,
        .raw_square_ns2 = r->raw.square_ns2,
        .doubt_ns = r->doubt_ns,
        .marked = r->marked,
        .legacy_waits = r->legacy_waits,
        .raw_bucket_first = r->raw.listed.at.first,
        .raw_bucket_count = r->raw.listed.at.count,
        .estimated = r->timed + (uint64_t)r->projection.operations,
        .estimated_ns = (double)r->time.total_ns + r->projection.total_ns,
        .estimated_square_ns2 = r->time.square_ns2 + r->projection.square_ns2,
        .variance_ns2 = r->projection.variance_ns2,
        .third_ns3 = r->projection.third_ns3,
        .freedom_ns4 = r->projection.freedom_ns4,
        .with_others_ns2 = r->projection.with_others_ns2,
    };
    uint64_t drawn_from = f.timed;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++) {
        f.lost[i] = atomic_load_explicit(&r->lost[i], memory_order_relaxed);
        drawn_from += ct_loss_is_drawn(i) ? f.lost[i] : 0;
    }
    f.estimated = ct_min(f.estimated, drawn_from);
    ct_image_append(CT_SECTION_ROWS, &f, sizeof(f));
}

static void add_api(uint32_t id)
{
    struct ct_api_totals t = ct_api_totals(id);
    if (!t.calls)
        return;
    struct ct_api_stats *s = ct_api_stats(id);
    list_buckets(&s->listed, s->sampled, s->buckets, s->first, s->last);
    struct ct_file_api f = {
        .name = add_string(ct_api_names[id]),
        .flags = id >= CT_RUNTIME_FIRST ? CT_API_RUNTIME : 0,
        .calls = t.calls,
        .errors = t.errors,
        .total_ns = t.total_ns,
        .min_ns = t.min_ns,
        .max_ns = t.max_ns,
        .sampled = s->sampled,
        .square_ns2 = s->square_ns2,
        .bucket_first = s->listed.at.first,
        .bucket_count = s->listed.at.count,
        .timed = t.timed,
    };
    ct_image_append(CT_SECTION_APIS, &f, sizeof(f));
    so_far.api_index[id] = ct_image_count(CT_SECTION_APIS);
}

/* Time from the start of the process, which is a moment before the clocks are tied. */
static uint64_t since_start(const struct ct_process_info *process, uint64_t ns)
{
    return ns > process->start_ns ? ns - process->start_ns : 0;
}

static const char *context_name_of(const struct ct_stream *s)
{
    const char *kept = atomic_load_explicit(&s->context_name, memory_order_acquire);
    return kept ? kept : atomic_load_explicit(&ct_context(s->context)->name, memory_order_acquire);
}

static void add_stream(const struct ct_stream *s, const struct ct_process_info *process)
{
    static const struct ct_stream_activity none;
    const struct ct_stream_activity *known = ct_activity_of_stream(s), *a = known ? known : &none;
    struct ct_file_stream f = {
        .id = s->id,
        .operations = atomic_load_explicit(&s->untimed, memory_order_relaxed) +
                      atomic_load_explicit(&s->settled, memory_order_relaxed),
        .waits = atomic_load_explicit(&s->waits, memory_order_relaxed),
        .device = s->device,
        .flags = s->flags,
        .priority = s->priority,
        .special = s->special,
        .timed = a->timed,
        .first_ns = since_start(process, a->first_ns),
        .last_ns = since_start(process, a->last_ns),
        .busy_ns = a->busy_ns,
        .beside_ns = a->beside_ns,
        .gaps = a->gaps,
        .longest_gap_ns = a->longest_gap_ns,
        .name = add_given_name(atomic_load_explicit(&s->name, memory_order_acquire)),
        .context_name = add_given_name(context_name_of(s)),
    };
    ct_image_append(CT_SECTION_STREAMS, &f, sizeof(f));
}

static uint64_t turns_of(uint32_t device)
{
    uint64_t turns = atomic_load_explicit(&ct_device(device)->turns, memory_order_relaxed);
    for (uint32_t i = 0; i < CT_CONTEXTS; i++)
        if (ct_context(i)->device == device)
            turns += atomic_load_explicit(&ct_context(i)->turns, memory_order_relaxed);
    return turns;
}

static void add_activity(uint32_t device, const struct ct_process_info *process)
{
    const struct ct_sweep_figures *known = ct_activity_of(device);
    if (!known)
        return;
    struct ct_file_activity a = known->sum;
    a.device = device;
    a.first_ns = since_start(process, a.first_ns);
    a.last_ns = since_start(process, a.last_ns);
    a.turns = turns_of(device);
    ct_image_append(CT_SECTION_ACTIVITIES, &a, sizeof(a));
    for (uint32_t octave = 0; octave < CT_SWEEP_OCTAVES; octave++) {
        struct ct_file_gap g = known->gap[octave];
        g.device = device;
        g.octave = octave;
        if (g.count)
            ct_image_append(CT_SECTION_GAPS, &g, sizeof(g));
    }
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void add_node_times(struct ct_file_node *f, const struct ct_node_time *t)
{
    if (!t)
        return;
    struct ct_node_bias b = ct_node_bias_of(t->row);
    double n = (double)t->timed, bias_ns = (double)b.bias_ns;
    double square_ns2 = t->square_ns2 - bias_ns * (2 * (double)t->total_ns - n * bias_ns);
    uint32_t beside_ns = ct_device(ct_row(t->row)->device)->calibration->node.beside_ns;
    f->timed = t->timed;
    f->total_ns = less(t->total_ns, t->timed * b.bias_ns);
    f->min_ns = less(t->min_ns, b.bias_ns);
    f->max_ns = less(t->max_ns, b.bias_ns);
    f->square_ns2 = square_ns2 > 0 ? square_ns2 : 0;
    f->raw_total_ns = t->total_ns;
    f->doubt_ns = t->timed * b.doubt_ns + t->beside * beside_ns;
}

/* Frames come later, and are whole by then: a stack's number is an index there plus one. */
static void add_node_stack(uint32_t row, const struct ct_graph_spot *s, const char *name,
                           uint64_t launches)
{
    struct ct_node_stack_time t = ct_node_stack_time(row, name, s->stack);
    struct ct_file_inside f = {.node = ct_image_count(CT_SECTION_NODES) - 1,
                               .frame = s->stack - 1,
                               .count = s->count * launches,
                               .timed = t.timed,
                               .total_ns = t.total_ns};
    if (t.timed)
        f.total_ns = less(t.total_ns, t.timed * ct_node_bias_of(row).bias_ns);
    if (f.count)
        ct_image_append(CT_SECTION_INSIDE, &f, sizeof(f));
}

static void add_node_stacks(uint32_t row, const struct ct_graph *g, uint32_t part,
                            uint64_t launches)
{
    for (uint32_t i = 0; i < g->spots; i++)
        if (g->spot[i].part == part)
            add_node_stack(row, &g->spot[i], ct_graph_work_name(&g->part[part].work), launches);
}

static void add_node(uint32_t row, const struct ct_graph_part *p, uint64_t launches)
{
    struct ct_file_node f = {.graph_row = row,
                             .name = add_string(ct_graph_work_name(&p->work)),
                             .count = p->count,
                             .kind = p->work.kind,
                             .detail = p->work.detail,
                             .bytes = p->work.bytes * launches};
    add_node_times(&f, ct_node_time_find(row, ct_graph_work_name(&p->work)));
    ct_image_append(CT_SECTION_NODES, &f, sizeof(f));
}

/* Launches that ran and are not excluded, as the section of the rows has them by now. */
static uint64_t launches_of(uint32_t row)
{
    const struct ct_file_row *f =
        (const struct ct_file_row *)ct_image_section(CT_SECTION_ROWS) + row;
    uint64_t n = f->timed;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++)
        n += i != CT_LOSS_CAPTURED && i != CT_LOSS_EXCLUDED ? f->lost[i] : 0;
    return n;
}

/* A topology has a row on each device it was launched on. */
static void add_nodes(const struct ct_graph *g)
{
    for (uint32_t row = 0; row < ct_image_count(CT_SECTION_ROWS); row++) {
        const struct ct_row *r = ct_row(row);
        if (r->kind != CT_ROW_GRAPH || !ct_streq(r->name, g->name))
            continue;
        uint64_t launches = launches_of(row);
        so_far.bodies += g->bodies ? launches : 0;
        so_far.unsized += g->unsized ? launches : 0;
        for (uint32_t i = 0; i < g->parts; i++) {
            add_node(row, &g->part[i], launches);
            add_node_stacks(row, g, i, launches);
        }
    }
}

static void add_memory(uint32_t device)
{
    struct ct_file_memory f;
    for (uint32_t kind = 0; kind < CT_ALLOCATION_COUNT; kind++)
        if (ct_allocations_figures(device, kind, &f))
            ct_image_append(CT_SECTION_MEMORY, &f, sizeof(f));
}

static void add_unified(uint32_t device)
{
    struct ct_file_unified f;
    for (uint32_t kind = 0; kind < CT_UNIFIED_COUNT; kind++)
        if (ct_unified_figures(device, kind, &f))
            ct_image_append(CT_SECTION_UNIFIED, &f, sizeof(f));
}

static void add_blocks(void)
{
    static struct ct_file_block list[CT_ALLOCATIONS_LISTED + 1];
    uint32_t listed = ct_allocations_list(list);
    for (uint32_t i = 0; i < listed; i++)
        if (list[i].device < ct_image_count(CT_SECTION_DEVICES))
            ct_image_append(CT_SECTION_BLOCKS, &list[i], sizeof(list[i]));
}

static void add_note(const struct ct_note *n)
{
    struct ct_file_note f = {
        .kind = n->kind,
        .text = add_string(n->text),
        .count = atomic_load_explicit(&n->count, memory_order_relaxed),
    };
    ct_image_append(CT_SECTION_NOTES, &f, sizeof(f));
}

static void add_counted_note(const char *text, uint64_t count)
{
    struct ct_file_note f = {.kind = CT_NOTE_WARNING, .count = count};
    if (!count)
        return;
    f.text = add_string(text);
    ct_image_append(CT_SECTION_NOTES, &f, sizeof(f));
}

static void add_lost_replicas(void)
{
    static const char *const losses[] = {
#define X(id, text) text,
        CT_REPLICA_LOSSES(X)
#undef X
    };
    for (unsigned i = 0; i < CT_REPLICA_LOSS_COUNT; i++)
        add_counted_note(losses[i], ct_replicas_lost(i));
}

static const char polled[] =
    "Operations whose end was found by asking for it, not stamped: there were more streams than "
    "connections to the GPU, and stamps would have kept them from running side by side";

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* A parent has a lower number, and so has its place already. */
static void add_range(struct ct_ranges *r, uint32_t node, uint32_t thread)
{
    struct ct_range_node *n = ct_range_node(r, node);
    struct ct_range_sums *s = ct_range_sums(r, node);
    uint64_t ended = get(&n->count), opened = get(&n->opened), min = get(&n->min_ticks);
    uint64_t most_ns = ct_ticks_to_ns(get(&n->max_ticks));
    list_buckets(&s->listed, s->sampled, s->buckets, 0, CT_HIST_BUCKETS - 1);
    struct ct_file_range f = {
        .parent = n->parent ? ct_range_sums(r, n->parent)->index + 1 : 0,
        .thread = thread,
        .domain = add_string(ct_range_domain_name(n->domain)),
        .name = add_string(n->text),
        .style = n->style,
        .color = n->color,
        .count = ended,
        .unclosed = opened > ended ? opened - ended : 0,
        .total_ns = ct_ticks_to_ns(get(&n->total_ticks)),
        .min_ns = ct_min(ct_ticks_to_ns(min), most_ns),
        .max_ns = most_ns,
        .sampled = s->sampled,
        .square_ns2 = s->square_ns2,
        .bucket_first = s->listed.at.first,
        .bucket_count = s->listed.at.count,
    };
    s->index = ct_image_count(CT_SECTION_RANGES);
    ct_image_append(CT_SECTION_RANGES, &f, sizeof(f));
}

/* A tree that grows meanwhile has calls in ranges that are not in the section yet. */
static void add_range_calls(struct ct_ranges *r, uint32_t nodes)
{
    struct ct_range_call *calls = ct_range_calls(r);
    for (uint32_t i = 0; i < CT_RANGE_CALLS; i++) {
        uint64_t key = atomic_load_explicit(&calls[i].key, memory_order_acquire) - 1;
        uint32_t node = (uint32_t)(key >> 32), api = (uint32_t)key;
        if (key == UINT64_MAX || node >= nodes || !so_far.api_index[api] || !get(&calls[i].calls))
            continue;
        struct ct_file_cell f = {
            .range = ct_range_sums(r, node)->index,
            .section = CT_SECTION_APIS,
            .index = so_far.api_index[api] - 1,
            .count = get(&calls[i].calls),
            .total_ns = ct_ticks_to_ns(get(&calls[i].total_ticks)),
            .min_ns = ct_ticks_to_ns(get(&calls[i].min_ticks)),
            .max_ns = ct_ticks_to_ns(get(&calls[i].max_ticks)),
        };
        ct_image_append(CT_SECTION_CELLS, &f, sizeof(f));
    }
}

static void add_ranges(struct ct_ranges *r)
{
    uint32_t nodes = ct_range_nodes(r), thread = ct_image_count(CT_SECTION_THREADS);
    const char *name;
    if (nodes < 2)
        return;
    struct ct_file_thread f = ct_range_thread(r, &name);
    f.name = add_given_name(name);
    ct_image_append(CT_SECTION_THREADS, &f, sizeof(f));
    for (uint32_t node = 1; node < nodes; node++)
        add_range(r, node, thread);
    add_range_calls(r, nodes);
}

static void add_range_cell(const struct ct_range_cell *c)
{
    struct ct_file_cell f = {
        .range = ct_range_sums(c->ranges, ct_range_node_of(c->range))->index,
        .section = CT_SECTION_ROWS,
        .index = c->row,
        .count = c->count,
        .total_ns = c->total_ns,
        .min_ns = c->min_ns,
        .max_ns = c->max_ns,
        .square_ns2 = c->square_ns2,
    };
    ct_image_append(CT_SECTION_CELLS, &f, sizeof(f));
}

static void add_all_ranges(void)
{
    static const char *const losses[] = {
#define X(id, text) text,
        CT_RANGE_LOSSES(X)
#undef X
    };
    for (struct ct_ranges *r = ct_ranges_first(); r; r = ct_ranges_next(r))
        add_ranges(r);
    for (uint32_t i = 0; i < ct_range_cells(); i++)
        add_range_cell(ct_range_cell(i));
    for (unsigned i = 0; i < CT_RANGE_LOSS_COUNT; i++)
        add_counted_note(losses[i], ct_range_lost(i));
}

static void add_collectives(void)
{
    for (uint32_t i = 0; i < ct_collective_rows(); i++) {
        struct ct_file_collective f = ct_collective_row(i);
        ct_image_append(CT_SECTION_COLLECTIVES, &f, sizeof(f));
    }
    add_counted_note("operations of NCCL are not counted: there are too many kinds and sizes",
                     ct_collectives_uncounted());
}

/* Kinds that were asked for; a device that is not read has one that says why. */
static void add_sensors(uint32_t device)
{
    struct ct_file_sensor s[CT_SENSOR_COUNT];
    if (!ct_sensor_readings(device, s))
        return;
    for (unsigned i = 0; i < CT_SENSOR_COUNT; i++)
        if (!i || s[i].calls)
            ct_image_append(CT_SECTION_SENSORS, &s[i], sizeof(s[i]));
}

static void add_unified_losses(void)
{
    static const char *const losses[] = {
#define X(id, text) text,
        CT_UNIFIED_LOSSES(X)
#undef X
    };
    for (unsigned i = 0; i < CT_UNIFIED_LOSS_COUNT; i++)
        add_counted_note(losses[i], ct_unified_lost(i));
}

static void fill(const struct ct_process_info *process, bool finished)
{
    add_string("");
    add_process(process, finished);
    ct_rows_project();
    ct_activity_project();
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        add_row(ct_row(i));
    ct_api_stats_sum_up_awake();
    for (uint32_t id = 0; id < CT_API_COUNT && !ct_config.without_api; id++)
        add_api(id);
    for (uint32_t i = 0; i < ct_min(ct_streams_count(), CT_STREAMS_LISTED); i++)
        add_stream(ct_stream(i), process);
    if (!ct_devices_count())
        add_unknown_device();
    /* Devices come after all that refers to them: more devices may come meanwhile. */
    for (uint32_t i = 0; i < ct_devices_count(); i++)
        add_device(ct_device(i), ct_witnesses_of(i));
    for (uint32_t i = 0; i < ct_image_count(CT_SECTION_DEVICES); i++) {
        add_activity(i, process);
        add_memory(i);
        add_unified(i);
        add_sensors(i);
    }
    if (finished)
        add_blocks();
    ct_node_times_settle();
    for (uint32_t i = 0; i < ct_graphs_count(); i++)
        add_nodes(ct_graph(i));
    add_counted_note("Launches of graphs with conditional nodes: "
                     "what ran in the bodies of these is not counted",
                     so_far.bodies);
    add_counted_note("Launches of graphs whose copies and sets are counted without their bytes: "
                     "there are too many sizes",
                     so_far.unsized);
    for (uint32_t i = 0; i < ct_notes_count(); i++)
        add_note(ct_note_at(i));
    add_lost_replicas();
    add_counted_note(polled, ct_harvest_polled());
    add_all_ranges();
    add_collectives();
    add_unified_losses();
    ct_stack_sections_add();
    ct_stuck_section_add(process->start_ns, finished);
}

bool ct_snapshot(struct ct_buffer *out, const struct ct_process_info *process, bool finished)
{
    if (!ct_image_begin(out, finished))
        return false;
    so_far = (struct so_far){.written = so_far.written};
    fill(process, finished);
    return ct_image_end();
}
