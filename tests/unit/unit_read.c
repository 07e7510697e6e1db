/* SPDX-License-Identifier: MIT */
/* The reader: what it takes, what it refuses and with which words, and that no bytes upset it. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hist.h"
#include "build_file.h"
#include "case_main.h"
#include "format/crc32.h"
#include "format/read.h"
#include "report/host_memory.h"
#include "report/profile/merge.h"
#include "report/reports/summary.h"

static char path[CT_CASE_PATH];
static char *image; /* of a file with something in every section */
static size_t image_bytes;
static struct ct_summary summary;
static struct ct_read_error error;

static void fill_graph(struct ct_build *b)
{
    struct ct_file_row row = ct_build_row(CT_ROW_GRAPH, 3, 0, 0);
    ct_build_time(&row, 7000);
    struct ct_file_node node = {.graph_row = ct_build_add(b, CT_SECTION_ROWS, &row),
                                .name = ct_build_text(b, "_Z1fv"),
                                .count = 3};
    ct_build_add(b, CT_SECTION_NODES, &node);
}

static void fill_kernel(struct ct_build *b)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    struct ct_file_shape shape = {{1, 2, 3}, {4, 5, 6}, 7, 8};
    struct ct_file_bucket buckets[] = {{ct_hist_bucket(1000), 1}, {ct_hist_bucket(3000), 2}};
    for (int i = 0; i < 3; i++)
        ct_build_time(&row, 1000 + (i > 0) * 2000);
    row.shape_first = ct_build_add(b, CT_SECTION_SHAPES, &shape);
    row.shape_count = 1;
    row.bucket_first = ct_build_add(b, CT_SECTION_BUCKETS, &buckets[0]);
    ct_build_add(b, CT_SECTION_BUCKETS, &buckets[1]);
    row.bucket_count = 2;
    row.lost[CT_LOSS_CAPTURED] = 3;
    row.lost[CT_LOSS_SAMPLED] = 4;
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

static void fill_activity(struct ct_build *b)
{
    struct ct_file_activity activity = {.operations = 1, .first_ns = 10, .last_ns = 20};
    struct ct_file_gap gap = {.octave = 63, .count = 1};
    struct ct_file_row row = ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0);
    struct ct_file_transfer transfer = {.row = ct_build_add(b, CT_SECTION_ROWS, &row),
                                        .octave = 20,
                                        .from = CT_MEMORY_PINNED,
                                        .to = CT_MEMORY_DEVICE,
                                        .timed = 1};
    ct_build_add(b, CT_SECTION_ACTIVITIES, &activity);
    ct_build_add(b, CT_SECTION_GAPS, &gap);
    ct_build_add(b, CT_SECTION_TRANSFERS, &transfer);
}

static void fill_allocated(struct ct_build *b)
{
    struct ct_file_memory memory = {.kind = CT_ALLOCATION_DEVICE, .allocations = 3, .held = 1};
    struct ct_file_block block = {.kind = CT_ALLOCATION_DEVICE, .bytes = 4096, .count = 1};
    ct_build_add(b, CT_SECTION_MEMORY, &memory);
    ct_build_add(b, CT_SECTION_BLOCKS, &block);
    struct ct_file_collective collective = {.collective = CT_COLLECTIVE_SEND, .octave = 63};
    ct_build_add(b, CT_SECTION_COLLECTIVES, &collective);
}

static void fill_unified(struct ct_build *b)
{
    struct ct_file_unified moved = {.kind = CT_UNIFIED_HTOD, .count = 1, .bytes = 4096};
    ct_build_add(b, CT_SECTION_UNIFIED, &moved);
    struct ct_file_sensor sensor = {.kind = CT_SENSOR_POWER, .processes = 1};
    ct_build_add(b, CT_SECTION_SENSORS, &sensor);
}

/* As of a merged file of two processes. */
static void fill_spreads(struct ct_build *b)
{
    struct ct_file_process process = {.pid = 2, .rank = 3, .ranks = 4};
    struct ct_file_total total = {.gpu_ns = 1};
    struct ct_file_spread spread = {.section = CT_SECTION_APIS, .least = 1, .processes = 2};
    for (int i = 0; i < 2; i++) {
        ct_build_add(b, CT_SECTION_PROCESSES, &process);
        ct_build_add(b, CT_SECTION_TOTALS, &total);
    }
    ct_build_add(b, CT_SECTION_SPREADS, &spread);
}

static void fill_ranges(struct ct_build *b)
{
    struct ct_file_thread thread = {7, ct_build_text(b, "main"), 1};
    struct ct_file_range range = {.name = ct_build_text(b, "step"), .count = 2};
    struct ct_file_cell cell = {.section = CT_SECTION_ROWS, .count = 3};
    ct_build_add(b, CT_SECTION_THREADS, &thread);
    ct_build_add(b, CT_SECTION_RANGES, &range);
    ct_build_add(b, CT_SECTION_CELLS, &cell);
}

static void fill_stacks(struct ct_build *b)
{
    struct ct_file_line line = {.line = 3};
    struct ct_file_frame outer = {.parent = 0}, inner = {.parent = 1, .module = 2};
    struct ct_file_module model = {.parent = 0}, layer = {.parent = 1, .number = 3};
    struct ct_file_stack stack = {.frame = 1, .count = 2};
    struct ct_file_inside inside = {.frame = 1, .count = 2};
    struct ct_file_object object = {.build_id = ct_build_text(b, "c0ffee")};
    struct ct_file_address address = {.offset = 0x1234};
    line.file = ct_build_text(b, "train.py");
    line.function = ct_build_text(b, "step");
    ct_build_add(b, CT_SECTION_LINES, &line);
    ct_build_add(b, CT_SECTION_FRAMES, &outer);
    ct_build_add(b, CT_SECTION_FRAMES, &inner);
    ct_build_add(b, CT_SECTION_STACKS, &stack);
    model.type = layer.type = ct_build_text(b, "Layer");
    ct_build_add(b, CT_SECTION_MODULES, &model);
    ct_build_add(b, CT_SECTION_MODULES, &layer);
    ct_build_add(b, CT_SECTION_INSIDE, &inside);
    object.path = ct_build_text(b, "/lib/libx.so");
    ct_build_add(b, CT_SECTION_OBJECTS, &object);
    ct_build_add(b, CT_SECTION_ADDRESSES, &address);
}

static void fill(struct ct_build *b)
{
    uint64_t calls[] = {100, 200};
    struct ct_file_stream stream = {.id = 1, .operations = 4, .special = 1};
    struct ct_file_note note = {CT_NOTE_NOT_WRAPPED, 0, 2};
    ct_build_start(b);
    ct_build_process(b, 1, "./app");
    ct_build_device(b, 0, "GPU");
    fill_kernel(b);
    fill_graph(b);
    fill_activity(b);
    fill_allocated(b);
    fill_unified(b);
    ct_build_api(b, "cudaMalloc", calls, 2);
    ct_build_add(b, CT_SECTION_STREAMS, &stream);
    note.text = ct_build_text(b, "cuNewThing");
    ct_build_add(b, CT_SECTION_NOTES, &note);
    fill_spreads(b);
    fill_ranges(b);
    fill_stacks(b);
}

static void set_up(void)
{
    struct ct_build b;
    ct_case_template(path);
    close(mkstemp(path));
    fill(&b);
    image = ct_build_image(&b, &image_bytes);
    ct_build_free(&b);
}

static void tear_down(void)
{
    ct_summary_free(&summary);
    free(image);
    unlink(path);
}

static int read_image(size_t bytes)
{
    ct_assert(ct_build_write(path, image, bytes));
    memset(&error, 0, sizeof(error));
    return ct_summary_read(&summary, path, &error);
}

static void expect_refusal(size_t bytes, const char *words)
{
    ck_assert_int_lt(read_image(bytes), 0);
    ck_assert_msg(strstr(error.text, words) != NULL, "'%s' is not in '%s'", words, error.text);
    ck_assert_ptr_null(strchr(error.text, '\n'));
    ck_assert_ptr_null(summary.rows);
    ck_assert_uint_eq(summary.rows_count, 0);
}

static struct ct_file_header *header(void)
{
    return (struct ct_file_header *)image;
}

/* The newest payload's section of a type; the older payload is made the same on sealing. */
static struct ct_file_section *section_of(uint32_t type)
{
    char *payload = image + header()->commit[0].offset;
    struct ct_file_section *s = (struct ct_file_section *)(payload + 8);
    while (s->type != type)
        s++;
    return s;
}

static void *element_of(uint32_t type)
{
    return image + header()->commit[0].offset + section_of(type)->offset;
}

/* Copies the newest payload over the older one, so that there is nothing to fall back to. */
static void seal(void)
{
    struct ct_file_commit *c = header()->commit;
    memcpy(image + c[1].offset, image + c[0].offset, c[0].bytes);
    ct_build_seal(image);
}

START_TEST(a_good_file_is_read)
{
    ck_assert_int_eq(read_image(image_bytes), 0);
    ck_assert_uint_eq(summary.sequence, 2);
    ck_assert(!summary.fell_back);
    ck_assert_str_eq(ct_summary_text(&summary, summary.process->command), "./app");
    ck_assert_uint_eq(summary.rows_count, 3);
    ck_assert_uint_eq(summary.rows[0].lost[CT_LOSS_SAMPLED], 4);
    ck_assert_uint_eq(summary.shapes[summary.rows[0].shape_first].block[2], 6);
    ck_assert_str_eq(ct_summary_text(&summary, summary.nodes[0].name), "_Z1fv");
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    expect_refusal(0, "is empty");
    expect_refusal(5, "is not a summary");
    expect_refusal(100, "ends within its header");
    expect_refusal(CT_FILE_HEADER_BYTES, "is truncated");
    for (size_t n = 0; n < image_bytes; n += n < 64 ? 1 : 97) {
        int rc = read_image(n);
        uint64_t first_ends = header()->commit[0].offset + header()->commit[0].bytes;
        ck_assert_msg(rc < 0 || n >= first_ends, "%zu bytes", n);
    }
}
END_TEST

START_TEST(headers_that_are_not_ours)
{
    header()->endian = __builtin_bswap32(CT_FILE_ENDIAN);
    expect_refusal(image_bytes, "the other byte order");
    header()->endian = 7;
    expect_refusal(image_bytes, "byte order is unknown");
    header()->endian = CT_FILE_ENDIAN;
    header()->major = 2;
    header()->minor = 3;
    expect_refusal(image_bytes, "format version 2.3, this program reads 1");
    header()->major = CT_FILE_MAJOR;
    header()->magic[0] = 'X';
    expect_refusal(image_bytes, "is not a summary of cutrace");
}
END_TEST

START_TEST(commits)
{
    struct ct_file_commit good[2];
    memcpy(good, header()->commit, sizeof(good));
    header()->commit[0].crc ^= 1; /* torn: the one before counts */
    ck_assert_int_eq(read_image(image_bytes), 0);
    ck_assert_uint_eq(summary.sequence, 1);
    ck_assert(summary.fell_back);
    header()->commit[1].crc ^= 1;
    expect_refusal(image_bytes, "commit records are wrong");
    memset(header()->commit, 0, sizeof(good));
    expect_refusal(image_bytes, "holds no data yet");
    memcpy(header()->commit, good, sizeof(good));
    image[good[0].offset + 50] ^= 1; /* the newest payload is damaged */
    ck_assert_int_eq(read_image(image_bytes), 0);
    ck_assert_uint_eq(summary.sequence, 1);
    ck_assert(summary.fell_back);
    image[good[1].offset + 50] ^= 1;
    expect_refusal(image_bytes, "checksum of its data is wrong");
}
END_TEST

START_TEST(extents)
{
    struct ct_file_commit *c = header()->commit;
    c[1] = (struct ct_file_commit){0};
    c[0].bytes = image_bytes;
    c[0].crc = 0;
    struct ct_file_commit original = c[0];
    static const struct {
        uint64_t offset, bytes;
        const char *words;
    } cases[] = {
        {CT_FILE_HEADER_BYTES, UINT64_MAX, "is too large"},
        {CT_FILE_HEADER_BYTES, CT_READ_LIMIT_BYTES + 1, "is too large"},
        {CT_FILE_HEADER_BYTES, CT_READ_LIMIT_BYTES, "is truncated"},
        {0, 64, "overlap the header"},
        {UINT64_MAX - 7, 64, "is truncated"},
        {CT_FILE_HEADER_BYTES, 0, "no section table"},
        {CT_FILE_HEADER_BYTES, 4, "no section table"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        c[0] = original;
        c[0].offset = cases[i].offset;
        c[0].bytes = cases[i].bytes;
        if (c[0].bytes <= 4)
            ct_build_seal(image);
        c[0].crc = ct_crc32(0, &c[0], offsetof(struct ct_file_commit, crc));
        expect_refusal(image_bytes, cases[i].words);
    }
}
END_TEST

/* One field of one element or section, a value that it must not have, and the complaint. */
#define FIELD(section, type, member, value, words)                                                 \
    {                                                                                              \
        CT_SECTION_##section, offsetof(struct type, member), sizeof(((struct type *)0)->member),   \
            value, words                                                                           \
    }

static const struct {
    uint32_t section;
    size_t offset, bytes;
    uint64_t value;
    const char *words;
} bad_fields[] = {
    FIELD(STRINGS, ct_file_note, kind, 0x01010101, "strings do not end"),
    FIELD(PROCESS, ct_file_process, command, UINT32_MAX, "text of the process"),
    FIELD(PROCESS, ct_file_process, host, 100000, "text of the process"),
    FIELD(DEVICES, ct_file_device, name, 100000, "name of a device"),
    FIELD(DEVICES, ct_file_device, given_name, 100000, "name of a device"),
    FIELD(ROWS, ct_file_row, kind, 0, "no known kind"),
    FIELD(ROWS, ct_file_row, kind, 6, "no known kind"),
    FIELD(ROWS, ct_file_row, device, 1, "no known device"),
    FIELD(ROWS, ct_file_row, name, 100000, "name of an operation"),
    FIELD(ROWS, ct_file_row, shape_first, 1, "out of bounds"),
    FIELD(ROWS, ct_file_row, shape_count, UINT32_MAX, "out of bounds"),
    FIELD(ROWS, ct_file_row, bucket_first, UINT32_MAX, "out of bounds"),
    FIELD(ROWS, ct_file_row, square_ns2, 0x7ff8000000000000, "not a number"),
    FIELD(ROWS, ct_file_row, square_ns2, 0xbff0000000000000, "not a number"),
    FIELD(ROWS, ct_file_row, raw_square_ns2, 0x7ff8000000000000, "not a number"),
    FIELD(ROWS, ct_file_row, raw_bucket_first, UINT32_MAX, "out of bounds"),
    FIELD(ROWS, ct_file_row, raw_bucket_count, 3, "out of bounds"),
    FIELD(ROWS, ct_file_row, raw_bucket_count, 2, "overlap"),
    FIELD(BUCKETS, ct_file_bucket, bucket, CT_HIST_BUCKETS, "unknown bucket"),
    FIELD(APIS, ct_file_api, name, 100000, "name of a function"),
    FIELD(APIS, ct_file_api, bucket_count, 3, "out of bounds"),
    FIELD(APIS, ct_file_api, bucket_count, 2, "overlap"),
    FIELD(APIS, ct_file_api, square_ns2, 0x7ff0000000000000, "not a number"),
    FIELD(STREAMS, ct_file_stream, device, 1, "no known device"),
    FIELD(STREAMS, ct_file_stream, first_ns, 1, "no known device or time"),
    FIELD(STREAMS, ct_file_stream, name, 100000, "name of a stream"),
    FIELD(STREAMS, ct_file_stream, context_name, 100000, "name of a stream"),
    FIELD(NODES, ct_file_node, graph_row, 0, "of no graph"),
    FIELD(NODES, ct_file_node, graph_row, 2, "of no graph"),
    FIELD(NODES, ct_file_node, name, 100000, "name of a graph node"),
    FIELD(NOTES, ct_file_note, text, 100000, "text of a note"),
    FIELD(ACTIVITIES, ct_file_activity, device, 1, "no known device"),
    FIELD(ACTIVITIES, ct_file_activity, first_ns, 21, "ends before it begins"),
    FIELD(GAPS, ct_file_gap, device, 1, "no known device"),
    FIELD(GAPS, ct_file_gap, octave, 64, "length"),
    FIELD(TRANSFERS, ct_file_transfer, row, 0, "of no copy"),
    FIELD(TRANSFERS, ct_file_transfer, row, 3, "of no copy"),
    FIELD(TRANSFERS, ct_file_transfer, octave, 64, "size"),
    FIELD(MEMORY, ct_file_memory, device, 1, "memory is of no known device"),
    FIELD(MEMORY, ct_file_memory, kind, CT_ALLOCATION_COUNT,
          "memory is of no known device or kind"),
    FIELD(BLOCKS, ct_file_block, device, UINT32_MAX, "block is of no known device"),
    FIELD(BLOCKS, ct_file_block, kind, CT_ALLOCATION_COUNT, "block is of no known device or kind"),
    FIELD(COLLECTIVES, ct_file_collective, collective, CT_COLLECTIVE_COUNT,
          "an operation of NCCL is of no known kind or size"),
    FIELD(COLLECTIVES, ct_file_collective, octave, 64,
          "an operation of NCCL is of no known kind or size"),
    FIELD(SENSORS, ct_file_sensor, device, 1, "a reading names a device that is not there"),
    FIELD(UNIFIED, ct_file_unified, device, 1, "managed memory is of no known device"),
    FIELD(UNIFIED, ct_file_unified, kind, CT_UNIFIED_COUNT,
          "managed memory is of no known device or kind"),
    FIELD(PROCESSES, ct_file_process, command, 100000, "text of a process"),
    FIELD(PROCESSES, ct_file_process, host, UINT32_MAX, "text of a process"),
    FIELD(THREADS, ct_file_thread, name, 100000, "name of a thread"),
    FIELD(RANGES, ct_file_range, parent, 1, "no known range or thread"),
    FIELD(RANGES, ct_file_range, thread, 1, "no known range or thread"),
    FIELD(RANGES, ct_file_range, style, CT_RANGE_STYLE_COUNT, "no known style"),
    FIELD(RANGES, ct_file_range, name, 100000, "text of a range"),
    FIELD(RANGES, ct_file_range, domain, 100000, "text of a range"),
    FIELD(RANGES, ct_file_range, bucket_first, UINT32_MAX, "histogram of a range"),
    FIELD(RANGES, ct_file_range, square_ns2, 0x7ff8000000000000, "not a number"),
    FIELD(LINES, ct_file_line, file, 100000, "text of a line"),
    FIELD(LINES, ct_file_line, function, UINT32_MAX, "text of a line"),
    FIELD(FRAMES, ct_file_frame, parent, 1, "a frame is of no known line, caller or module"),
    FIELD(FRAMES, ct_file_frame, line, 1, "a frame is of no known line, caller or module"),
    FIELD(FRAMES, ct_file_frame, module, 3, "a frame is of no known"),
    FIELD(MODULES, ct_file_module, type, 100000, "a module is of no known type or parent"),
    FIELD(MODULES, ct_file_module, parent, 1, "a module is of no known type or parent"),
    FIELD(STACKS, ct_file_stack, row, 100, "a stack is of no known operation"),
    FIELD(STACKS, ct_file_stack, frame, 2, "a stack is of no known operation or frame"),
    FIELD(INSIDE, ct_file_inside, node, 100, "a stack is of no known node or frame"),
    FIELD(INSIDE, ct_file_inside, frame, 2, "a stack is of no known node or frame"),
    FIELD(OBJECTS, ct_file_object, path, 100000, "text of an object"),
    FIELD(OBJECTS, ct_file_object, build_id, UINT32_MAX, "text of an object"),
    FIELD(ADDRESSES, ct_file_address, line, 1, "an address is of no known line or object"),
    FIELD(ADDRESSES, ct_file_address, object, 1, "an address is of no known line or object"),
    FIELD(CELLS, ct_file_cell, range, 1, "a cell is of no"),
    FIELD(CELLS, ct_file_cell, section, CT_SECTION_NODES, "a cell is of no"),
    FIELD(CELLS, ct_file_cell, index, 100, "a cell is of no"),
    FIELD(CELLS, ct_file_cell, square_ns2, 0xbff0000000000000, "not a number"),
    FIELD(SPREADS, ct_file_spread, section, CT_SECTION_NODES, "of nothing"),
    FIELD(SPREADS, ct_file_spread, index, 1, "of nothing"),
    FIELD(SPREADS, ct_file_spread, least, 2, "no known process"),
    FIELD(SPREADS, ct_file_spread, most, UINT32_MAX, "no known process"),
    FIELD(SPREADS, ct_file_spread, total_ns, 0x7ff8000000000000, "not a number"),
    FIELD(SPREADS, ct_file_spread, square_ns2, 0x7ff0000000000000, "not a number"),
    FIELD(SPREADS, ct_file_spread, mean_ns, 0xbff0000000000000, "not a number"),
    FIELD(SPREADS, ct_file_spread, mean_square_ns2, 0xfff0000000000000, "not a number"),
};

START_TEST(every_index_is_checked)
{
    memcpy((char *)element_of(bad_fields[_i].section) + bad_fields[_i].offset,
           &bad_fields[_i].value, bad_fields[_i].bytes);
    seal();
    expect_refusal(image_bytes, bad_fields[_i].words);
}
END_TEST

static const struct {
    uint32_t section;
    size_t offset, bytes;
    uint64_t value;
    const char *words;
} bad_sections[] = {
    FIELD(ROWS, ct_file_section, count, UINT64_MAX, "rows are out of bounds"),
    FIELD(ROWS, ct_file_section, count, UINT64_MAX / 272 + 1, "rows are out of bounds"),
    FIELD(ROWS, ct_file_section, offset, UINT64_MAX - 7, "rows are out of bounds"),
    FIELD(ROWS, ct_file_section, offset, 4, "rows are out of bounds"),
    FIELD(ROWS, ct_file_section, element_bytes, 0, "rows are out of bounds"),
    FIELD(ROWS, ct_file_section, element_bytes, 12, "rows are out of bounds"),
    FIELD(STRINGS, ct_file_section, element_bytes, 2, "strings are out of bounds"),
    FIELD(STRINGS, ct_file_section, count, 0, "strings do not end"),
    FIELD(PROCESS, ct_file_section, count, 0, "one process"),
    FIELD(PROCESS, ct_file_section, type, 99, "one process"),
    FIELD(NODES, ct_file_section, type, CT_SECTION_ROWS, "its rows twice"),
    FIELD(TOTALS, ct_file_section, count, 1, "totals of each process"),
    FIELD(PROCESSES, ct_file_section, type, 99, "totals of each process"),
};

START_TEST(every_section_is_checked)
{
    memcpy((char *)section_of(bad_sections[_i].section) + bad_sections[_i].offset,
           &bad_sections[_i].value, bad_sections[_i].bytes);
    seal();
    expect_refusal(image_bytes, bad_sections[_i].words);
}
END_TEST

START_TEST(section_tables_are_checked)
{
    struct ct_file_payload *p = (struct ct_file_payload *)(image + header()->commit[0].offset);
    static const struct ct_file_payload bad[] = {{10, 0}, {10, 16}, {10, 28}, {UINT32_MAX, 24}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        *p = bad[i];
        seal();
        expect_refusal(image_bytes, "section table");
    }
}
END_TEST

START_TEST(unknown_sections_are_skipped)
{
    section_of(CT_SECTION_STREAMS)->type = 1000;
    seal();
    ck_assert_int_eq(read_image(image_bytes), 0);
    ck_assert_uint_eq(summary.streams_count, 0);
    ck_assert_uint_eq(summary.rows_count, 3);
}
END_TEST

/* A writer whose structures are of another size: longer ones are cut, shorter ones get zeros. */
START_TEST(other_element_sizes)
{
    struct ct_build b;
    struct {
        struct ct_file_stream known;
        uint64_t added;
    } longer = {{.id = 5, .operations = 6}, 7};
    fill(&b);
    b.parts[CT_SECTION_STREAMS].bytes = b.parts[CT_SECTION_STREAMS].count = 0;
    ct_build_add(&b, CT_SECTION_STREAMS, &longer);
    ct_build_add(&b, CT_SECTION_STREAMS, &longer);
    b.parts[CT_SECTION_NOTES].element_bytes = 8; /* two of them: kind and text, then a count */
    b.parts[CT_SECTION_NOTES].count = 1;
    free(image);
    image = ct_build_image(&b, &image_bytes);
    ct_build_free(&b);
    ck_assert_int_eq(read_image(image_bytes), 0);
    ck_assert_uint_eq(summary.streams_count, 2);
    ck_assert_uint_eq(summary.streams[1].id, 5);
    ck_assert_uint_eq(summary.streams[1].operations, 6);
    ck_assert_uint_eq(summary.notes_count, 1);
    ck_assert_uint_eq(summary.notes[0].count, 0);
    ck_assert_str_eq(ct_summary_text(&summary, summary.notes[0].text), "cuNewThing");
}
END_TEST

START_TEST(tiny_elements_do_not_fill_the_memory)
{
    struct ct_file_section *s = section_of(CT_SECTION_BUCKETS);
    size_t bytes = (size_t)64 << 20, at = header()->commit[0].bytes;
    struct ct_file_commit *c = header()->commit;
    char *large = calloc(1, CT_FILE_HEADER_BYTES + bytes);
    s->type = CT_SECTION_ROWS;
    section_of(CT_SECTION_ROWS)->type = 1000;
    s = section_of(CT_SECTION_ROWS);
    s->offset = at;
    s->element_bytes = 8;
    s->count = (bytes - at) / 8;
    c[0].bytes = bytes;
    c[1] = (struct ct_file_commit){0};
    memcpy(large, image, CT_FILE_HEADER_BYTES + at);
    ct_build_seal(large);
    free(image);
    image = large;
    expect_refusal(CT_FILE_HEADER_BYTES + bytes, "too many rows");
}
END_TEST

START_TEST(newer_minor_versions_may_have_new_kinds)
{
    header()->minor = CT_FILE_MINOR + 1;
    ((struct ct_file_row *)element_of(CT_SECTION_ROWS))->kind = 77;
    seal();
    ck_assert_int_eq(read_image(image_bytes), 0);
    ck_assert_uint_eq(summary.rows[0].kind, 77);
}
END_TEST

START_TEST(only_regular_files_are_read)
{
    static const struct {
        const char *path, *words;
    } cases[] = {
        {".", "is a directory"},
        {"/dev/zero", "is not a regular file"},
        {"/dev/null", "is not a regular file"},
        {"does-not-exist", "No such file"},
        {"", "No such file"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_lt(ct_summary_read(&summary, cases[i].path, &error), 0);
        ck_assert_msg(strstr(error.text, cases[i].words) != NULL, "%s", error.text);
    }
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(ct_summary_read(&summary, path, &error), -EINVAL);
    ck_assert_str_eq(error.text, "is a pipe, not a regular file");
}
END_TEST

START_TEST(a_summary_is_used_again)
{
    ck_assert_int_eq(read_image(image_bytes), 0);
    expect_refusal(100, "ends within");
    ck_assert_int_eq(read_image(image_bytes), 0);
    ck_assert_uint_eq(summary.rows_count, 3);
}
END_TEST

/* Everything that can be printed of a file. */
static void print_everything(FILE *out)
{
    for (int i = 0; i < 5; i++) {
        struct ct_options o = {.csv = i == 0,
                               .details = i == 1 || i == 2,
                               .raw = i == 2,
                               .per = i == 3 ? CT_PER_GPU : CT_PER_NONE,
                               .mangled = i == 3,
                               .live = i == 4,
                               .unit = i == 3 ? CT_UNIT_COLUMN : CT_UNIT_AUTO};
        struct ct_merged m = {.details = o.details};
        ct_merge_add(&m, &summary);
        ct_merge_add(&m, &summary);
        ct_report_print(out, &m, &o);
        ct_merge_free(&m);
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void mutate(char *bytes, size_t len, uint32_t *random)
{
    static const uint32_t values[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0xfff00000};
    for (uint32_t n = 1 + next_random(random) % 4; n; n--) {
        size_t at = next_random(random) % (len - 3);
        uint32_t value = values[next_random(random) % 7];
        if (next_random(random) % 2)
            bytes[at] ^= (char)(1 << next_random(random) % 8);
        else
            memcpy(bytes + (at & ~(size_t)3), &value, sizeof(value));
    }
}

/* Damage with the right checksum: what passes the checks must be printable. */
START_TEST(no_bytes_upset_reader_or_report)
{
    struct ct_file_commit original = header()->commit[0];
    char *payload = image + original.offset, *good = ct_memory_copy(payload, original.bytes);
    FILE *out = fopen("/dev/null", "w");
    uint32_t random = 12345, taken = 0;
    header()->commit[1] = (struct ct_file_commit){0};
    for (int i = 0; i < 20000; i++) {
        memcpy(payload, good, original.bytes);
        mutate(payload, original.bytes, &random);
        ct_build_seal(image);
        if (read_image(image_bytes))
            continue;
        taken++;
        print_everything(out);
    }
    ck_assert_uint_gt(taken, 1000);
    fclose(out);
    free(good);
}
END_TEST

START_TEST(every_flipped_bit_is_noticed)
{
    struct ct_file_commit *c = header()->commit;
    size_t interesting = CT_FILE_HEADER_BYTES + c[0].bytes;
    size_t fixed = offsetof(struct ct_file_header, reserved);
    for (size_t i = 0; i < interesting; i++) {
        if (i >= fixed && i < CT_FILE_HEADER_BYTES)
            continue;
        image[i] ^= (char)(1 << i % 8);
        int rc = read_image(image_bytes);
        image[i] ^= (char)(1 << i % 8);
        bool older = i >= CT_FILE_HEADER_BYTES || (i >= 16 && i < 16 + sizeof(*c));
        bool minor = i == offsetof(struct ct_file_header, minor) ||
                     i == offsetof(struct ct_file_header, minor) + 1;
        if (older) /* the newest is damaged */
            ck_assert_msg(!rc && summary.fell_back && summary.sequence == 1, "byte %zu", i);
        else if (i < 16 && !minor)
            ck_assert_msg(rc < 0, "byte %zu", i);
        else
            ck_assert_msg(!rc && summary.sequence == 2, "byte %zu", i);
    }
}
END_TEST

/* Commits one payload after the other, as the library does, until told to stop. */
struct writer {
    atomic_bool stop;
    uint64_t commits;
};

static void *write_on(void *opaque)
{
    struct writer *w = opaque;
    struct ct_file_commit c[2];
    memcpy(c, header()->commit, sizeof(c));
    FILE *f = fopen(path, "r+b");
    setvbuf(f, NULL, _IONBF, 0);
    while (!atomic_load(&w->stop)) {
        unsigned older = c[0].sequence > c[1].sequence;
        char *payload = image + c[older].offset;
        ((struct ct_file_process *)(payload + section_of(CT_SECTION_PROCESS)->offset))->written++;
        header()->commit[older].sequence += 2;
        ct_build_seal(image);
        c[older] = header()->commit[older];
        for (size_t done = 0; done < c[older].bytes; done += 64) {
            size_t len = c[older].bytes - done < 64 ? c[older].bytes - done : 64;
            fseek(f, (long)(c[older].offset + done), SEEK_SET);
            fwrite(payload + done, 1, len, f);
        }
        fseek(f, (long)(16 + older * sizeof(*c)), SEEK_SET);
        fwrite(&c[older], sizeof(*c), 1, f);
        w->commits++;
    }
    fclose(f);
    return NULL;
}

START_TEST(a_file_that_is_being_written)
{
    struct writer w = {0};
    pthread_t thread;
    uint64_t last = 0;
    ck_assert(ct_build_write(path, image, image_bytes));
    ck_assert_int_eq(pthread_create(&thread, NULL, write_on, &w), 0);
    for (int i = 0; i < 3000; i++) {
        int rc = ct_summary_read(&summary, path, &error);
        ck_assert_msg(!rc, "%s", error.text);
        ck_assert_uint_ge(summary.sequence + 1, last);
        last = summary.sequence;
    }
    atomic_store(&w.stop, true);
    pthread_join(thread, NULL);
    ck_assert_uint_gt(w.commits, 2);
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tests, test, 0, sizeof(table) / sizeof((table)[0]))

int main(void)
{
    TCase *tests = tcase_create("read");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_good_file_is_read);
    tcase_add_test(tests, every_truncation_is_refused);
    tcase_add_test(tests, headers_that_are_not_ours);
    tcase_add_test(tests, commits);
    tcase_add_test(tests, extents);
    LOOP(every_index_is_checked, bad_fields);
    LOOP(every_section_is_checked, bad_sections);
    tcase_add_test(tests, section_tables_are_checked);
    tcase_add_test(tests, unknown_sections_are_skipped);
    tcase_add_test(tests, other_element_sizes);
    tcase_add_test(tests, tiny_elements_do_not_fill_the_memory);
    tcase_add_test(tests, newer_minor_versions_may_have_new_kinds);
    tcase_add_test(tests, only_regular_files_are_read);
    tcase_add_test(tests, a_summary_is_used_again);
    ct_case_add_alone(tests, no_bytes_upset_reader_or_report);
    ct_case_add_alone(tests, every_flipped_bit_is_noticed);
    tcase_add_test(tests, a_file_that_is_being_written);
    return ct_case_main("read", tests);
}
