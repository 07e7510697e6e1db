/* SPDX-License-Identifier: MIT */
#include "report/profile/merge.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/profile/merged_hist.h"
#include "report/profile/sizes.h"
#include "report/profile/spread.h"

#define MOST_SHAPES 64 /* of one row; further ones are only counted */

static uint32_t name_of(struct ct_merged *m, const struct ct_summary *s, uint32_t offset)
{
    return ct_key_table_text(&m->names, ct_summary_text(s, offset));
}

/* A kernel's name, or that of its group, which is made once. */
static uint32_t kernel_name(struct ct_merged *m, const char *name)
{
    if (!m->grouped)
        return ct_key_table_text(&m->names, name);
    uint32_t known = m->full_names.count, full = ct_key_table_text(&m->full_names, name);
    m->groups = ct_memory_grow(m->groups, &m->groups_size, full + 1, sizeof(*m->groups));
    if (full == known) {
        struct ct_string group = {0};
        ct_name_kernel(&group, name, CT_NAMES_GROUPED);
        m->groups[full] = ct_key_table_text(&m->names, group.data);
        ct_string_free(&group);
    }
    return m->groups[full];
}

static void add_member(struct ct_merged *m, uint32_t row, const char *name)
{
    uint32_t key[] = {row, ct_key_table_text(&m->full_names, name)};
    _Static_assert(sizeof(key) == sizeof(struct ct_merged_member), "a member is its own key");
    ct_key_table_add(&m->members, key, sizeof(key));
}

struct ct_merged_member ct_merge_member(const struct ct_merged *m, uint32_t i)
{
    struct ct_merged_member member;
    memcpy(&member, ct_key_table_get(&m->members, i), sizeof(member));
    return member;
}

/* A GPU has one UUID in every file; without a UUID, number and name must do. */
static uint32_t device_key(struct ct_merged *m, const struct ct_file_device *d, uint32_t name)
{
    static const uint8_t none[sizeof(d->uuid)];
    struct {
        uint8_t uuid[sizeof(d->uuid)];
        uint32_t ordinal;
        uint32_t name;
    } key = {.ordinal = 0, .name = 0};
    memcpy(key.uuid, d->uuid, sizeof(key.uuid));
    if (!memcmp(d->uuid, none, sizeof(none))) {
        key.ordinal = d->ordinal;
        key.name = name;
    }
    return ct_key_table_add(&m->device_keys, &key, sizeof(key));
}

static uint32_t model_of(struct ct_merged *m, const struct ct_file_device *d, uint32_t name,
                         uint32_t device)
{
    struct {
        uint64_t memory_bytes;
        uint32_t name, sm_count, compute_major, compute_minor;
    } key = {d->memory_bytes, name, d->sm_count, d->compute_major, d->compute_minor};
    uint32_t known = m->model_keys.count,
             model = ct_key_table_add(&m->model_keys, &key, sizeof(key));
    m->models = ct_memory_grow(m->models, &m->models_size, model + 1, sizeof(*m->models));
    if (model == known)
        m->models[model] = device;
    return m->models[model];
}

static uint32_t row_device(const struct ct_merged *m, uint32_t device)
{
    if (m->devices_as == CT_DEVICES_AS_ONE)
        return 0;
    return m->devices_as == CT_DEVICES_BY_MODEL ? m->devices[device].model : device;
}

static void add_devices(struct ct_merged *m, const struct ct_summary *s)
{
    m->device_map = ct_memory_grow(m->device_map, &m->device_map_size, s->devices_count,
                                   sizeof(*m->device_map));
    for (size_t i = 0; i < s->devices_count; i++) {
        const struct ct_file_device *from = &s->devices[i];
        uint32_t name = name_of(m, s, from->name), known = m->device_keys.count;
        uint32_t to = device_key(m, from, name);
        m->devices = ct_memory_grow(m->devices, &m->devices_size, to + 1, sizeof(*m->devices));
        if (to == known) {
            m->devices[to].sum = *from;
            m->devices[to].sum.name = name;
            m->devices[to].sum.given_name = name_of(m, s, 0);
            m->devices[to].model = model_of(m, from, name, to);
        }
        if (!*ct_merge_name(m, m->devices[to].sum.given_name))
            m->devices[to].sum.given_name = name_of(m, s, from->given_name);
        m->device_map[i] = row_device(m, to);
        m->devices[to].raw |= from->calibration == CT_CALIBRATION_NONE;
        m->devices[m->device_map[i]].raw |= m->devices[to].raw;
    }
}

static int by_graph_and_name(const void *a, const void *b)
{
    const struct ct_file_node *x = a, *y = b;
    if (x->graph_row != y->graph_row)
        return x->graph_row < y->graph_row ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static void add_node_figures(struct ct_file_node *to, const struct ct_file_node *from)
{
    ct_merge_add_to(&to->bytes, from->bytes);
    if (!from->timed)
        return;
    ct_merge_widen(&to->min_ns, &to->max_ns, !to->timed, from->min_ns, from->max_ns);
    ct_merge_add_to(&to->timed, from->timed);
    ct_merge_add_to(&to->total_ns, from->total_ns);
    to->square_ns2 += from->square_ns2;
    ct_merge_add_to(&to->raw_total_ns, from->raw_total_ns);
    ct_merge_add_to(&to->doubt_ns, from->doubt_ns);
}

static void add_node(struct ct_file_node *to, const struct ct_file_node *from)
{
    ct_merge_add_to(&to->count, from->count);
    add_node_figures(to, from);
}

/* Copies and sets are in no group of kernels. */
uint32_t ct_merge_node_name(struct ct_merged *m, const struct ct_summary *s,
                            const struct ct_file_node *node)
{
    return !node->kind || node->kind == CT_ROW_KERNEL
               ? kernel_name(m, ct_summary_text(s, node->name))
               : name_of(m, s, node->name);
}

/* Older files have kernels as their only nodes. */
static void take_node(struct ct_merged *m, const struct ct_summary *s, size_t i)
{
    struct ct_file_node *node = &m->nodes[i];
    *node = s->nodes[i];
    node->kind = node->kind ? node->kind : CT_ROW_KERNEL;
    node->name = ct_merge_node_name(m, s, &s->nodes[i]);
}

/* The file's nodes with our names, in order, each name once a graph; how many there are. */
static size_t gather_nodes(struct ct_merged *m, const struct ct_summary *s)
{
    size_t kept = 0;
    m->nodes = ct_memory_grow(m->nodes, &m->nodes_size, s->nodes_count, sizeof(*m->nodes));
    for (size_t i = 0; i < s->nodes_count; i++)
        take_node(m, s, i);
    if (s->nodes_count)
        qsort(m->nodes, s->nodes_count, sizeof(*m->nodes), by_graph_and_name);
    for (size_t i = 0; i < s->nodes_count; i++) {
        if (kept && !by_graph_and_name(&m->nodes[kept - 1], &m->nodes[i]))
            add_node(&m->nodes[kept - 1], &m->nodes[i]);
        else
            m->nodes[kept++] = m->nodes[i];
    }
    return kept;
}

/* The part of a node that identifies it: name, kind, detail, and how often it runs. */
static struct ct_file_node content_of(const struct ct_file_node *node)
{
    return (struct ct_file_node){
        .name = node->name, .count = node->count, .kind = node->kind, .detail = node->detail};
}

/*
 * Graphs, also of several files, have one content when the same kernels, copies and sets run in
 * them as often, whatever the times and bytes of these.
 */
static void map_contents(struct ct_merged *m, const struct ct_summary *s)
{
    m->content_map = ct_memory_grow(m->content_map, &m->content_map_size, s->rows_count,
                                    sizeof(*m->content_map));
    m->node_map =
        ct_memory_grow(m->node_map, &m->node_map_size, s->rows_count, sizeof(*m->node_map));
    for (size_t i = 0; i < s->rows_count; i++)
        m->content_map[i] = CT_MERGE_NONE;
    size_t count = gather_nodes(m, s);
    struct ct_file_node *content = ct_memory_array(count, sizeof(*content));
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t row = m->nodes[i].graph_row;
        for (end = i; end < count && m->nodes[end].graph_row == row; end++)
            content[end - i] = content_of(&m->nodes[end]);
        m->node_map[row] = i;
        m->content_map[row] = ct_key_table_add(&m->contents, content, (end - i) * sizeof(*content));
    }
    free(content);
}

size_t ct_merge_content_count(const struct ct_merged *m, uint32_t content)
{
    return ct_key_table_len(&m->contents, content) / sizeof(struct ct_file_node);
}

struct ct_file_node ct_merge_content(const struct ct_merged *m, uint32_t content, size_t i)
{
    struct ct_file_node node;
    memcpy(&node, ct_key_table_get(&m->contents, content) + i * sizeof(node), sizeof(node));
    return node;
}

struct ct_file_node ct_merge_node(const struct ct_merged *m, const struct ct_merged_row *row,
                                  size_t i)
{
    struct ct_file_node node = ct_merge_content(m, row->content, i);
    if (i < row->node_count)
        add_node_figures(&node, &row->nodes[i]);
    return node;
}

size_t ct_merge_node_named(const struct ct_merged *m, const struct ct_merged_row *row,
                           uint32_t name)
{
    size_t count = row->content == CT_MERGE_NONE ? 0 : ct_merge_content_count(m, row->content);
    size_t i = 0;
    while (i < count && ct_merge_content(m, row->content, i).name != name)
        i++;
    return i;
}

/* Graphs of kernels that nobody timed need no room for that. */
static void add_nodes(struct ct_merged_row *to, const struct ct_file_node *nodes, size_t count)
{
    bool any = to->nodes;
    for (size_t i = 0; i < count; i++)
        any |= nodes[i].timed || nodes[i].bytes;
    if (!any)
        return;
    if (!to->nodes) {
        to->nodes = ct_memory_array(count, sizeof(*to->nodes));
        to->node_count = count;
    }
    for (size_t i = 0; i < count && i < to->node_count; i++)
        add_node_figures(&to->nodes[i], &nodes[i]);
}

/* A graph's name is its ordinal in its own process: its content, where known, tells it better. */
static uint32_t row_name(struct ct_merged *m, const struct ct_summary *s, size_t i)
{
    const struct ct_file_row *row = &s->rows[i];
    if (m->content_map[i] != CT_MERGE_NONE)
        return ct_key_table_text(&m->names, "");
    if (row->kind == CT_ROW_KERNEL)
        return kernel_name(m, ct_summary_text(s, row->name));
    return name_of(m, s, row->name);
}

/* Registers and shared memory that differ among kernels shown as one count as not known. */
static void keep_common(struct ct_file_row *to, const struct ct_file_row *from)
{
    if (to->registers != from->registers)
        to->registers = UINT32_MAX;
    if (to->static_shared_bytes != from->static_shared_bytes)
        to->static_shared_bytes = UINT32_MAX;
}

/* The entry of a row, with its identity filled in and zero figures when it is new. */
static struct ct_merged_row *row_of(struct ct_merged *m, const struct ct_summary *s, size_t i)
{
    const struct ct_file_row *from = &s->rows[i];
    uint32_t key[] = {from->kind, from->detail, m->device_map[from->device], row_name(m, s, i),
                      m->content_map[i]};
    uint32_t known = m->row_keys.count, at = ct_key_table_add(&m->row_keys, key, sizeof(key));
    m->rows = ct_memory_grow(m->rows, &m->rows_size, at + 1, sizeof(*m->rows));
    struct ct_merged_row *to = &m->rows[at];
    m->row_map[i] = at;
    if (at == known) {
        to->sum = (struct ct_file_row){.kind = key[0],
                                       .detail = key[1],
                                       .device = key[2],
                                       .name = key[3],
                                       .min_ns = UINT64_MAX,
                                       .raw_min_ns = UINT64_MAX,
                                       .registers = from->registers,
                                       .static_shared_bytes = from->static_shared_bytes};
        to->content = key[4];
    }
    if (m->grouped && from->kind == CT_ROW_KERNEL) {
        add_member(m, at, ct_summary_text(s, from->name));
        keep_common(&to->sum, from);
    }
    return to;
}

/* A file without an estimate is one in which nothing was sampled out. */
static void add_estimate(struct ct_file_row *to, const struct ct_file_row *from)
{
    bool known = from->estimated != 0;
    ct_merge_add_to(&to->estimated, known ? from->estimated : from->timed);
    to->estimated_ns += known ? from->estimated_ns : (double)from->total_ns;
    to->estimated_square_ns2 += known ? from->estimated_square_ns2 : from->square_ns2;
    to->variance_ns2 += from->variance_ns2;
    to->third_ns3 += from->third_ns3;
    to->freedom_ns4 += from->freedom_ns4;
    to->with_others_ns2 += from->with_others_ns2;
}

static void add_durations(struct ct_file_row *to, const struct ct_file_row *from)
{
    ct_merge_add_to(&to->timed, from->timed);
    ct_merge_add_to(&to->total_ns, from->total_ns);
    ct_merge_add_to(&to->raw_total_ns, from->raw_total_ns);
    to->square_ns2 += from->square_ns2;
    to->raw_square_ns2 += from->raw_square_ns2;
    to->min_ns = ct_min(to->min_ns, from->min_ns);
    to->max_ns = ct_max(to->max_ns, from->max_ns);
    to->raw_min_ns = ct_min(to->raw_min_ns, from->raw_min_ns);
    to->raw_max_ns = ct_max(to->raw_max_ns, from->raw_max_ns);
    ct_merge_add_to(&to->timed_bytes, from->timed_bytes);
    ct_merge_add_to(&to->doubt_ns, from->doubt_ns);
    ct_merge_add_to(&to->marked, from->marked);
    ct_merge_add_to(&to->overlapped, from->overlapped);
    ct_merge_add_to(&to->legacy_waits, from->legacy_waits);
    add_estimate(to, from);
}

static bool same_shape(const struct ct_file_shape *a, const struct ct_file_shape *b)
{
    return !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
           !memcmp(a->block, b->block, sizeof(a->block)) &&
           a->dynamic_shared_bytes == b->dynamic_shared_bytes;
}

/* A file without a histogram has no array to point into. */
static void add_buckets(struct ct_merged_hist *to, const struct ct_summary *s, uint32_t first,
                        uint32_t count)
{
    if (count)
        ct_merged_hist_merge(to, s->buckets + first, count);
}

static void add_shape(struct ct_merged_row *to, const struct ct_file_shape *shape)
{
    for (size_t i = 0; i < to->shape_count; i++) {
        if (same_shape(&to->shapes[i], shape)) {
            ct_merge_add_to(&to->shapes[i].count, shape->count);
            return;
        }
    }
    if (to->shape_count == MOST_SHAPES) {
        ct_merge_add_to(&to->sum.shape_other, shape->count);
        return;
    }
    to->shapes =
        ct_memory_grow(to->shapes, &to->shape_size, to->shape_count + 1, sizeof(*to->shapes));
    to->shapes[to->shape_count++] = *shape;
}

static void add_row_details(struct ct_merged_row *to, const struct ct_summary *s,
                            const struct ct_file_row *from)
{
    ct_merge_add_to(&to->sum.shape_other, from->shape_other);
    for (uint32_t i = 0; i < from->shape_count; i++)
        add_shape(to, &s->shapes[from->shape_first + i]);
    add_buckets(&to->hist, s, from->bucket_first, from->bucket_count);
    add_buckets(&to->raw_hist, s, from->raw_bucket_first, from->raw_bucket_count);
}

static void add_figures(struct ct_file_row *to, const struct ct_file_row *from)
{
    if (from->timed)
        add_durations(to, from);
    ct_merge_add_to(&to->errors, from->errors);
    ct_merge_add_to(&to->bytes, from->bytes);
    for (int k = 0; k < CT_FILE_LOSSES; k++)
        ct_merge_add_to(&to->lost[k], from->lost[k]);
}

static void add_rows(struct ct_merged *m, const struct ct_summary *s)
{
    m->row_map = ct_memory_grow(m->row_map, &m->row_map_size, s->rows_count, sizeof(*m->row_map));
    for (size_t i = 0; i < s->rows_count; i++) {
        struct ct_merged_row *to = row_of(m, s, i);
        add_figures(&to->sum, &s->rows[i]);
        if (to->content != CT_MERGE_NONE)
            add_nodes(to, &m->nodes[m->node_map[i]], ct_merge_content_count(m, to->content));
        if (m->details)
            add_row_details(to, s, &s->rows[i]);
    }
}

static struct ct_merged_row *row_of_its_own(const struct ct_merged_row *from)
{
    struct ct_merged_row *to = ct_memory_copy(from, sizeof(*from));
    to->shapes = ct_memory_copy(from->shapes, from->shape_count * sizeof(*from->shapes));
    to->shape_size = from->shape_count;
    to->nodes = ct_memory_copy(from->nodes, from->node_count * sizeof(*from->nodes));
    to->hist = to->raw_hist = (struct ct_merged_hist){0};
    ct_merged_hist_merge(&to->hist, from->hist.buckets, from->hist.count);
    ct_merged_hist_merge(&to->raw_hist, from->raw_hist.buckets, from->raw_hist.count);
    to->sizes = NULL;
    ct_sizes_merge(&to->sizes, from->sizes);
    return to;
}

struct ct_merged_row *ct_merge_rows(struct ct_merged_row *sum, const struct ct_merged_row *first,
                                    const struct ct_merged_row *more)
{
    struct ct_merged_row *to = sum ? sum : row_of_its_own(first);
    keep_common(&to->sum, &more->sum);
    add_figures(&to->sum, &more->sum);
    ct_merge_add_to(&to->sum.shape_other, more->sum.shape_other);
    for (size_t i = 0; i < more->shape_count; i++)
        add_shape(to, &more->shapes[i]);
    add_nodes(to, more->nodes, more->node_count);
    ct_merged_hist_merge(&to->hist, more->hist.buckets, more->hist.count);
    ct_merged_hist_merge(&to->raw_hist, more->raw_hist.buckets, more->raw_hist.count);
    ct_sizes_merge(&to->sizes, more->sizes);
    return to;
}

void ct_merge_row_free(struct ct_merged_row *row)
{
    if (!row)
        return;
    free(row->hist.buckets);
    free(row->raw_hist.buckets);
    ct_sizes_free(row->sizes);
    free(row->shapes);
    free(row->nodes);
    free(row);
}

void ct_merge_add_sizes(struct ct_merged *m, const struct ct_merged_sizes *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ct_sizes_merge(&m->rows[m->row_map[i]].sizes, &sizes[i]);
}

static struct ct_merged_api *api_of(struct ct_merged *m, const struct ct_summary *s, size_t i)
{
    const struct ct_file_api *from = &s->apis[i];
    uint32_t key[] = {name_of(m, s, from->name), from->flags & CT_API_RUNTIME};
    uint32_t known = m->api_keys.count, at = ct_key_table_add(&m->api_keys, key, sizeof(key));
    m->apis = ct_memory_grow(m->apis, &m->apis_size, at + 1, sizeof(*m->apis));
    if (at == known)
        m->apis[at].sum =
            (struct ct_file_api){.name = key[0], .flags = key[1], .min_ns = UINT64_MAX};
    m->api_map[i] = at;
    return &m->apis[at];
}

static void add_apis(struct ct_merged *m, const struct ct_summary *s)
{
    m->api_map = ct_memory_grow(m->api_map, &m->api_map_size, s->apis_count, sizeof(*m->api_map));
    for (size_t i = 0; i < s->apis_count; i++) {
        const struct ct_file_api *from = &s->apis[i];
        struct ct_merged_api *to = api_of(m, s, i);
        if (!from->calls)
            continue;
        ct_merge_add_to(&to->sum.calls, from->calls);
        ct_merge_add_to(&to->sum.errors, from->errors);
        ct_merge_add_to(&to->sum.total_ns, from->total_ns);
        ct_merge_add_to(&to->sum.sampled, from->sampled);
        ct_merge_add_to(&to->sum.timed, from->timed ? from->timed : from->calls);
        to->sum.square_ns2 += from->square_ns2;
        to->sum.min_ns = ct_min(to->sum.min_ns, from->min_ns);
        to->sum.max_ns = ct_max(to->sum.max_ns, from->max_ns);
        if (m->details)
            add_buckets(&to->hist, s, from->bucket_first, from->bucket_count);
    }
}

void ct_merge_note(struct ct_merged *m, uint32_t kind, const char *text, uint64_t count)
{
    uint32_t key[] = {kind, ct_key_table_text(&m->names, text)};
    uint32_t at = ct_key_table_add(&m->note_keys, key, sizeof(key));
    m->notes = ct_memory_grow(m->notes, &m->notes_size, at + 1, sizeof(*m->notes));
    m->notes[at].kind = kind;
    m->notes[at].text = key[1];
    ct_merge_add_to(&m->notes[at].count, count);
}

static void add_notes(struct ct_merged *m, const struct ct_summary *s)
{
    for (size_t i = 0; i < s->notes_count; i++)
        ct_merge_note(m, s->notes[i].kind, ct_summary_text(s, s->notes[i].text), s->notes[i].count);
}

/* Streams have no identity beyond their process: they are kept for a single one only. */
static void add_streams(struct ct_merged *m, const struct ct_summary *s)
{
    m->stream_count = 0;
    if (m->process_count > 1)
        return;
    m->streams =
        ct_memory_grow(m->streams, &m->streams_size, s->streams_count, sizeof(*m->streams));
    for (size_t i = 0; i < s->streams_count; i++) {
        m->streams[i] = s->streams[i];
        m->streams[i].device = m->device_map[s->streams[i].device];
        m->streams[i].name = name_of(m, s, s->streams[i].name);
        m->streams[i].context_name = name_of(m, s, s->streams[i].context_name);
    }
    m->stream_count = s->streams_count;
}

uint32_t ct_merge_process_key(struct ct_key_table *keys, const struct ct_file_process *p,
                              const char *host)
{
    struct ct_string text = {0};
    ct_string_printf(&text, "%u %llu %s", p->pid, (unsigned long long)p->start_unix_ns, host);
    uint32_t key = ct_key_table_text(keys, text.data);
    ct_string_free(&text);
    return key;
}

static void add_process(struct ct_merged *m, const struct ct_summary *s,
                        const struct ct_file_process *from)
{
    struct ct_file_process *to = &m->processes[m->process_count++];
    *to = *from;
    to->command = name_of(m, s, from->command);
    to->host = name_of(m, s, from->host);
    ct_merge_add_to(&m->off_operations, to->off_operations);
    m->unfinished += !(to->flags & CT_PROCESS_FINISHED);
}

/* A merged file lists the processes that it was made of. */
static void add_processes(struct ct_merged *m, const struct ct_summary *s)
{
    const struct ct_file_process *all = s->processes_count ? s->processes : s->process;
    size_t count = s->processes_count ? s->processes_count : 1;
    m->processes = ct_memory_grow(m->processes, &m->processes_size, m->process_count + count,
                                  sizeof(*m->processes));
    for (size_t i = 0; i < count; i++)
        add_process(m, s, &all[i]);
    m->fell_back += s->fell_back;
}

/* A process that has only captured a kernel into graphs knows its name alone. */
static void learn(struct ct_merged *m, const struct ct_summary *s)
{
    for (size_t i = 0; i < s->rows_count; i++) {
        struct ct_file_row *to = &m->rows[m->row_map[i]].sum;
        if (to->registers == UINT32_MAX)
            to->registers = s->rows[i].registers;
        if (to->static_shared_bytes == UINT32_MAX)
            to->static_shared_bytes = s->rows[i].static_shared_bytes;
    }
}

static void add_all(struct ct_merged *m, const struct ct_summary *s, bool grouped)
{
    add_processes(m, s);
    add_devices(m, s);
    map_contents(m, s);
    add_rows(m, s);
    add_apis(m, s);
    add_notes(m, s);
    ct_activity_add(&m->activity, s, m->device_map, m->row_map);
    ct_allocations_add(&m->allocated, s, m->device_map);
    ct_collectives_add(&m->collectives, s);
    ct_managed_memory_add(&m->managed, s, m->device_map);
    ct_merged_sensors_add(&m->sensors, s, m->device_map);
    ct_ranges_add(m, s);
    ct_stacks_add(m, s);
    if (m->details && m->devices_as == CT_DEVICES_EACH)
        add_streams(m, s);
    ct_spread_add(m, s);
    if (!grouped)
        learn(m, s);
}

void ct_merge_add(struct ct_merged *m, const struct ct_summary *s)
{
    add_all(m, s, m->grouped);
}

void ct_merge_add_sum(struct ct_merged *m, const struct ct_summary *s, const struct ct_merged *from)
{
    add_all(m, s, from->grouped);
    for (uint32_t i = 0; i < from->members.count; i++) {
        struct ct_merged_member member = ct_merge_member(from, i);
        uint32_t row = m->row_map[member.row];
        add_member(m, row, ct_key_table_get(&from->full_names, member.name));
        keep_common(&m->rows[row].sum, &from->rows[member.row].sum);
    }
    for (uint32_t i = 0; i < from->row_keys.count; i++)
        m->rows[m->row_map[i]].spread.unknown |= from->rows[i].spread.unknown;
}

void ct_merge_free(struct ct_merged *m)
{
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        free(m->rows[i].hist.buckets);
        free(m->rows[i].raw_hist.buckets);
        ct_sizes_free(m->rows[i].sizes);
        free(m->rows[i].shapes);
        free(m->rows[i].nodes);
    }
    for (uint32_t i = 0; i < m->api_keys.count; i++)
        free(m->apis[i].hist.buckets);
    struct ct_key_table *tables[] = {&m->names,    &m->full_names,  &m->members,
                                     &m->contents, &m->device_keys, &m->model_keys,
                                     &m->row_keys, &m->api_keys,    &m->note_keys};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        ct_key_table_free(tables[i]);
    void *arrays[] = {m->groups,     m->devices, m->models,      m->rows,    m->apis,
                      m->notes,      m->streams, m->processes,   m->totals,  m->nodes,
                      m->device_map, m->row_map, m->content_map, m->api_map, m->node_map};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
    ct_activity_free(&m->activity);
    ct_allocations_free(&m->allocated);
    ct_collectives_free(&m->collectives);
    ct_managed_memory_free(&m->managed);
    ct_merged_sensors_free(&m->sensors);
    ct_ranges_free(&m->ranges);
    ct_stacks_free(&m->stacks);
    memset(m, 0, sizeof(*m));
}
