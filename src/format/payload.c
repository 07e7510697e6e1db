/* SPDX-License-Identifier: MIT */
/*
 * The section table and the sections of one payload. Nothing in it is believed: sizes, offsets,
 * indices and ranges are checked here once, so that nobody has to later.
 */
#include "format/payload.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"

/* Bytes of text that elements may share beyond four times the file's: names on many devices. */
#define SHARED_TEXT ((uint64_t)16 << 20)
#define PROCESS_TEXT 8192 /* more such bytes for each process: thousands have one command */

struct section_kind {
    uint32_t type;
    uint32_t bytes; /* size of this program's element */
    size_t data_at; /* members of struct ct_summary */
    size_t count_at;
    const char *name;
};

static const struct section_kind kinds[CT_READ_SECTION_COUNT] = {
#define X(id, member, element)                                                                     \
    {CT_SECTION_##id, sizeof(element), offsetof(struct ct_summary, member),                        \
     offsetof(struct ct_summary, member##_count), #member},
    CT_READ_SECTIONS(X)
#undef X
};

int ct_read_fail(struct ct_read_error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return code;
}

/* All pointers look alike here, but have different types to the compiler: hence memcpy. */
static void set_section(struct ct_summary *s, const struct section_kind *k, const void *data,
                        size_t count)
{
    memcpy((char *)s + k->data_at, &data, sizeof(data));
    memcpy((char *)s + k->count_at, &count, sizeof(count));
}

static bool has_section(const struct ct_summary *s, const struct section_kind *k)
{
    const void *data;
    memcpy(&data, (const char *)s + k->data_at, sizeof(data));
    return data != NULL;
}

void ct_payload_forget(struct ct_summary *s)
{
    for (size_t i = 0; i < CT_READ_SECTION_COUNT; i++) {
        free(s->grown[i]);
        s->grown[i] = NULL;
        set_section(s, &kinds[i], NULL, 0);
    }
    s->grown_bytes = 0;
}

static const struct section_kind *kind_of(uint32_t type)
{
    for (size_t i = 0; i < CT_READ_SECTION_COUNT; i++)
        if (kinds[i].type == type)
            return &kinds[i];
    return NULL;
}

/* Brings the elements of another version's writer to the size of ours. */
static int grow_section(struct ct_summary *s, const struct section_kind *k, const char *from,
                        const struct ct_file_section *section, struct ct_read_error *error)
{
    size_t common = section->element_bytes < k->bytes ? section->element_bytes : k->bytes;
    if (section->count > (CT_READ_LIMIT_BYTES - s->grown_bytes) / k->bytes)
        return ct_read_fail(error, -EFBIG, "is damaged: too many %s", k->name);
    char *to = calloc(section->count, k->bytes);
    if (!to)
        return ct_read_fail(error, -ENOMEM, "needs more memory than there is");
    for (uint64_t i = 0; i < section->count; i++)
        memcpy(to + i * k->bytes, from + i * section->element_bytes, common);
    s->grown[k - kinds] = to;
    s->grown_bytes += section->count * k->bytes;
    set_section(s, k, to, section->count);
    return 0;
}

static bool section_fits(const struct section_kind *k, const struct ct_file_section *section,
                         size_t bytes)
{
    uint32_t unit = k->bytes == 1 ? 1 : 8;
    if (!section->element_bytes || section->element_bytes % unit || section->offset % 8)
        return false;
    if (unit == 1 && section->element_bytes != 1)
        return false;
    return section->offset <= bytes &&
           section->count <= (bytes - section->offset) / section->element_bytes;
}

static int add_section(struct ct_summary *s, const struct ct_file_section *section, size_t bytes,
                       struct ct_read_error *error)
{
    const struct section_kind *k = kind_of(section->type);
    if (!k)
        return 0;
    if (has_section(s, k))
        return ct_read_fail(error, -EBADMSG, "is damaged: it has its %s twice", k->name);
    if (!section_fits(k, section, bytes))
        return ct_read_fail(error, -EBADMSG, "is damaged: its %s are out of bounds", k->name);
    const char *from = (const char *)s->payload + section->offset;
    set_section(s, k, from, section->count);
    if (section->element_bytes == k->bytes || !section->count)
        return 0;
    return grow_section(s, k, from, section, error);
}

static int add_sections(struct ct_summary *s, size_t bytes, struct ct_read_error *error)
{
    const struct ct_file_payload *p = s->payload;
    size_t size = p->section_bytes;
    if (size < sizeof(struct ct_file_section) || size % 8 ||
        p->sections > (bytes - sizeof(*p)) / size)
        return ct_read_fail(error, -EBADMSG, "is damaged: its section table is out of bounds");
    for (uint32_t i = 0; i < p->sections; i++) {
        const char *at = (const char *)(p + 1) + i * size;
        int rc = add_section(s, (const struct ct_file_section *)at, bytes, error);
        if (rc)
            return rc;
    }
    return 0;
}

/* The checks below return a name of the fault; NULL: there is none. */

/* Only whole strings: parts of a long one could be more text than any memory holds. */
static bool is_string(const struct ct_summary *s, uint32_t offset)
{
    return offset < s->strings_count && (!offset || !s->strings[offset - 1]);
}

static bool is_range(uint32_t first, uint32_t count, size_t all)
{
    return (uint64_t)first + count <= all;
}

static bool is_square(double d)
{
    return isfinite(d) && d >= 0;
}

static bool has_estimate(const struct ct_file_row *r)
{
    return is_square(r->estimated_ns) && is_square(r->estimated_square_ns2) &&
           is_square(r->variance_ns2) && isfinite(r->third_ns3) && is_square(r->freedom_ns4) &&
           isfinite(r->with_others_ns2);
}

static const char *check_strings(const struct ct_summary *s)
{
    if (!s->strings_count || s->strings[0] || s->strings[s->strings_count - 1])
        return "its strings do not end";
    return NULL;
}

static const char *check_process(const struct ct_summary *s)
{
    if (s->process_count != 1)
        return "it does not describe one process";
    if (!is_string(s, s->process->command) || !is_string(s, s->process->host))
        return "a text of the process is out of bounds";
    for (size_t i = 0; i < s->processes_count; i++)
        if (!is_string(s, s->processes[i].command) || !is_string(s, s->processes[i].host))
            return "a text of a process is out of bounds";
    return NULL;
}

static const char *check_devices(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->devices_count; i++)
        if (!is_string(s, s->devices[i].name) || !is_string(s, s->devices[i].given_name))
            return "the name of a device is out of bounds";
    return NULL;
}

/* A kind or a direction of a newer minor version is shown as unknown. */
static bool is_known(const struct ct_summary *s, const struct ct_file_row *r)
{
    if (s->minor > CT_FILE_MINOR)
        return true;
    return r->kind >= CT_ROW_KERNEL && r->kind <= CT_ROW_PREFETCH &&
           (r->kind != CT_ROW_COPY || r->detail < CT_DIRECTION_COUNT);
}

static const char *check_rows(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->rows_count; i++) {
        const struct ct_file_row *r = &s->rows[i];
        if (!is_known(s, r))
            return "an operation is of no known kind";
        if (r->device >= s->devices_count)
            return "an operation is of no known device";
        if (!is_string(s, r->name))
            return "the name of an operation is out of bounds";
        if (!is_range(r->shape_first, r->shape_count, s->shapes_count) ||
            !is_range(r->bucket_first, r->bucket_count, s->buckets_count) ||
            !is_range(r->raw_bucket_first, r->raw_bucket_count, s->buckets_count))
            return "the shapes or a histogram of an operation are out of bounds";
        if (!is_square(r->square_ns2) || !is_square(r->raw_square_ns2))
            return "a sum of squares is not a number";
        if (!has_estimate(r))
            return "an estimate is not a number";
    }
    return NULL;
}

/* Each list belongs to one owner: shared lists could make a small file endless work. */
static const char *check_ranges(const struct ct_summary *s)
{
    uint64_t shapes = 0, buckets = 0;
    for (size_t i = 0; i < s->rows_count; i++) {
        shapes += s->rows[i].shape_count;
        buckets += (uint64_t)s->rows[i].bucket_count + s->rows[i].raw_bucket_count;
    }
    for (size_t i = 0; i < s->apis_count; i++)
        buckets += s->apis[i].bucket_count;
    for (size_t i = 0; i < s->ranges_count; i++)
        buckets += s->ranges[i].bucket_count;
    if (shapes > s->shapes_count || buckets > s->buckets_count)
        return "its shapes or histograms overlap";
    return NULL;
}

/* Adds the length of a string; false: more text than a file of this size can need. */
static bool add_text(const struct ct_summary *s, uint32_t offset, uint64_t *text)
{
    *text += strlen(s->strings + offset);
    return *text <= SHARED_TEXT + 4 * (uint64_t)s->strings_count +
                        PROCESS_TEXT * (uint64_t)s->processes_count;
}

/* A long string that all elements share would make a small file endless work, too. */
static const char *check_texts(const struct ct_summary *s)
{
    uint64_t text = 0;
    bool good = true;
#define ADD(member, text_of)                                                                       \
    for (size_t i = 0; good && i < s->member##_count; i++)                                         \
        good = add_text(s, s->member[i].text_of, &text);
    ADD(devices, name)
    ADD(devices, given_name)
    ADD(streams, name)
    ADD(streams, context_name)
    ADD(rows, name)
    ADD(apis, name)
    ADD(nodes, name)
    ADD(notes, text)
    ADD(processes, command)
    ADD(processes, host)
    ADD(threads, name)
    ADD(ranges, name)
    ADD(ranges, domain)
    ADD(lines, file)
    ADD(lines, function)
#undef ADD
    return good ? NULL : "its texts repeat too often";
}

static const char *check_buckets(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->buckets_count; i++)
        if (s->buckets[i].bucket >= CT_HIST_BUCKETS)
            return "a histogram has an unknown bucket";
    return NULL;
}

static const char *check_apis(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->apis_count; i++) {
        const struct ct_file_api *a = &s->apis[i];
        if (!is_string(s, a->name))
            return "the name of a function is out of bounds";
        if (!is_range(a->bucket_first, a->bucket_count, s->buckets_count))
            return "the histogram of a function is out of bounds";
        if (!is_square(a->square_ns2))
            return "a sum of squares is not a number";
    }
    return NULL;
}

static const char *check_streams(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->streams_count; i++) {
        const struct ct_file_stream *t = &s->streams[i];
        if (t->device >= s->devices_count || t->first_ns > t->last_ns)
            return "a stream is of no known device or time";
        if (!is_string(s, t->name) || !is_string(s, t->context_name))
            return "the name of a stream is out of bounds";
    }
    return NULL;
}

static const char *check_nodes(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->nodes_count; i++) {
        const struct ct_file_node *n = &s->nodes[i];
        if (n->graph_row >= s->rows_count || s->rows[n->graph_row].kind != CT_ROW_GRAPH)
            return "a graph node is of no graph";
        if (!is_string(s, n->name))
            return "the name of a graph node is out of bounds";
        if (!is_square(n->square_ns2))
            return "a sum of squares is not a number";
    }
    return NULL;
}

static const char *check_notes(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->notes_count; i++)
        if (!is_string(s, s->notes[i].text))
            return "the text of a note is out of bounds";
    return NULL;
}

/* A length of 64 bits has as many octaves. */
static bool is_octave(uint32_t octave)
{
    return octave < 64;
}

static const char *check_activities(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->activities_count; i++) {
        const struct ct_file_activity *a = &s->activities[i];
        if (a->device >= s->devices_count)
            return "an activity is of no known device";
        if (a->first_ns > a->last_ns)
            return "an activity ends before it begins";
    }
    return NULL;
}

static const char *check_gaps(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->gaps_count; i++)
        if (s->gaps[i].device >= s->devices_count || !is_octave(s->gaps[i].octave))
            return "a gap is of no known device or length";
    return NULL;
}

static const char *check_transfers(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->transfers_count; i++) {
        const struct ct_file_transfer *t = &s->transfers[i];
        if (t->row >= s->rows_count || s->rows[t->row].kind != CT_ROW_COPY || !is_octave(t->octave))
            return "a transfer is of no copy or size";
    }
    return NULL;
}

static const char *check_spreads(const struct ct_summary *s)
{
    if (s->totals_count != s->processes_count)
        return "it does not have the totals of each process";
    for (size_t i = 0; i < s->spreads_count; i++) {
        const struct ct_file_spread *p = &s->spreads[i];
        bool row = p->section == CT_SECTION_ROWS;
        if ((!row && p->section != CT_SECTION_APIS) ||
            p->index >= (row ? s->rows_count : s->apis_count))
            return "a spread is of nothing";
        if (p->least >= s->processes_count || p->most >= s->processes_count)
            return "a spread is of no known process";
        if (!is_square(p->total_ns) || !is_square(p->square_ns2) || !is_square(p->mean_ns) ||
            !is_square(p->mean_square_ns2))
            return "a spread is not a number";
    }
    return NULL;
}

static const char *check_threads(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->threads_count; i++)
        if (!is_string(s, s->threads[i].name))
            return "the name of a thread is out of bounds";
    return NULL;
}

static bool is_deep(const struct ct_summary *s, uint32_t range)
{
    unsigned depth = 0;
    while (range && depth < CT_FILE_RANGE_DEPTH) {
        range = s->ranges[range - 1].parent;
        depth++;
    }
    return range;
}

/* A range comes after the one around it, so none is in itself. */
static const char *check_program_ranges(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->ranges_count; i++) {
        const struct ct_file_range *r = &s->ranges[i];
        if (r->parent > i || r->thread >= s->threads_count ||
            (r->parent && s->ranges[r->parent - 1].thread != r->thread))
            return "a range is in no known range or thread";
        if (r->style >= CT_RANGE_STYLE_COUNT && s->minor <= CT_FILE_MINOR)
            return "a range is of no known style";
        if (is_deep(s, (uint32_t)i + 1))
            return "a range is in too many others";
        if (!is_string(s, r->domain) || !is_string(s, r->name))
            return "a text of a range is out of bounds";
        if (!is_range(r->bucket_first, r->bucket_count, s->buckets_count))
            return "the histogram of a range is out of bounds";
        if (!is_square(r->square_ns2))
            return "a sum of squares is not a number";
    }
    return NULL;
}

static const char *check_cells(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->cells_count; i++) {
        const struct ct_file_cell *c = &s->cells[i];
        bool row = c->section == CT_SECTION_ROWS;
        if (c->range >= s->ranges_count || (!row && c->section != CT_SECTION_APIS) ||
            c->index >= (row ? s->rows_count : s->apis_count))
            return "a cell is of no range, operation or function";
        if (!is_square(c->square_ns2))
            return "a sum of squares is not a number";
    }
    return NULL;
}

/* A kind of a newer minor version is shown as unknown. */
static bool is_allocation(const struct ct_summary *s, uint32_t device, uint32_t kind)
{
    return device < s->devices_count && (kind < CT_ALLOCATION_COUNT || s->minor > CT_FILE_MINOR);
}

static const char *check_allocations(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->memory_count; i++)
        if (!is_allocation(s, s->memory[i].device, s->memory[i].kind))
            return "memory is of no known device or kind";
    for (size_t i = 0; i < s->blocks_count; i++)
        if (!is_allocation(s, s->blocks[i].device, s->blocks[i].kind))
            return "a block is of no known device or kind";
    return NULL;
}

static const char *check_collectives(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->collectives_count; i++) {
        const struct ct_file_collective *c = &s->collectives[i];
        if (c->octave >= 64 || (c->collective >= CT_COLLECTIVE_COUNT && s->minor <= CT_FILE_MINOR))
            return "an operation of NCCL is of no known kind or size";
    }
    return NULL;
}

static const char *check_unified(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->unified_count; i++) {
        const struct ct_file_unified *u = &s->unified[i];
        if (u->device >= s->devices_count ||
            (u->kind >= CT_UNIFIED_COUNT && s->minor <= CT_FILE_MINOR))
            return "managed memory is of no known device or kind";
    }
    return NULL;
}

static const char *check_sensors(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->sensors_count; i++)
        if (s->sensors[i].device >= s->devices_count)
            return "a reading names a device that is not there";
    return NULL;
}

static const char *check_lines(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->lines_count; i++)
        if (!is_string(s, s->lines[i].file) || !is_string(s, s->lines[i].function))
            return "the text of a line is out of bounds";
    return NULL;
}

/* Likewise below. */
static const char *check_modules(const struct ct_summary *s)
{
    uint8_t *depth = calloc(s->modules_count + 1, sizeof(*depth));
    const char *wrong = depth ? NULL : "memory for its modules is out";
    for (size_t i = 0; i < s->modules_count && !wrong; i++) {
        const struct ct_file_module *m = &s->modules[i];
        if (m->parent > i || !is_string(s, m->type))
            wrong = "a module is of no known type or parent";
        else if ((depth[i + 1] = depth[m->parent] + 1) > CT_FILE_MODULE_DEPTH)
            wrong = "a module is in too many others";
    }
    free(depth);
    return wrong;
}

/* A frame comes after the one that called it: so none is in itself. */
static const char *check_frames(const struct ct_summary *s)
{
    uint16_t *depth = calloc(s->frames_count + 1, sizeof(*depth));
    const char *wrong = depth ? NULL : "memory for its frames is out";
    for (size_t i = 0; i < s->frames_count && !wrong; i++) {
        const struct ct_file_frame *f = &s->frames[i];
        if (f->parent > i || f->line >= s->lines_count || f->module > s->modules_count)
            wrong = "a frame is of no known line, caller or module";
        else if ((depth[i + 1] = depth[f->parent] + 1) > CT_FILE_STACK_DEPTH)
            wrong = "a stack is too deep";
    }
    free(depth);
    return wrong;
}

static const char *check_stacks(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->stacks_count; i++)
        if (s->stacks[i].row >= s->rows_count || s->stacks[i].frame >= s->frames_count)
            return "a stack is of no known operation or frame";
    return NULL;
}

static const char *check_inside(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->inside_count; i++)
        if (s->inside[i].node >= s->nodes_count || s->inside[i].frame >= s->frames_count)
            return "a stack is of no known node or frame";
    return NULL;
}

/* By line: a reader goes through them once. */
static const char *check_addresses(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->objects_count; i++)
        if (!is_string(s, s->objects[i].path) || !is_string(s, s->objects[i].build_id))
            return "the text of an object is out of bounds";
    for (size_t i = 0; i < s->addresses_count; i++)
        if (s->addresses[i].line >= s->lines_count || s->addresses[i].object >= s->objects_count ||
            (i && s->addresses[i].line <= s->addresses[i - 1].line))
            return "an address is of no known line or object";
    return NULL;
}

static const char *check_stuck(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->stuck_count; i++) {
        const struct ct_file_stuck *f = &s->stuck[i];
        if (f->kind >= CT_STUCK_KIND_COUNT || f->gate >= CT_STUCK_GATE_COUNT)
            return "work in flight is of no known kind";
        if (f->row > s->rows_count || f->frame > s->frames_count ||
            f->collective > CT_COLLECTIVE_COUNT)
            return "work in flight is of no known row, frame or collective";
        if (f->call >= s->strings_count || f->node >= s->strings_count)
            return "work in flight has no name";
    }
    return NULL;
}

int ct_payload_point(struct ct_summary *s, size_t bytes, struct ct_read_error *error)
{
    ct_payload_forget(s);
    if (bytes < sizeof(struct ct_file_payload))
        return ct_read_fail(error, -EBADMSG, "is damaged: it has no section table");
    return add_sections(s, bytes, error);
}

int ct_payload_parse(struct ct_summary *s, size_t bytes, struct ct_read_error *error)
{
    static const char *(*const checks[])(const struct ct_summary *) = {
        check_strings,     check_process,        check_devices, check_rows,    check_buckets,
        check_apis,        check_ranges,         check_streams, check_nodes,   check_notes,
        check_threads,     check_program_ranges, check_lines,   check_texts,   check_activities,
        check_gaps,        check_transfers,      check_spreads, check_cells,   check_allocations,
        check_collectives, check_unified,        check_frames,  check_stacks,  check_modules,
        check_inside,      check_addresses,      check_stuck,   check_sensors,
    };
    int rc = ct_payload_point(s, bytes, error);
    for (size_t i = 0; !rc && i < sizeof(checks) / sizeof(checks[0]); i++) {
        const char *wrong = checks[i](s);
        if (wrong)
            rc = ct_read_fail(error, -EBADMSG, "is damaged: %s", wrong);
    }
    if (rc)
        ct_payload_forget(s);
    return rc;
}
