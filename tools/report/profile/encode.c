/* SPDX-License-Identifier: MIT */
#include "report/profile/encode.h"

#include <stdlib.h>
#include <string.h>

#define SECTIONS CT_READ_SECTION_COUNT

struct encoder {
    const struct ct_merged *m;
    struct ct_string section[SECTIONS]; /* by enum ct_read_section */
    uint64_t count[SECTIONS];
};

static const struct {
    uint32_t type;
    uint32_t element_bytes;
} kinds[SECTIONS] = {
#define X(id, member, element) {CT_SECTION_##id, sizeof(element)},
    CT_READ_SECTIONS(X)
#undef X
};

static uint32_t put_all(struct encoder *e, enum ct_read_section section, const void *elements,
                        size_t count)
{
    uint32_t first = (uint32_t)e->count[section];
    ct_string_add(&e->section[section], elements, count * kinds[section].element_bytes);
    e->count[section] += count;
    return first;
}

static void put(struct encoder *e, enum ct_read_section section, const void *element)
{
    put_all(e, section, element, 1);
}

/* Names stand in the file as they do in memory, one behind the other, but behind the empty one. */
static void put_names(struct encoder *e)
{
    const struct ct_string *names = &e->m->names.blob;
    put(e, CT_READ_STRINGS, "");
    put_all(e, CT_READ_STRINGS, names->data, names->len);
}

static uint32_t text(const struct encoder *e, uint32_t name)
{
    size_t offset = e->m->names.entries[name].offset + 1;
    return e->m->names.blob.data[offset - 1] ? (uint32_t)offset : 0;
}

static struct ct_file_process process_of(const struct encoder *e, size_t i)
{
    struct ct_file_process p = e->m->processes[i];
    p.command = text(e, p.command);
    p.host = text(e, p.host);
    return p;
}

/* All processes as one: facts that are the same in all, others as format.md defines them. */
static void put_process(struct encoder *e)
{
    struct ct_file_process all = process_of(e, 0);
    uint64_t end_ns = all.start_unix_ns + all.duration_ns;
    all.written = 1;
    all.off_operations = e->m->off_operations;
    for (size_t i = 1; i < e->m->process_count; i++) {
        struct ct_file_process p = process_of(e, i);
        uint64_t p_end_ns = p.start_unix_ns + p.duration_ns;
        all.start_unix_ns =
            p.start_unix_ns < all.start_unix_ns ? p.start_unix_ns : all.start_unix_ns;
        end_ns = p_end_ns > end_ns ? p_end_ns : end_ns;
        all.host = p.host == all.host ? all.host : 0;
        all.flags &= p.flags;
        all.driver_version = p.driver_version == all.driver_version ? p.driver_version : 0;
        all.rank = p.rank == all.rank ? p.rank : 0;
        all.ranks = p.ranks == all.ranks ? p.ranks : 0;
    }
    all.duration_ns = end_ns - all.start_unix_ns;
    put(e, CT_READ_PROCESS, &all);
}

static void put_processes(struct encoder *e)
{
    for (size_t i = 0; i < e->m->process_count; i++) {
        struct ct_file_process p = process_of(e, i);
        put(e, CT_READ_PROCESSES, &p);
    }
    put_all(e, CT_READ_TOTALS, e->m->totals, e->m->process_count);
}

static void put_devices(struct encoder *e)
{
    for (uint32_t i = 0; i < e->m->device_keys.count; i++) {
        struct ct_file_device d = e->m->devices[i].sum;
        d.name = text(e, d.name);
        d.given_name = text(e, d.given_name);
        if (e->m->devices[i].raw)
            d.calibration = CT_CALIBRATION_NONE;
        put(e, CT_READ_DEVICES, &d);
    }
}

static void put_spread(struct encoder *e, uint32_t section, uint32_t index,
                       const struct ct_merged_spread *spread)
{
    struct ct_file_spread s = spread->sum;
    s.section = section;
    s.index = index;
    if (s.processes)
        put(e, CT_READ_SPREADS, &s);
}

static uint32_t put_hist(struct encoder *e, const struct ct_merged_hist *h)
{
    return put_all(e, CT_READ_BUCKETS, h->buckets, h->count);
}

static void put_nodes(struct encoder *e, uint32_t row)
{
    uint32_t content = e->m->rows[row].content;
    size_t count = content == CT_MERGE_NONE ? 0 : ct_merge_content_count(e->m, content);
    for (size_t i = 0; i < count; i++) {
        struct ct_file_node node = ct_merge_node(e->m, &e->m->rows[row], i);
        node.graph_row = row;
        node.name = text(e, node.name);
        put(e, CT_READ_NODES, &node);
    }
}

static void put_row(struct encoder *e, uint32_t i)
{
    const struct ct_merged_row *row = &e->m->rows[i];
    struct ct_file_row f = row->sum;
    f.name = text(e, f.name);
    f.min_ns = f.timed ? f.min_ns : 0;
    f.raw_min_ns = f.timed ? f.raw_min_ns : 0;
    f.shape_first = put_all(e, CT_READ_SHAPES, row->shapes, row->shape_count);
    f.shape_count = (uint32_t)row->shape_count;
    f.bucket_first = put_hist(e, &row->hist);
    f.bucket_count = (uint32_t)row->hist.count;
    f.raw_bucket_first = put_hist(e, &row->raw_hist);
    f.raw_bucket_count = (uint32_t)row->raw_hist.count;
    put(e, CT_READ_ROWS, &f);
    put_spread(e, CT_SECTION_ROWS, i, &row->spread);
    put_nodes(e, i);
}

static void put_api(struct encoder *e, uint32_t i)
{
    const struct ct_merged_api *api = &e->m->apis[i];
    struct ct_file_api f = api->sum;
    f.name = text(e, f.name);
    f.min_ns = f.calls ? f.min_ns : 0;
    f.bucket_first = put_hist(e, &api->hist);
    f.bucket_count = (uint32_t)api->hist.count;
    put(e, CT_READ_APIS, &f);
    put_spread(e, CT_SECTION_APIS, i, &api->spread);
}

static void put_note(struct encoder *e, const struct ct_file_note *note)
{
    struct ct_file_note f = *note;
    f.text = text(e, f.text);
    put(e, CT_READ_NOTES, &f);
}

static void put_activity(struct encoder *e)
{
    const struct ct_merged_activity *a = &e->m->activity;
    put_all(e, CT_READ_ACTIVITIES, a->devices, a->device_keys.count);
    put_all(e, CT_READ_GAPS, a->gaps, a->gap_keys.count);
    put_all(e, CT_READ_TRANSFERS, a->transfers, a->transfer_keys.count);
}

static void put_ranges(struct encoder *e)
{
    const struct ct_merged_ranges *r = &e->m->ranges;
    for (uint32_t i = 0; i < r->thread_keys.count; i++) {
        struct ct_file_thread f = r->threads[i];
        f.name = text(e, f.name);
        put(e, CT_READ_THREADS, &f);
    }
    for (uint32_t i = 0; i < r->range_keys.count; i++) {
        struct ct_file_range f = r->ranges[i];
        f.domain = text(e, f.domain);
        f.name = text(e, f.name);
        f.bucket_first = put_hist(e, &r->hists[i]);
        f.bucket_count = (uint32_t)r->hists[i].count;
        put(e, CT_READ_RANGES, &f);
    }
    put_all(e, CT_READ_CELLS, r->cells, r->cell_keys.count);
}

/* Nodes of a row stand in the order of its content. */
static void put_inside(struct encoder *e, const struct ct_inside *n)
{
    const struct ct_merged_row *row = &e->m->rows[n->row];
    const struct ct_file_node *nodes = (const void *)e->section[CT_READ_NODES].data;
    size_t at = ct_merge_node_named(e->m, row, n->name), first = 0;
    while (first < e->count[CT_READ_NODES] && nodes[first].graph_row != n->row)
        first++;
    struct ct_file_inside f = {.node = (uint32_t)(first + at),
                               .frame = n->frame,
                               .count = n->count,
                               .timed = n->timed,
                               .total_ns = n->total_ns};
    put(e, CT_READ_INSIDE, &f);
}

static void put_stacks(struct encoder *e)
{
    const struct ct_merged_stacks *k = &e->m->stacks;
    for (uint32_t i = 0; i < k->line_keys.count; i++) {
        struct ct_file_line f = k->lines[i];
        f.file = text(e, f.file);
        f.function = text(e, f.function);
        put(e, CT_READ_LINES, &f);
    }
    for (uint32_t i = 0; i < k->module_keys.count; i++) {
        struct ct_file_module f = k->modules[i];
        f.type = text(e, f.type);
        put(e, CT_READ_MODULES, &f);
    }
    put_all(e, CT_READ_FRAMES, k->frames, k->frame_keys.count);
    put_all(e, CT_READ_STACKS, k->stacks, k->keys.count);
    for (uint32_t i = 0; i < k->inside_keys.count; i++)
        put_inside(e, &k->inside[i]);
}

static void *join(struct encoder *e, size_t *bytes)
{
    struct ct_file_payload head = {SECTIONS, sizeof(struct ct_file_section)};
    struct ct_string out = {0};
    size_t at = sizeof(head) + SECTIONS * sizeof(struct ct_file_section);
    ct_string_add(&out, &head, sizeof(head));
    for (int i = 0; i < SECTIONS; i++) {
        struct ct_file_section s = {kinds[i].type, kinds[i].element_bytes, e->count[i], at};
        ct_string_add(&out, &s, sizeof(s));
        ct_string_add(&e->section[i], "\0\0\0\0\0\0\0", -e->section[i].len % 8);
        at += e->section[i].len;
    }
    out.data = ct_memory_grow(out.data, &out.size, at + 1, 1);
    for (int i = 0; i < SECTIONS; i++) {
        ct_string_add(&out, e->section[i].data, e->section[i].len);
        ct_string_free(&e->section[i]);
    }
    *bytes = out.len;
    return out.data;
}

void *ct_encode(const struct ct_merged *m, size_t *bytes)
{
    struct encoder e = {.m = m};
    put_names(&e);
    put_process(&e);
    put_processes(&e);
    put_devices(&e);
    for (uint32_t i = 0; i < m->row_keys.count; i++)
        put_row(&e, i);
    for (uint32_t i = 0; i < m->api_keys.count; i++)
        put_api(&e, i);
    for (uint32_t i = 0; i < m->note_keys.count; i++)
        put_note(&e, &m->notes[i]);
    put_activity(&e);
    put_all(&e, CT_READ_MEMORY, m->allocated.memory, m->allocated.memory_keys.count);
    put_all(&e, CT_READ_BLOCKS, m->allocated.blocks, m->allocated.block_keys.count);
    put_all(&e, CT_READ_COLLECTIVES, m->collectives.rows, m->collectives.keys.count);
    put_all(&e, CT_READ_SENSORS, m->sensors.rows, m->sensors.keys.count);
    put_all(&e, CT_READ_UNIFIED, m->managed.rows, m->managed.keys.count);
    put_ranges(&e);
    put_stacks(&e);
    return join(&e, bytes);
}
