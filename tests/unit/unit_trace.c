/* SPDX-License-Identifier: MIT */
/* The trace: what was put is what is read, whatever it is and wherever the file is cut. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case_main.h"
#include "format/crc32.h"
#include "format/trace_read.h"
#include "format/trace_tables.h"
#include "format/trace_write.h"
#include "format/varint.h"
#include "system/mem.h"
#include "trace_pieces.h"

#define RECORDS 20000
#define THINGS 40 /* rows, streams, functions, threads */

static struct ct_trace_writer *writer;
static struct ct_read_error error;
static int file = -1;
static uint64_t random_state = 88172645463325252u;

/* What was put, in its order; numbers, not indices. */
static struct ct_trace_op ops[RECORDS];
static struct ct_trace_call calls[RECORDS];
static struct ct_trace_shape shapes[RECORDS];
static unsigned ops_put, calls_put;

static uint64_t draw(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % limit;
}

/* Of any length, short ones more often. */
static uint64_t number(void)
{
    return draw((uint64_t)1 << draw(50));
}

static void set_up(void)
{
    writer = ct_map(sizeof(*writer));
    file = memfd_create("unit_trace", 0);
    ck_assert_ptr_nonnull(writer);
    ck_assert_int_ge(file, 0);
    ops_put = calls_put = 0;
}

static void tear_down(void)
{
    ct_unmap(writer, sizeof(*writer));
    close(file);
}

static void start(uint64_t most_bytes)
{
    const struct ct_trace_process p = {.pid = 7,
                                       .parent_pid = 3,
                                       .start_unix_ns = 1000,
                                       .zero_unix_ns = 900,
                                       .command = "./a b",
                                       .host = "h"};
    ct_trace_start(writer, &p, most_bytes);
    struct ct_trace_header h = ct_trace_header(writer);
    ck_assert_int_eq(pwrite(file, &h, sizeof(h), 0), sizeof(h));
}

static void save(void)
{
    ck_assert(trace_pieces_write(file, ct_trace_take(writer)));
}

static void begin(void)
{
    while (!ct_trace_begin(writer))
        save();
}

static void finish(void)
{
    writer->losses.finished = 1;
    while (!ct_trace_seal(writer))
        save();
    save();
}

static const char *name_of(char prefix, uint64_t number)
{
    static char name[80];
    snprintf(name, sizeof(name), "%c%llu", prefix, (unsigned long long)number);
    return name;
}

/* With each attribute another, the largest that there can be and one that is not known. */
static uint32_t attribute_of(unsigned i)
{
    return i ? i == 1 ? UINT32_MAX : 1000 * i : 0;
}

static void define_gpu(void)
{
    struct ct_trace_device d = {.id = 1, .ordinal = 5, .name = "gpu", .memory_bytes = 3ull << 36};
    for (unsigned i = 0; i < CT_TRACE_ATTRIBUTE_COUNT; i++)
        d.attribute[i] = attribute_of(i);
    ct_trace_define_device(writer, &d);
}

static void check_gpu(const struct ct_trace_device *d)
{
    uint32_t value;
    ct_assert(!strcmp(d->name, "gpu") && d->memory_bytes == 3ull << 36);
    for (unsigned i = 0; i < CT_TRACE_ATTRIBUTE_COUNT; i++)
        ct_assert(ct_trace_says(d, i, &value) == (i != 0) && value == attribute_of(i) - 1);
}

/* Defines what is not defined in this segment. */
static void define_things(uint64_t row, uint64_t stream, uint64_t api, uint64_t thread)
{
    static uint32_t in[4][THINGS];
    static struct ct_trace_writer *of;
    if (writer->segment == 1 && (of != writer || !(ops_put + calls_put)))
        memset(in, 0, sizeof(in));
    of = writer;
    uint32_t now = writer->segment;
    if (in[0][row] != now) {
        define_gpu();
        ct_trace_define_row(writer, &(struct ct_trace_row){.id = (uint32_t)row,
                                                           .kind = CT_ROW_KERNEL,
                                                           .device = 1,
                                                           .registers = UINT32_MAX,
                                                           .name = name_of('r', row)});
    }
    if (in[1][stream] != now)
        ct_trace_define_stream(writer,
                               &(struct ct_trace_stream){
                                   .id = stream, .device = 1, .flags = UINT32_MAX, .priority = -5});
    if (in[2][api] != now)
        ct_trace_define_api(writer, &(struct ct_trace_api){(uint32_t)api, 1, name_of('a', api)});
    if (in[3][thread] != now)
        ct_trace_define_thread(
            writer, &(struct ct_trace_thread){(uint32_t)thread, 99, name_of('t', thread)});
    in[0][row] = in[1][stream] = in[2][api] = in[3][thread] = now;
}

/* Each is called by another one, which is defined before it. */
static void define_frame(uint32_t frame)
{
    static uint32_t in[THINGS];
    static struct ct_trace_writer *of;
    if (of != writer || !(ops_put + calls_put))
        memset(in, 0, sizeof(in));
    of = writer;
    if (!frame || in[frame] == writer->segment)
        return;
    define_frame(frame / 2);
    in[frame] = writer->segment;
    ct_trace_define_frame(writer,
                          &(struct ct_trace_frame){.id = frame,
                                                   .caller = frame / 2,
                                                   .line = 3 * frame,
                                                   .function = name_of('f', frame),
                                                   .file = "train.py",
                                                   .address = frame % 2 * 123456789012,
                                                   .build_id = frame % 2 ? "c0ffee" : NULL});
}

static void check_frame(const struct ct_trace_reader *t, uint32_t index, uint32_t frame)
{
    const struct ct_trace_frame *f = &t->frames.at[index];
    ct_assert(f->id == frame);
    if (!frame)
        return;
    ct_assert(f->line == 3 * frame && !strcmp(f->file, "train.py"));
    ct_assert(f->address == frame % 2 * 123456789012);
    ct_assert(!strcmp(f->build_id, frame % 2 ? "c0ffee" : ""));
    ct_assert(!strcmp(f->function, name_of('f', frame)));
    check_frame(t, f->caller, frame / 2);
}

static void put_op(void)
{
    struct ct_trace_op *op = &ops[ops_put];
    *op = (struct ct_trace_op){
        .start_ns = number(),
        .bytes = draw(2) ? number() : 0,
        .operations = draw(4) ? 1 : number(),
        .correlation = number(),
        .stream = draw(THINGS),
        .row = (uint32_t)draw(THINGS),
        .flags = (uint32_t)draw(1 << CT_TRACE_OP_FLAGS),
        .frame = (uint32_t)(draw(2) * draw(THINGS)),
        .source = (uint8_t)draw(CT_MEMORY_MANAGED + 1),
        .target = (uint8_t)draw(CT_MEMORY_MANAGED + 1),
    };
    op->end_ns = op->start_ns + number();
    shapes[ops_put] = (struct ct_trace_shape){.grid = {(uint32_t)number(), 2, 3},
                                              .block = {(uint32_t)draw(9), 1, 1},
                                              .dynamic_shared_bytes = draw(3)};
    begin();
    define_things(op->row, op->stream, 0, 0);
    define_frame(op->frame);
    struct ct_trace_op put = *op;
    op->shape = draw(2);
    put.shape = op->shape ? ct_trace_define_shape(writer, &shapes[ops_put]) : 0;
    ct_trace_put_op(writer, &put);
    ops_put++;
}

static void put_call(void)
{
    struct ct_trace_call *c = &calls[calls_put];
    *c = (struct ct_trace_call){
        .start_ns = number(),
        .correlation = number(),
        .api = (uint32_t)draw(THINGS),
        .thread = (uint32_t)draw(THINGS),
        .result = (int32_t)draw(1000) - 100,
    };
    c->end_ns = c->start_ns + number();
    begin();
    define_things(0, 0, c->api, c->thread);
    define_frame(0);
    ct_trace_put_call(writer, c);
    calls_put++;
}

static void put_many(unsigned records)
{
    for (unsigned i = 0; i < records; i++) {
        if (draw(2))
            put_op();
        else
            put_call();
        if (!draw(3000))
            ct_trace_seal(writer);
    }
}

static void check_op(const struct ct_trace_reader *t, const struct ct_trace_op *op, unsigned i)
{
    const struct ct_trace_op *put = &ops[i];
    ct_assert(op->start_ns == put->start_ns);
    ct_assert(op->end_ns == put->end_ns);
    ct_assert(op->bytes == put->bytes);
    ct_assert(op->operations == put->operations);
    ct_assert(op->correlation == put->correlation);
    ct_assert(op->flags == put->flags);
    ct_assert(op->source == put->source);
    ct_assert(op->target == put->target);
    check_frame(t, op->frame, put->frame);
    ct_assert(t->rows.at[op->row].id == put->row);
    ct_assert(!strcmp(t->rows.at[op->row].name, name_of('r', put->row)));
    ct_assert(t->rows.at[op->row].registers == UINT32_MAX);
    check_gpu(&t->devices.at[t->rows.at[op->row].device]);
    ct_assert(t->streams.at[op->stream].id == put->stream);
    ct_assert(t->streams.at[op->stream].flags == UINT32_MAX);
    ct_assert(t->streams.at[op->stream].priority == -5);
    if (!put->shape) {
        ct_assert(op->shape == 0);
        return;
    }
    const struct ct_trace_shape *shape = &t->shapes.at[op->shape];
    ct_assert(!memcmp(shape->grid, shapes[i].grid, sizeof(shape->grid)));
    ct_assert(!memcmp(shape->block, shapes[i].block, sizeof(shape->block)));
    ct_assert(shape->dynamic_shared_bytes == shapes[i].dynamic_shared_bytes);
}

static void check_call(const struct ct_trace_reader *t, const struct ct_trace_call *c, unsigned i)
{
    const struct ct_trace_call *put = &calls[i];
    ct_assert(c->start_ns == put->start_ns);
    ct_assert(c->end_ns == put->end_ns);
    ct_assert(c->correlation == put->correlation);
    ct_assert(c->result == put->result);
    ct_assert(t->apis.at[c->api].id == put->api);
    ct_assert(!strcmp(t->apis.at[c->api].name, name_of('a', put->api)));
    ct_assert(!strcmp(t->threads.at[c->thread].name, name_of('t', put->thread)));
    ct_assert(t->threads.at[c->thread].tid == 99);
}

struct seen {
    unsigned ops, calls;
    uint64_t read_bytes, file_bytes;
    bool finished, truncated;
    struct ct_trace_losses losses;
};

/* Reads all there is, which must be what was put from those on. */
static struct seen check(unsigned first_op, unsigned first_call)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    struct seen s = {0};
    int rc = ct_trace_open_at(&t, file, &error);
    if (rc)
        return s;
    ck_assert_uint_eq(t->process.pid, 7);
    ck_assert_uint_eq(t->process.start_unix_ns, 1000);
    while ((rc = ct_trace_next(t, &r, &error)) > 0) {
        if (r.op)
            check_op(t, r.op, first_op + s.ops++);
        else
            check_call(t, r.call, first_call + s.calls++);
    }
    ck_assert_msg(rc == 0, "%s", error.text);
    s.finished = !ct_trace_ending(t);
    s.truncated = t->truncated;
    s.losses = t->losses;
    s.read_bytes = t->read_bytes;
    s.file_bytes = t->file_bytes;
    ct_trace_close(t);
    return s;
}

START_TEST(reads_what_was_put)
{
    start(0);
    put_many(RECORDS);
    finish();
    struct seen s = check(0, 0);
    ck_assert_uint_eq(s.ops, ops_put);
    ck_assert_uint_eq(s.calls, calls_put);
    ck_assert(s.finished && !s.truncated);
    ck_assert_uint_eq(s.read_bytes, s.file_bytes);
}
END_TEST

START_TEST(nothing_is_a_trace_too)
{
    start(0);
    finish();
    struct seen s = check(0, 0);
    ck_assert_uint_eq(s.ops + s.calls, 0);
    ck_assert(s.finished);
}
END_TEST

/* What was sealed is there up to the cut, and the cut is told from an end. */
START_TEST(cut_anywhere)
{
    start(0);
    for (unsigned i = 0; i < 4; i++) {
        put_many(12);
        ct_trace_seal(writer);
    }
    finish();
    ck_assert(check(0, 0).finished);
    unsigned most = ops_put + calls_put;
    off_t bytes = lseek(file, 0, SEEK_END) - 7; /* zeros at the end are no loss */
    while (bytes--) {
        ck_assert_int_eq(ftruncate(file, bytes), 0);
        struct seen s = check(0, 0);
        ck_assert(!s.finished);
        ck_assert_uint_le(s.ops + s.calls, most);
        most = s.ops + s.calls;
    }
}
END_TEST

#define SEALS 3

/* A byte that is wrong costs the block that it is in and those behind it. */
START_TEST(wrong_bytes)
{
    struct {
        off_t offset;
        unsigned records;
    } sealed[SEALS + 1] = {{0}};
    unsigned before = 0;
    start(0);
    for (unsigned i = 1; i <= SEALS; i++) {
        put_many(12);
        ck_assert(ct_trace_seal(writer));
        sealed[i].offset = (off_t)writer->offset;
        sealed[i].records = ops_put + calls_put;
    }
    finish();
    off_t bytes = lseek(file, 0, SEEK_END);
    for (off_t at = sizeof(struct ct_trace_header); at < bytes; at++) {
        uint8_t byte, wrong;
        ck_assert_int_eq(pread(file, &byte, 1, at), 1);
        wrong = byte ^ (uint8_t)(1 + draw(255));
        ck_assert_int_eq(pwrite(file, &wrong, 1, at), 1);
        while (before < SEALS && sealed[before + 1].offset <= at)
            before++;
        struct seen s = check(0, 0);
        ck_assert_uint_ge(s.ops + s.calls, sealed[before].records);
        ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
    }
}
END_TEST

/* Half of the bound at least is there, of what came last, and the rest is counted. */
START_TEST(bounded)
{
    unsigned more = (unsigned)_i * 1100;
    uint64_t put_ops = 0, put_calls = 0;
    start(CT_TRACE_LEAST_BYTES);
    for (unsigned round = 0; round < 40; round++) {
        put_many(RECORDS / 4 + more);
        for (unsigned i = 0; i < ops_put; i++)
            put_ops += ops[i].operations;
        put_calls += calls_put;
        ops_put = calls_put = 0;
    }
    finish();
    off_t bytes = lseek(file, 0, SEEK_END);
    ck_assert_uint_le((uint64_t)bytes, CT_TRACE_LEAST_BYTES);
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    uint64_t ops_seen = 0, calls_seen = 0;
    int rc = ct_trace_open_at(&t, file, &error);
    ck_assert_int_eq(rc, 0);
    while ((rc = ct_trace_next(t, &r, &error)) > 0) {
        ops_seen += r.op ? r.op->operations : 0;
        calls_seen += r.call != NULL;
    }
    ck_assert_msg(rc == 0, "%s", error.text);
    ck_assert_ptr_null(ct_trace_ending(t));
    ck_assert_uint_gt(t->losses.cut_ops, 0);
    ck_assert_uint_eq(ops_seen + t->losses.cut_ops, put_ops);
    ck_assert_uint_eq(calls_seen + t->losses.cut_calls, put_calls);
    ck_assert_uint_gt(t->read_bytes, CT_TRACE_LEAST_BYTES / 4);
    ct_trace_close(t);
}
END_TEST

/* As long in the file as any other. */
static void put_equal_call(unsigned i)
{
    begin();
    define_things(1, 1, 1, 1);
    ct_trace_put_call(writer, &(struct ct_trace_call){.start_ns = 1000000 + i % 100,
                                                      .end_ns = 1000100,
                                                      .correlation = 1000 + i,
                                                      .api = 1,
                                                      .thread = 1});
    calls_put++;
}

/* Puts a header of an earlier round where this one ends, as equal blocks leave it there. */
static void forge_next_block(uint64_t from, uint64_t to, uint32_t earlier)
{
    struct ct_trace_block h;
    ck_assert_int_eq(pread(file, &h, sizeof(h), (off_t)from), sizeof(h));
    ck_assert_uint_eq(h.crc, ct_crc32(0, &h, offsetof(struct ct_trace_block, crc)));
    char data[65536];
    ck_assert_uint_le(h.stored_bytes, sizeof(data));
    ck_assert_int_eq(pread(file, data, h.stored_bytes, (off_t)(from + sizeof(h))), h.stored_bytes);
    h.number -= earlier;
    h.crc = ct_crc32(0, &h, offsetof(struct ct_trace_block, crc));
    ck_assert_int_eq(pwrite(file, &h, sizeof(h), (off_t)to), sizeof(h));
    ck_assert_int_eq(pwrite(file, data, h.stored_bytes, (off_t)(to + sizeof(h))), h.stored_bytes);
}

/* A whole block behind the last one, which is of another round: nothing of it is read. */
START_TEST(blocks_of_the_round_before)
{
    uint64_t last = 0;
    start(CT_TRACE_LEAST_BYTES);
    for (unsigned i = 0; i < 5; i++) {
        last = writer->offset;
        put_equal_call(i);
        ct_trace_seal(writer);
        save();
    }
    forge_next_block(last, writer->offset, 1);
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    unsigned seen = 0;
    int rc;
    ck_assert_int_eq(ct_trace_open_at(&t, file, &error), 0);
    while ((rc = ct_trace_next(t, &r, &error)) > 0)
        ck_assert_uint_eq(r.call->correlation, 1000 + seen++);
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(seen, 5);
    ct_trace_close(t);
}
END_TEST

/* Blocks outside of a time are not even unpacked. */
START_TEST(skips_by_time)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    unsigned seen = 0;
    start(0);
    for (unsigned i = 0; i < 10; i++) {
        begin();
        define_things(1, 1, 1, 1);
        calls_put++;
        ct_trace_put_call(
            writer, &(struct ct_trace_call){
                        .start_ns = 1000 * i, .end_ns = 1000 * i + 10, .api = 1, .thread = 1});
        ct_trace_seal(writer);
    }
    finish();
    ck_assert_int_eq(ct_trace_open_at(&t, file, &error), 0);
    t->since_ns = 3005;
    t->until_ns = 6000;
    while (ct_trace_next(t, &r, &error) > 0)
        ck_assert_uint_eq(r.call->start_ns, 1000 * (3 + seen++));
    ck_assert_uint_eq(seen, 4);
    ct_trace_close(t);
}
END_TEST

/* Without anybody to write, memory stays as it is, and what finds no room is told. */
START_TEST(full)
{
    unsigned refused = 0;
    start(0);
    for (unsigned i = 0; i < 1000000 && !refused; i++) {
        refused += !ct_trace_begin(writer);
        if (!refused)
            ct_trace_put_call(writer, &(struct ct_trace_call){.start_ns = draw(1ull << 60)});
    }
    ck_assert_uint_eq(refused, 1);
    save();
    ck_assert(ct_trace_begin(writer));
}
END_TEST

#define SHAPES 20000
#define MULTIPLIER 0x9e3779b97f4a7c15u /* that hashes are made with */

/* Products with it are small numbers, of which the upper half is 0. */
static uint64_t crafted(uint64_t i)
{
    uint64_t inverse = MULTIPLIER;
    for (int k = 0; k < 5; k++) /* each time twice as many bits are right */
        inverse *= 2 - MULTIPLIER * inverse;
    return i * inverse;
}

static size_t longest_run(const struct ct_trace_map *m)
{
    size_t run = 0, longest = 0;
    for (uint32_t i = 0; i < 2 * m->size; i++) { /* one may go around the end */
        run = m->slots[i % m->size].index ? run + 1 : 0;
        longest = ct_max(longest, run);
    }
    return longest;
}

/* Nobody who makes a file knows where its numbers come to lie. */
START_TEST(numbers_are_spread)
{
    struct ct_trace_reader t = {.since_ns = 0};
    struct ct_trace_tables tables = {.texts = NULL};
    ck_assert_int_eq(ct_trace_tables_start(&t, &tables), 0);
    for (uint64_t i = 1; i <= SHAPES; i++) {
        uint8_t data[2 + CT_VARINT_MOST] = {CT_TRACE_DEFINE_SHAPE};
        uint8_t *end = ct_varint_put(data + 2, crafted(i));
        data[1] = (uint8_t)(end - data - 2);
        ck_assert_int_eq(ct_trace_tables_add(&t, &tables, data, (size_t)(end - data), &error), 0);
    }
    for (uint32_t i = 1; i <= SHAPES; i++)
        ck_assert_uint_eq(ct_trace_tables_find(&tables, CT_TRACE_TABLE_SHAPE, crafted(i)), i);
    ck_assert_uint_lt(longest_run(&tables.map[CT_TRACE_TABLE_SHAPE]), 1000);
    ct_trace_tables_free(&t, &tables);
}
END_TEST

/* A walk to the outermost has an end in whatever file. */
START_TEST(no_frame_is_in_itself)
{
    struct ct_trace_reader *t;
    struct ct_trace_frame f = {.id = 1, .function = "f", .file = "a.py"};
    start(0);
    begin();
    ct_trace_define_frame(writer, &f);
    f.id = 2;
    f.caller = 1;
    ct_trace_define_frame(writer, &f);
    f.id = (uint32_t)_i;
    f.caller = 2;
    ct_trace_define_frame(writer, &f);
    finish();
    ck_assert_int_ne(ct_trace_open_at(&t, file, &error), 0);
    ck_assert_ptr_nonnull(strstr(error.text, "a definition makes no sense"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("trace");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reads_what_was_put);
    tcase_add_test(tests, nothing_is_a_trace_too);
    tcase_add_test(tests, cut_anywhere);
    tcase_add_test(tests, wrong_bytes);
    tcase_add_loop_test(tests, bounded, 0, 3);
    tcase_add_test(tests, blocks_of_the_round_before);
    tcase_add_test(tests, skips_by_time);
    tcase_add_test(tests, full);
    tcase_add_test(tests, numbers_are_spread);
    tcase_add_loop_test(tests, no_frame_is_in_itself, 1, 3);
    return ct_case_main_alone("trace", tests);
}
